//go:build dst

// Package inhost runs the tests of the binary that it is linked into as the
// program of a simulated host. The overlay of package conformance makes it
// github.com/dstkit/dst/inhost, as tests of the standard library may not import
// what is internal to another module.
package inhost

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	_ "unsafe" // for linkname

	"github.com/dstkit/dst"
)

// virtualLimit ends a test that waits for ever with something pending: just
// before package testing's own limit in the host, whose report has no hosts.
const virtualLimit = 9 * time.Minute

// SharedEnv names the variable that says, if set, that the test looks into
// variables of its package: then the host uses those, and has none of its own.
const SharedEnv = "DST_CONFORMANCE_SHARED"

func init() { setMain(run) }

//go:linkname shareState runtime.dst_shareState
func shareState()

//go:linkname setMain testing.dstSetMain
func setMain(f func(runTest func(testing.InternalTest) int))

//go:linkname testMain main.main
func testMain()

//go:linkname testState testing.dstState
func testState() []any

// run is called where the binary's main function is about to run its tests, and
// does not return.
func run(runTest func(testing.InternalTest) int) {
	if os.Getenv(SharedEnv) != "" {
		shareState()
	}
	ownState()
	os.Exit(runTest(testing.InternalTest{Name: "InHost", F: inHost}))
}

// fresh sets what ownState found back to what it was.
//
//dst:ignore sharedstate made before the only host boots
var fresh []func()

// ownState gives each process flags and state of package testing for itself, as the
// test binary may run as a child process of the test, with other flags.
func ownState() {
	vars := testState()
	flag.VisitAll(func(f *flag.Flag) {
		if v := reflect.ValueOf(f.Value); v.Kind() == reflect.Pointer && !strings.HasPrefix(f.Name, "dst.") {
			vars = append(vars, f.Value)
		}
	})
	for _, v := range vars {
		dst.PerProcess(v)
		at := reflect.ValueOf(v).Elem()
		was := reflect.New(at.Type()).Elem()
		was.Set(at)
		fresh = append(fresh, func() { at.Set(was) })
	}
}

// maxRuns bounds a test that runs itself, and does not see that it is the child.
const maxRuns = 100

//dst:ignore sharedstate it counts over all processes of the only host
var runs int

// binary is the main function of the test binary.
func binary() int {
	if runs++; runs > maxRuns {
		fmt.Fprintf(os.Stderr, "the test has run itself %d times\n", maxRuns)
		return 1
	}
	for _, f := range fresh {
		f()
	}
	testMain()
	return 0
}

func inHost(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		dir, err := os.Getwd()
		if err != nil {
			w.Fatalf("%v", err)
		}
		exe := "/usr/local/bin/" + filepath.Base(os.Args[0]) // the host's os.Executable
		w.Program(exe, binary)
		for _, p := range programs {
			w.Program(p.path, p.main)
		}
		h := w.Host("test").Env("HOME=/root", "USER=root", "PATH=/usr/bin:/bin", "PWD="+dir)
		h.Args(append([]string{exe}, os.Args[1:]...)...)
		if err := copyFiles(h, dir); err != nil {
			w.Fatalf("%v", err)
		}
		h.Do(func() {
			if err := os.Chdir(dir); err != nil {
				panic(err)
			}
			binary()
		})
		if err := h.Err(); err != nil {
			w.Fatalf("%v", err)
		}
	}, dst.Seeds(1), dst.Limit(virtualLimit))
}

// copyFiles gives the host the source and test data of the package in dir, those
// that packages share, and files of the machine that tests read.
func copyFiles(h *dst.Host, dir string) error {
	for _, file := range []string{"/etc/services", "/etc/protocols", "/etc/mime.types"} {
		if data, err := os.ReadFile(file); err == nil {
			if err := h.Disk().WriteFile(file, data); err != nil {
				return err
			}
		}
	}
	// Tests bring name servers of their own.
	h.Disk().AddGenerated("/etc/nsswitch.conf", func() []byte { return []byte("hosts: files dns\n") })
	src := dir
	for filepath.Base(src) != "src" && src != "/" {
		src = filepath.Dir(src)
	}
	// Package path/filepath walks through src/unicode, and package time reads zones.
	for _, tree := range []string{"testdata", "unicode", "unicode/utf8", "unicode/utf16", "../lib/time"} {
		if err := copyTree(h, filepath.Join(src, tree)); err != nil {
			return err
		}
	}
	for _, up := range []string{src, filepath.Dir(dir)} {
		if err := copyDir(h, up); err != nil {
			return err
		}
	}
	return copyTree(h, dir)
}

// copyDir gives the host the files that lie in dir itself.
func copyDir(h *dst.Host, dir string) error {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		if !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil {
			err = h.Disk().WriteFile(filepath.Join(dir, e.Name()), data)
		}
		if err != nil {
			return err
		}
	}
	return err
}

func copyTree(h *dst.Host, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if err := h.Disk().MkdirAll(path); err != nil {
				return err
			}
			if path != dir && !strings.Contains(path+"/", "/testdata/") {
				return fs.SkipDir // another package's
			}
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
