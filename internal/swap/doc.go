// Package swap rewrites the imports of packages to the drop-in packages of this
// toolkit, for builds with a tag, and undoes that.
//
// A file that imports package net, say, gets a twin: the same file, with simnet in
// net's place, a build constraint that asks for the tag, and a //line comment below
// its imports, so that errors and stacks name the original's lines. The original is marked: its
// build constraint gets "!dst". The twins are generated files; the original is the one to edit.
//
// Everything is done on the text: what is not changed stays as it was, formatted or not, and
// undoing gives back each byte.
package swap
