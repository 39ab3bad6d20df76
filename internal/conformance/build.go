package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dstkit/dst/internal/seam"
)

// testingPatch lets package inhost take over where a test binary begins.
var testingPatch = seam.Patch{File: "testing/testing.go", Edits: []seam.Edit{
	{In: "func MainStart(", Find: "\tInit()\n", Replace: `$0	if f := dstMain; f != nil {
		dstMain = nil
		f(func(t InternalTest) int {
			return (&M{deps: dstDeps{deps}, tests: []InternalTest{t}}).Run()
		})
	}
`},
}}

// testingFile is added to package testing. What chooses tests (-test.run) is
// for those in the host.
const testingFile = `package testing

import _ "unsafe"

var dstMain func(runTest func(InternalTest) int)

//go:linkname dstSetMain
func dstSetMain(f func(runTest func(InternalTest) int)) { dstMain = f }

type dstDeps struct{ testDeps }

func (dstDeps) MatchString(pat, str string) (bool, error) { return true, nil }

// dstState has what package testing knows of a process that runs tests, beside
// its flags.
//
//go:linkname dstState
func dstState() []any {
	return []any{&cpuList, &numFailed, &haveExamples, &testlogFile, &realStderr, &parallelStart, &parallelStop}
}
`

// A Builder builds test binaries of the standard library.
type Builder struct {
	Toolchain  *seam.Toolchain
	Module     string // folder of this module
	Dir        string // for what is built
	dstrewrite string
}

// NewBuilder returns a Builder for the Go installation that is selected in the
// folder module, that of this module. What it makes lies in dir.
func NewBuilder(module, dir string) (*Builder, error) {
	t, err := seam.Find(module)
	if err != nil {
		return nil, err
	}
	cache, err := seam.CacheDir()
	if err != nil {
		return nil, err
	}
	if _, err := seam.Make(t, cache); err != nil { // it may give the GOROOT another name
		return nil, err
	}
	b := &Builder{Toolchain: t, Module: module, Dir: dir, dstrewrite: filepath.Join(dir, "dstrewrite")}
	return b, b.run(b.Toolchain.Go(), "build", "-o", b.dstrewrite, "./cmd/dstrewrite")
}

// Source returns the folder of a package of the standard library.
func (b *Builder) Source(pkg string) string {
	return filepath.Join(b.Toolchain.GOROOT, "src", filepath.FromSlash(pkg))
}

// Real builds the tests of a package as they are, and returns the binary.
func (b *Builder) Real(pkg string) (string, error) {
	bin := filepath.Join(b.Dir, flat(pkg)+".real")
	return bin, b.run(b.Toolchain.Go(), "test", "-c", "-vet=off", "-tags=netgo,osusergo", "-o", bin, pkg)
}

// Simulated builds the tests of a package so that they run in a host.
func (b *Builder) Simulated(pkg string) (string, error) {
	overlay, err := b.overlay(pkg)
	if err != nil {
		return "", err
	}
	bin := filepath.Join(b.Dir, flat(pkg)+".sim")
	return bin, b.run(b.dstrewrite, "test", "-c", "-vet=off", "-overlay="+overlay, "-o", bin, pkg)
}

func (b *Builder) overlay(pkg string) (string, error) {
	name, err := b.packageName(pkg)
	if err != nil {
		return "", err
	}
	testing := filepath.Join(b.Toolchain.GOROOT, "src", "testing")
	source, err := os.ReadFile(filepath.Join(testing, "testing.go"))
	if err != nil {
		return "", err
	}
	patched, err := testingPatch.Apply(string(source))
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, name := range []string{"inhost.go", "program.go"} {
		replace[filepath.Join(b.Module, "inhost", name)] = filepath.Join(b.Module, "internal", "conformance", "inhost", name)
	}
	for _, f := range []struct{ target, name, text string }{
		{filepath.Join(testing, "testing.go"), "testing.go", "//line " + filepath.Join(testing, "testing.go") + ":1\n" + patched},
		{filepath.Join(testing, "dst.go"), "testing_dst.go", testingFile},
		{filepath.Join(b.Source(pkg), "dst_inhost_test.go"), flat(pkg) + "_test.go",
			"package " + name + "_test\n\nimport _ \"github.com/dstkit/dst/inhost\"\n"},
	} {
		file := filepath.Join(b.Dir, f.name)
		if err := os.WriteFile(file, []byte(f.text), 0o666); err != nil {
			return "", err
		}
		replace[f.target] = file
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.Dir, flat(pkg)+".json")
	return file, os.WriteFile(file, data, 0o666)
}

var packageClause = regexp.MustCompile(`(?m)^package (\w+)$`)

// packageName reads the name of a package, which need not be the path's last
// part (math/rand/v2).
func (b *Builder) packageName(pkg string) (string, error) {
	files, err := filepath.Glob(filepath.Join(b.Source(pkg), "*.go"))
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if m := packageClause.FindSubmatch(data); m != nil && string(m[1]) != "main" {
			return string(m[1]), nil
		}
	}
	return "", fmt.Errorf("expected the source of package %s in %s, found none; name a package of the standard library", pkg, b.Source(pkg))
}

// run runs a command in the module's folder, without flags that the user's
// environment adds to builds.
func (b *Builder) run(argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = b.Module
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOROOT="+b.Toolchain.GOROOT, "GOTOOLCHAIN=local",
		"PATH="+filepath.Dir(b.Toolchain.Go())+string(os.PathListSeparator)+os.Getenv("PATH"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil { //dst:ignore escape it builds the tests
		return fmt.Errorf("%s: %w\n%s", path.Base(argv[0])+" "+strings.Join(argv[1:], " "), err, strings.TrimSpace(out.String()))
	}
	return nil
}

// flat makes a package's path a file's name.
func flat(pkg string) string { return strings.ReplaceAll(pkg, "/", "-") }
