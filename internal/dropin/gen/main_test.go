package main

import (
	"bytes"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dstkit/dst/internal/dropin"
)

// TestGenerated shows that the files in the repository are what go generate makes,
// with either release.
func TestGenerated(t *testing.T) {
	packages := dropin.Load("linux")
	for _, p := range dropin.Packages {
		dir := filepath.Join("../../..", p.Dir)
		files, err := Files(packages, p, dir)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s/%s is not what std has (%v): run go generate ./%s", p.Dir, name, err, p.Dir)
			}
		}
	}
}

// TestNewerNames shows where a name goes that only the newer release has: to a
// file for builds with that release.
func TestNewerNames(t *testing.T) {
	release := build.Default.ReleaseTags[len(build.Default.ReleaseTags)-1]
	if release == oldest {
		build.Default.ReleaseTags = append(build.Default.ReleaseTags, "go1.99")
		defer func() { build.Default.ReleaseTags = build.Default.ReleaseTags[:len(build.Default.ReleaseTags)-1] }()
		release = "go1.99"
	}
	p := dropin.ByStd("time")
	old, err := os.ReadFile("../../../simtime/std.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	older := bytes.Replace(old, []byte("\nfunc UnixMicro("), []byte("\nfunc unixMicro("), 1)
	if err := os.WriteFile(filepath.Join(dir, "std.go"), older, 0o666); err != nil {
		t.Fatal(err)
	}
	files, err := Files(dropin.Load("linux"), p, dir)
	if err != nil {
		t.Fatal(err)
	}
	delta := string(files["std_"+release+".go"])
	if !strings.Contains(delta, "//go:build "+release+"\n") || !strings.Contains(delta, "func UnixMicro(usec int64) Time {") || strings.Contains(delta, "func Now") {
		t.Errorf("expected UnixMicro alone, for %s, found:\n%s", release, delta)
	}
	if strings.Contains(string(files["std.go"]), "func UnixMicro(") || !strings.Contains(string(files["std.go"]), "func Now(") {
		t.Error("std.go should have all but UnixMicro")
	}
}
