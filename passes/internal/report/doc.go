// Package report is what the passes share for telling what they find: the two
// levels, //dst:ignore, and files that are not looked at.
package report
