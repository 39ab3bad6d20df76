// Package pebble tests a real library that was written with no thought of
// simulation: the key-value store of github.com/cockroachdb/pebble, unmodified, with its
// many goroutines and its own access to files (vfs.Default), on a host that loses its
// power or its process at any moment. There is nothing here but tests; the README
// tells what they found.
//
// It is a module of its own, so that nobody who uses the toolkit depends on it.
package pebble
