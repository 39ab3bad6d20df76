package seam

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReleaseOf(t *testing.T) {
	for v, want := range map[string]string{
		"go1.26":             "1.26",
		"go1.26.0":           "1.26",
		"go1.26.8":           "1.26",
		"go1.27.3":           "1.27",
		"go1.27.3-acme":      "1.27",
		"go1.27.3-archive":   "1.27", // holds "rc", is no candidate
		"go1.26.8 X:synctst": "1.26",
		"go1.27rc1":          "",
		"go1.27beta1":        "",
		"go1.25.4":           "",
		"go1.28.0":           "",
		"go1.2.6":            "",
		"go1.260.1":          "",
		"devel":              "",
		"devel go1.27-abc":   "",
		"1.26.8":             "",
		"":                   "",
	} {
		got, ok := releaseOf(v)
		if got != want || ok != (want != "") {
			t.Errorf("releaseOf(%q) = %q, %t, want %q", v, got, ok, want)
		}
	}
}

func TestFind(t *testing.T) {
	tc := fakeToolchain(t, t.TempDir(), "go1.26.8")
	fakeGo(t, map[string]string{"GOROOT": tc.GOROOT + "/", "GOVERSION": "go1.26.8 X:none", "GOOS": "linux", "GOARCH": "arm64", "GOMODCACHE": "/m", "GOCACHE": "/c", "GOFLAGS": "-v"})
	got, err := Find("")
	if err != nil {
		t.Fatal(err)
	}
	want := Toolchain{GOROOT: tc.GOROOT, Version: "go1.26.8", Release: "1.26", GOOS: "linux", GOARCH: "arm64", GOMODCACHE: "/m", GOCACHE: "/c", GOFLAGS: "-v"}
	if *got != want {
		t.Errorf("found %+v, want %+v", *got, want)
	}
}

func TestFindRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, version, goversion, goos, goarch string
		want                                   []string
	}{
		{"old", "go1.25.4", "go1.25.4", "linux", "amd64", []string{"1.26 or 1.27", "go1.25.4"}},
		{"new", "go1.28.0", "go1.28.0", "linux", "amd64", []string{"1.26 or 1.27", "go1.28.0"}},
		{"candidate", "go1.27rc2", "go1.27rc2", "linux", "amd64", []string{"1.26 or 1.27", "go1.27rc2"}},
		{"devel", "", "devel go1.27-0123abc", "linux", "amd64", []string{"1.26 or 1.27", "found devel"}},
		{"windows", "go1.26.8", "go1.26.8", "windows", "amd64", []string{"linux/amd64 and linux/arm64", "GOOS=windows"}},
		{"386", "go1.26.8", "go1.26.8", "linux", "386", []string{"linux/amd64 and linux/arm64", "GOARCH=386"}},
		{"two versions", "go1.26.8", "go1.27.3", "linux", "amd64", []string{"go1.26.8", "go1.27.3", "unset GOROOT"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tc := fakeToolchain(t, t.TempDir(), tt.version)
			if tt.version == "" {
				if err := os.Remove(filepath.Join(tc.GOROOT, "VERSION")); err != nil {
					t.Fatal(err)
				}
			}
			fakeGo(t, map[string]string{"GOROOT": tc.GOROOT, "GOVERSION": tt.goversion, "GOOS": tt.goos, "GOARCH": tt.goarch})
			_, err := Find("")
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not tell %q", err, w)
				}
			}
		})
	}
	t.Run("no go", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := Find(""); err == nil || !strings.Contains(err.Error(), "found none") {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("go fails", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "go"), "#!/bin/sh\necho go: no such toolchain >&2\nexit 1\n")
		if err := os.Chmod(filepath.Join(dir, "go"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		if _, err := Find(""); err == nil || !strings.Contains(err.Error(), "go: no such toolchain") {
			t.Errorf("error %v does not pass on what the go command said", err)
		}
	})
	t.Run("no GOROOT", func(t *testing.T) {
		fakeGo(t, map[string]string{"GOROOT": t.TempDir()})
		if _, err := Find(""); err == nil || !strings.Contains(err.Error(), "expected a Go installation") {
			t.Errorf("error is %v", err)
		}
	})
}

func TestRelocate(t *testing.T) {
	dir := t.TempDir()
	tc := fakeToolchain(t, dir, "go1.26.8")
	root := tc.GOROOT
	cache := filepath.Join(dir, "cache")

	o, err := fakeSet().make(tc, cache)
	if err != nil {
		t.Fatal(err)
	}
	if tc.GOROOT != root {
		t.Errorf("a GOROOT outside GOMODCACHE was moved to %s", tc.GOROOT)
	}

	tc.GOMODCACHE = dir
	for range 2 { // the second time, the link is there
		tc.GOROOT = root
		if o, err = fakeSet().make(tc, cache); err != nil {
			t.Fatal(err)
		}
	}
	if target, err := os.Readlink(tc.GOROOT); err != nil || target != root {
		t.Errorf("GOROOT is %s, a link to %q (%v), want a link to %s", tc.GOROOT, target, err, root)
	}
	for from := range o.replace {
		if !strings.HasPrefix(from, tc.GOROOT+"/src/") {
			t.Errorf("overlay replaces %s, not a file of GOROOT %s", from, tc.GOROOT)
		}
	}

	// What has the link's name and is none is the user's to remove.
	if err := os.Remove(tc.GOROOT); err != nil {
		t.Fatal(err)
	}
	write(t, tc.GOROOT, "a file")
	tc.GOROOT = root
	if _, err := fakeSet().make(tc, cache); err == nil || !strings.Contains(err.Error(), "expected a link to "+root) {
		t.Errorf("error is %v", err)
	}
}

func TestAnchorErrorNamesVersion(t *testing.T) {
	tc := fakeToolchain(t, t.TempDir(), "go1.26.8")
	s := fakeSet()
	s.patches[0].Edits[0].Find = "runqput(gp, next)"
	_, err := s.make(tc, t.TempDir())
	ae, ok := errors.AsType[*AnchorError](err)
	if !ok {
		t.Fatalf("error is %v, want an AnchorError", err)
	}
	if want := (AnchorError{Version: "go1.26.8", File: "runtime/proc.go", In: "func ready(", Anchor: "runqput(gp, next)", Want: 1}); *ae != want {
		t.Errorf("error is %+v, want %+v", *ae, want)
	}
	for _, w := range []string{"go1.26.8", "runtime/proc.go", "runqput(gp, next)"} {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("message %q does not name %q", err, w)
		}
	}

	s = fakeSet()
	s.patches[0].File = "runtime/gone.go"
	if _, err := s.make(tc, t.TempDir()); err == nil || !strings.Contains(err.Error(), "go1.26.8") || !strings.Contains(err.Error(), "src/runtime/gone.go") {
		t.Errorf("error %v does not name version and missing file", err)
	}
	s = fakeSet()
	s.added["runtime/asm.s"] = ""
	if _, err := s.make(tc, t.TempDir()); err == nil || !strings.Contains(err.Error(), "already has src/runtime/asm.s") {
		t.Errorf("error is %v", err)
	}
}
