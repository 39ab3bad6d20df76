//go:build dst

// Package inhost runs the tests of the binary that it is linked into as the
// program of a simulated host. The overlay of package conformance makes it
// github.com/dstkit/dst/inhost, as tests of the standard library may not import
// what is internal to another module.
package inhost

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "unsafe" // for linkname

	"github.com/dstkit/dst"
)

// virtualLimit ends a test that waits for ever with something pending: just
// before package testing's own limit in the host, whose report has no hosts.
const virtualLimit = 9 * time.Minute

func init() { setMain(run) }

//go:linkname setMain testing.dstSetMain
func setMain(f func(runTest func(testing.InternalTest) int))

//go:linkname testMain main.main
func testMain()

// run is called where the binary's main function is about to run its tests, and
// does not return.
func run(runTest func(testing.InternalTest) int) {
	os.Exit(runTest(testing.InternalTest{Name: "InHost", F: inHost}))
}

func inHost(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		dir, err := os.Getwd()
		if err != nil {
			w.Fatalf("%v", err)
		}
		h := w.Host("test").Env("HOME=/root", "USER=root", "PATH=/usr/bin:/bin", "PWD="+dir)
		h.Args(os.Args...)
		if err := copyTree(h, dir); err != nil {
			w.Fatalf("%v", err)
		}
		h.Do(func() {
			if err := os.Chdir(dir); err != nil {
				panic(err)
			}
			testMain()
		})
		if err := h.Err(); err != nil {
			w.Fatalf("%v", err)
		}
	}, dst.Seeds(1), dst.Limit(virtualLimit))
}

// copyTree gives the host the files beneath dir, and those of the machine that
// package net's tests read.
func copyTree(h *dst.Host, dir string) error {
	for _, file := range []string{"/etc/services", "/etc/protocols", "/etc/mime.types"} {
		if data, err := os.ReadFile(file); err == nil {
			if err := h.Disk().WriteFile(file, data); err != nil {
				return err
			}
		}
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path != dir && !wanted(path) {
				return fs.SkipDir
			}
			return h.Disk().MkdirAll(path)
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err == nil {
				h.Disk().AddSymlink(path, target)
			}
			return err
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return h.Disk().WriteFile(path, data)
		}
		return nil
	})
}

// wanted tells whether a folder belongs to the package: testdata, or a name
// beneath it.
func wanted(path string) bool {
	return strings.Contains(path+"/", "/testdata/")
}
