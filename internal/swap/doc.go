// Package swap rewrites the imports of packages to the drop-in packages of this
// toolkit, for builds with a tag, and undoes that.
//
// A file that imports package net, say, gets a twin: the same file, with simnet in
// net's place and a build constraint that asks for the tag. The original is marked: its build
// constraint gets "!dst". Each line of the twin is the line of that number of the original, so
// that errors and stacks can be read. (A //line comment would name the original
// itself, but without its folder.) The twins are generated files; the original is the one to edit.
//
// Everything is done on the text: what is not changed stays as it was, formatted or not, and
// undoing gives back each byte.
package swap
