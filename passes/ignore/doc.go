// Package ignore defines an Analyzer that checks //dst:ignore directives.
//
// # Analyzer ignore
//
// ignore: report //dst:ignore directives that have no reason, or nothing to ignore
//
// A directive names one or more analyzers and a reason:
//
//	//dst:ignore wallclock the log line shows the time
//
// At the end of a line it covers that line; on a line of its own, the
// declaration, statement or field below with all that is in it. One without a reason
// ignores nothing, and is reported; so is one that names no analyzer of dstvet, and
// one where nothing is found any more.
package ignore
