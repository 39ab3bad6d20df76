package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dstkit/dst/internal/seam"
)

// An exitCode ends the process without a message of its own.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// forward runs a go command with the simulation's flags and, where the system
// allows it, becomes that command: signals and exit code then need no care.
func forward(command string, args []string, stderr io.Writer) error {
	a := parseArgs(command, args)
	t, o, err := prepare(a.dir)
	if err != nil {
		return err
	}
	l, err := parseGoflags(t.GOFLAGS)
	if err != nil {
		return err
	}
	var tags []string
	if a.tags != nil {
		if tags, err = splitTags(*a.tags); err != nil {
			return fmt.Errorf("cannot read -tags %q: %w", *a.tags, err)
		}
	}
	file := o.File
	if a.overlay == "" {
		a.overlay = l.overlay
	}
	if a.overlay != "" {
		dir, err := filepath.Abs(a.dir)
		if err != nil {
			return err
		}
		if file, err = o.Merge(a.overlay, dir); err != nil {
			return err
		}
	}
	race := a.race || l.race
	if command == "vet" {
		if a.rest, err = resolveVettool(t.Go(), a.dir, a.rest); err != nil {
			return err
		}
	}
	argv := []string{t.Go(), command}
	argv = append(argv, a.chdir...)
	argv = append(argv, simFlags(file, mergeTags(tags, l.tags, simTags), race)...)
	argv = append(argv, a.rest...)

	if command != "list" && o.FirstBuild(t.GOCACHE, race) {
		with := ""
		if race {
			with = " with the race detector"
		}
		fmt.Fprintf(stderr, "dstrewrite: compiling the standard library of %s for simulation%s (once per Go version; then it comes from the build cache)\n", t.Version, with)
	}
	return become(argv, environ(pinned(t)))
}

// resolveVettool replaces a tool that -vettool names without a path, which the go
// command would look for in the working directory: it may be a tool of the module
// (go get -tool), or a program in PATH.
func resolveVettool(gocmd, dir string, args []string) ([]string, error) {
	for i, arg := range args {
		name, value, hasValue, isFlag := splitFlag(arg)
		if !isFlag || name != "vettool" {
			continue
		}
		at, prefix := i, "-vettool="
		if !hasValue {
			if i+1 == len(args) {
				return args, nil // the go command complains
			}
			at, prefix, value = i+1, "", args[i+1]
		}
		if value == "" || strings.ContainsRune(value, filepath.Separator) {
			return args, nil
		}
		cmd := exec.Command(gocmd, "tool", "-n", value)
		cmd.Dir = dir
		path := ""
		if out, err := cmd.Output(); err == nil { //dst:ignore escape the go command knows the module's tools
			path = strings.TrimSpace(string(out))
		} else if path, err = exec.LookPath(value); err != nil {
			return nil, fmt.Errorf("-vettool=%s: expected a path, a tool of the module (go get -tool), or a program in PATH: %w", value, err)
		}
		args = append([]string(nil), args...)
		args[at] = prefix + path
		return args, nil
	}
	return args, nil
}

type variable struct{ name, value string }

// pinned is the environment that holds every go command to t's GOROOT: an
// overlay for another one would be ignored without a word.
func pinned(t *seam.Toolchain) []variable {
	vars := []variable{{"GOROOT", t.GOROOT}, {"GOTOOLCHAIN", "local"}}
	bin := filepath.Dir(t.Go())
	if found, err := exec.LookPath("go"); err != nil || filepath.Dir(found) != bin {
		vars = append(vars, variable{"PATH", bin + string(os.PathListSeparator) + os.Getenv("PATH")})
	}
	return vars
}

// environ returns the process's environment with vars in it.
func environ(vars []variable) []string {
	env := os.Environ()
	for _, v := range vars {
		kept := env[:0]
		for _, e := range env {
			if !strings.HasPrefix(e, v.name+"=") {
				kept = append(kept, e)
			}
		}
		env = append(kept, v.name+"="+v.value)
	}
	return env
}
