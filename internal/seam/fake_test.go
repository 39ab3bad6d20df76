package seam

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

const fakeFile = `// Copyright of a fake.

//go:build linux

package runtime

func ready(gp *g) {
	status := readgstatus(gp)
	runqput(gp)
}

func other() {
	runqput(nil)
}
`

// fakeToolchain makes a GOROOT of three files.
func fakeToolchain(t *testing.T, dir, version string) *Toolchain {
	t.Helper()
	root := filepath.Join(dir, "goroot")
	write(t, filepath.Join(root, "VERSION"), version+"\ntime 2026-01-01T00:00:00Z\n")
	write(t, filepath.Join(root, "src", "runtime", "proc.go"), fakeFile)
	write(t, filepath.Join(root, "src", "runtime", "asm.s"), "TEXT x(SB)\n")
	return &Toolchain{GOROOT: root, Version: version, Release: "1.26", GOOS: "linux", GOARCH: "amd64", GOMODCACHE: filepath.Join(dir, "modcache")}
}

func fakeSet() *set {
	return &set{
		patches: []Patch{
			{File: "runtime/proc.go", Edits: []Edit{{In: "func ready(", Find: "runqput(gp)", Replace: "if !held(gp) {\n\t\t$0\n\t}"}}},
			{File: "runtime/asm.s", Edits: []Edit{{Find: "TEXT x", Replace: "TEXT y"}}},
		},
		added: map[string]string{"runtime/held.go": "package runtime\n\nfunc held(gp *g) bool { return false }\n"},
	}
}

// fakeGo puts a go command first in PATH that answers go env with env.
func fakeGo(t *testing.T, env map[string]string) {
	t.Helper()
	data, err := json.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go"), fmt.Sprintf("#!/bin/sh\ncat <<'EOF'\n%s\nEOF\n", data))
	if err := os.Chmod(filepath.Join(dir, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
