package seam

import (
	"go/format"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// goroots finds the GOROOTs of supported releases that this machine has: the
// one in use, and those that the go command downloaded.
func goroots(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	must(t, err)
	root, modcache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	candidates, err := filepath.Glob(filepath.Join(modcache, "golang.org", "toolchain@*"))
	must(t, err)
	found := make(map[string]string) // version → GOROOT
	for _, dir := range append(candidates, root) {
		v, err := readVersion(dir)
		if err != nil {
			continue
		}
		if _, ok := releaseOf(v); ok {
			found[v] = dir
		}
	}
	return found
}

// TestPatchesFit applies the real patches to real GOROOTs.
func TestPatchesFit(t *testing.T) {
	roots := goroots(t)
	if len(roots) == 0 {
		t.Skip("no supported Go on this machine")
	}
	for v, root := range roots {
		release, _ := releaseOf(v)
		for _, arch := range []string{"amd64", "arm64"} {
			t.Run(v+"/"+arch, func(t *testing.T) {
				s, err := setFor(release, arch)
				must(t, err)
				list, err := s.changes(&Toolchain{GOROOT: root, Version: v, Release: release, GOARCH: arch})
				must(t, err)
				if len(list) == 0 {
					t.Error("nothing is patched")
				}
				for _, c := range list {
					if c.before == c.after {
						t.Errorf("%s stays as it is", c.file)
					}
					if strings.HasSuffix(c.file, ".go") {
						// This Go may be older than the one that is patched.
						_, was := format.Source([]byte(c.before))
						if _, err := format.Source([]byte(c.after)); err != nil && (c.added || was == nil) {
							t.Errorf("%s is no Go once patched: %v", c.file, err)
						}
					}
				}
			})
		}
	}
}

func TestAddedFiles(t *testing.T) {
	got, err := addedFiles(fstest.MapFS{"files/net/a.go.txt": {Data: []byte("package net\n")}, "files/runtime/b_arm64.s.txt": {}})
	must(t, err)
	if len(got) != 2 || got["net/a.go"] != "package net\n" {
		t.Errorf("added files are %q", got)
	}
	if _, ok := got["runtime/b_arm64.s"]; !ok {
		t.Errorf("added files are %q", got)
	}
	if _, err := addedFiles(fstest.MapFS{"files/net/a.go": {}}); err == nil || !strings.Contains(err.Error(), "ends in .txt") {
		t.Errorf("error is %v", err)
	}
}
