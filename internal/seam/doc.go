// Package seam makes the simulation build of the standard library: it edits a
// few functions of the user's own GOROOT, by anchor, and writes the results as
// an overlay for the go command's -overlay flag.
//
// No source of Go is kept in this repository. A [Patch] is a list of [Edit]s;
// each names the text it expects to find, inside which declaration, and how
// often, and fails with the Go version, the file and the anchor when the file
// does not read so. Files that are new to the GOROOT (they hold our code only)
// live beneath files/ with a .txt suffix, so that no build picks them up here.
//
// # Use
//
// [Find] asks the go command which toolchain it uses, and refuses what is not
// [Supported]. [Make] patches that toolchain's files and keeps them in the cache
// folder, as an [Overlay]; [Overlay.Merge] adds the user's own. [Diff] prints the
// patches for reading.
//
// # Cache
//
// An entry of the cache is named by the Go version and a hash of all that is in
// it, so a change of the GOROOT or of the patches makes another entry. Every Make
// renders all files in memory and compares: a damaged entry is repaired, and one
// that fits is not touched. The go command's build cache is keyed by these paths
// too, so the same patches at another place are compiled again.
package seam
