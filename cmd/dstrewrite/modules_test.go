package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// fetchCmd copies a public module into a folder of the script's, by way of the module
// cache, and lets it require this one: fetch MODULE@VERSION HASH FOLDER. The rest of the
// script may download what the module requires.
func fetchCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: fetch module@version hash folder")
	}
	m := download(ts, args[0])
	if m.Sum != args[1] {
		ts.Fatalf("%s has the hash %s, want %s", args[0], m.Sum, args[1])
	}
	to := ts.MkAbs(args[2])
	ts.Check(os.CopyFS(to, os.DirFS(m.Dir)))
	// Modules in the cache are read-only, and so are copies.
	ts.Check(filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o755)
	}))
	ts.Check(filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o644)
	}))
	ts.Setenv("GOPROXY", os.Getenv("GOPROXY"))
	ts.Setenv("GOFLAGS", "-mod=mod")
	ts.Setenv("GONOSUMDB", "*")
	edit := exec.Command("go", "mod", "edit", "-go=1.26.0", "-toolchain=none", "-require=github.com/dstkit/dst@v0.0.0",
		"-replace=github.com/dstkit/dst="+ts.Getenv("REPO"))
	edit.Dir = to
	if out, err := edit.CombinedOutput(); err != nil {
		ts.Fatalf("go mod edit: %v\n%s", err, out)
	}
}

// unchangedCmd finds that all Go files of the current folder are the module's.
func unchangedCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unchanged module@version")
	}
	original := goFiles(ts, download(ts, args[0]).Dir)
	here := goFiles(ts, ts.MkAbs("."))
	for path, text := range here {
		if original[path] != text {
			ts.Fatalf("%s is not the original's", path)
		}
	}
	if len(here) != len(original) || len(here) == 0 {
		ts.Fatalf("%d files, want %d", len(here), len(original))
	}
}

func goFiles(ts *testscript.TestScript, dir string) map[string]string {
	files := map[string]string{}
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[rel] = string(b)
		return err
	}))
	return files
}

type module struct{ Dir, Sum, Error string }

func download(ts *testscript.TestScript, what string) (m module) {
	cmd := exec.Command("go", "mod", "download", "-json", what)
	cmd.Dir = ts.Getenv("TMPDIR") // in no module
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GONOSUMDB=*")
	out, err := cmd.Output()
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil || err != nil || m.Error != "" {
		ts.Fatalf("go mod download %s: %v: %s%s", what, err, m.Error, out)
	}
	return m
}
