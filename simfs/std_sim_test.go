//go:build dstsim

package simfs_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/internal/dropin"
	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simfs/filepath"
	"github.com/dstkit/dst/simfs/ioutil"
)

func second[T any](_ T, err error) error { return err }

// reaching are calls, one of each function, that would reach the machine.
var reaching = map[string]map[string]func() error{
	"os": {
		"Chdir":        func() error { return simfs.Chdir("/nowhere") },
		"Chmod":        func() error { return simfs.Chmod("/nowhere", 0) },
		"Chown":        func() error { return simfs.Chown("/nowhere", 0, 0) },
		"Chtimes":      func() error { return simfs.Chtimes("/nowhere", time.Time{}, time.Time{}) },
		"CopyFS":       func() error { return simfs.CopyFS("/nowhere", fstest.MapFS{"x": {}}) },
		"Create":       func() error { return second(simfs.Create("/nowhere/x")) },
		"CreateTemp":   func() error { return second(simfs.CreateTemp("/nowhere", "")) },
		"Executable":   func() error { return second(simfs.Executable()) },
		"FindProcess":  func() error { return second(simfs.FindProcess(1)) },
		"Getgroups":    func() error { return second(simfs.Getgroups()) },
		"Getwd":        func() error { return second(simfs.Getwd()) },
		"Hostname":     func() error { return second(simfs.Hostname()) },
		"Lchown":       func() error { return simfs.Lchown("/nowhere", 0, 0) },
		"Link":         func() error { return simfs.Link("/nowhere", "/x") },
		"Lstat":        func() error { return second(simfs.Lstat("/nowhere")) },
		"Mkdir":        func() error { return simfs.Mkdir("/nowhere/x", 0) },
		"MkdirAll":     func() error { return simfs.MkdirAll("/dev/null/x", 0) },
		"MkdirTemp":    func() error { return second(simfs.MkdirTemp("/nowhere", "")) },
		"Open":         func() error { return second(simfs.Open("/nowhere")) },
		"OpenFile":     func() error { return second(simfs.OpenFile("/nowhere", 0, 0)) },
		"OpenInRoot":   func() error { return second(simfs.OpenInRoot("/nowhere", "x")) },
		"OpenRoot":     func() error { return second(simfs.OpenRoot("/nowhere")) },
		"Pipe":         func() error { _, _, err := simfs.Pipe(); return err },
		"ReadDir":      func() error { return second(simfs.ReadDir("/nowhere")) },
		"ReadFile":     func() error { return second(simfs.ReadFile("/nowhere")) },
		"Readlink":     func() error { return second(simfs.Readlink("/nowhere")) },
		"Remove":       func() error { return simfs.Remove("/nowhere") },
		"RemoveAll":    func() error { return simfs.RemoveAll("/nowhere") },
		"Rename":       func() error { return simfs.Rename("/nowhere", "/x") },
		"StartProcess": func() error { return second(simfs.StartProcess("/nowhere", nil, &simfs.ProcAttr{})) },
		"Stat":         func() error { return second(simfs.Stat("/nowhere")) },
		"Symlink":      func() error { return simfs.Symlink("/x", "/nowhere/x") },
		"Truncate":     func() error { return simfs.Truncate("/nowhere", 0) },
		"WriteFile":    func() error { return simfs.WriteFile("/nowhere/x", nil, 0) },
	},
	"io/ioutil": {
		"ReadDir":   func() error { return second(ioutil.ReadDir("/nowhere")) },
		"ReadFile":  func() error { return second(ioutil.ReadFile("/nowhere")) },
		"TempDir":   func() error { return second(ioutil.TempDir("/nowhere", "")) },
		"TempFile":  func() error { return second(ioutil.TempFile("/nowhere", "")) },
		"WriteFile": func() error { return ioutil.WriteFile("/nowhere/x", nil, 0) },
	},
	"path/filepath": {
		"Abs":          func() error { return second(filepath.Abs("x")) },
		"EvalSymlinks": func() error { return second(filepath.EvalSymlinks("/nowhere")) },
		"Glob":         func() error { return second(filepath.Glob("/nowhere/*")) },
		"Walk": func() error {
			return filepath.Walk("/nowhere", func(_ string, _ fs.FileInfo, err error) error { return err })
		},
		"WalkDir": func() error {
			return filepath.WalkDir("/nowhere", func(_ string, _ fs.DirEntry, err error) error { return err })
		},
	},
}

func outside(t *testing.T) {
	for path, calls := range reaching {
		for name, f := range calls {
			err := f()
			_, isPath := errors.AsType[*simfs.PathError](err)
			_, isLink := errors.AsType[*simfs.LinkError](err)
			_, isCall := errors.AsType[*simfs.SyscallError](err)
			if !errors.Is(err, sched.ErrNotOnHost) || !isPath && !isLink && !isCall {
				t.Errorf("%s.%s: %T %v", path, name, err, err)
			}
		}
	}
	// What needs no machine, and what the process knows by itself.
	t.Setenv("DST_TEST", "x")
	if got, _ := filepath.Abs("/a/../b"); got != "/b" || simfs.Getenv("DST_TEST") != "x" || simfs.ExpandEnv("$DST_TEST") != "x" ||
		simfs.Getpid() != os.Getpid() || !simfs.IsNotExist(fs.ErrNotExist) || filepath.Join("a", "b") != "a/b" {
		t.Error("what is pure does not work")
	}
}

var _, atInit = simfs.ReadFile("/etc/hosts")

func TestStdOutside(t *testing.T) {
	for path, calls := range reaching {
		if got, want := slices.Sorted(maps.Keys(calls)), dropin.ByStd(path).Refused(); !slices.Equal(got, want) {
			t.Errorf("%s: tested are\n%q\nrefused\n%q", path, got, want)
		}
	}
	if !errors.Is(atInit, sched.ErrNotOnHost) {
		t.Error(atInit)
	}
	outside(t)
	err := second(simfs.Open("/etc/hosts"))
	if want := "open /etc/hosts: " + sched.ErrNotOnHost.Error(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestStdOnHosts(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		outside(t)
		w.Host("a").Do(func() {
			for path, calls := range reaching {
				for name, f := range calls {
					if err := f(); errors.Is(err, sched.ErrNotOnHost) {
						w.Failf("%s.%s: %v", path, name, err)
					}
				}
			}
			if err := simfs.WriteFile("/tmp/x", []byte("text"), 0o600); err != nil {
				w.Failf("%v", err)
			}
			f, err := os.Open("/tmp/x") // std's functions and ours are one
			if err != nil {
				w.Failf("%v", err)
				return
			}
			var same *simfs.File = f
			if b, err := io.ReadAll(same); string(b) != "text" {
				w.Failf("read %q, %v", b, err)
			}
			if names, err := filepath.Glob("/tmp/*"); !slices.Contains(names, "/tmp/x") {
				w.Failf("glob: %q, %v", names, err)
			}
			if b, err := ioutil.ReadFile("/tmp/x"); string(b) != "text" {
				w.Failf("ioutil read %q, %v", b, err)
			}
			if name, err := simfs.Hostname(); name != "a" {
				w.Failf("the host's name is %q, %v", name, err)
			}
		})
		if b, err := w.Host("a").Disk().ReadFile("/tmp/x"); string(b) != "text" {
			w.Failf("on the disk is %q, %v", b, err)
		}
		// A process's exit is the host's.
		w.Host("b", func() error { simfs.Exit(3); return nil })
		w.Eventually("b exits", time.Minute, func() error {
			if w.Host("b").Running() {
				return errors.New("it runs")
			}
			return nil
		})
		if e, ok := errors.AsType[*dst.ExitError](w.Host("b").Err()); !ok || e.Code != 3 {
			w.Failf("b ended with %v", w.Host("b").Err())
		}
	})
}
