// Package seam makes the simulation build of the standard library: it edits a
// few functions of the user's own GOROOT, by anchor, and writes the results as
// an overlay for the go command's -overlay flag.
//
// No source of Go is kept in this repository. A [Patch] is a list of [Edit]s;
// each names the text it expects to find, inside which declaration, and how
// often, and fails with the Go version, the file and the anchor when the file
// does not read so. Files that are new to the GOROOT (they hold our code only)
// live beneath files/ with a .txt suffix, so that no build picks them up here.
package seam
