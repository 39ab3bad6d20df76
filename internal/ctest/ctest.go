//go:build cgo

// Package ctest calls C, for a test of what happens then.
package ctest

// static int add(int a, int b) { return a + b; }
import "C"

// Add adds, in C.
func Add(a, b int) int { return int(C.add(C.int(a), C.int(b))) }
