package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dstkit/dst/internal/seam"
)

const usage = `Dstrewrite runs the go command for simulation builds.

Usage:

	dstrewrite build|install|list|run|test|vet [arguments of the go command]
	dstrewrite env [-json]    print the environment in which plain go, gopls and dlv do the same
	dstrewrite diff           print what changes in the standard library
	dstrewrite swap [-d | -w | -u] [-n] [-tag dst] [packages]
	                          swap imports for the drop-in packages, in twins of your files
	dstrewrite version        print versions, for bug reports
	dstrewrite help           print this

Examples:

	dstrewrite test ./...                     test all packages in simulation
	dstrewrite test -race -run TestSync .     with flags of go test
	go tool dstrewrite test ./...             when your go.mod has it as a tool
	dstrewrite vet -vettool=dstvet -sim .     what stays nondeterministic in simulation
	eval "$(dstrewrite env)"                  for this shell

The go command's flags and exit code pass through; -overlay and the build tags
dst, dstsim, netgo and osusergo are added.
`

// A usageError ends the command with status 2, as in the go command.
type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	err := dispatch(args, stdout, stderr)
	if err == nil {
		return 0
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	fmt.Fprintf(stderr, "dstrewrite: %v\n", err)
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	return 1
}

func dispatch(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitCode(2)
	}
	name, rest := args[0], args[1:]
	if slices.Contains(forwarded, name) {
		return forward(name, rest, stderr)
	}
	switch name {
	case "help", "-h", "-help", "--help":
		_, err := io.WriteString(stdout, usage)
		return err
	case "env":
		return printEnv(rest, stdout)
	case "diff":
		if err := noArgs("diff", rest); err != nil {
			return err
		}
		t, err := seam.Find("")
		if err != nil {
			return err
		}
		return seam.Diff(stdout, t)
	case "swap":
		return runSwap(rest, stdout, stderr)
	case "version", "-version", "--version":
		if err := noArgs("version", rest); err != nil {
			return err
		}
		return printVersion(stdout)
	}
	return usageError{fmt.Sprintf("unknown command %q: expected %s, env, diff, swap, version or help; run dstrewrite help for examples",
		name, strings.Join(forwarded, ", "))}
}

func noArgs(name string, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Sprintf("%s takes no arguments, found %q", name, args)}
}

// prepare finds the toolchain for dir and makes its overlay.
func prepare(dir string) (*seam.Toolchain, *seam.Overlay, error) {
	t, err := seam.Find(dir)
	if err != nil {
		return nil, nil, err
	}
	cache, err := seam.CacheDir()
	if err != nil {
		return nil, nil, err
	}
	o, err := seam.Make(t, cache)
	return t, o, err
}

func printEnv(args []string, stdout io.Writer) error {
	fs := flag.NewFlagSet("env", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	asJSON := fs.Bool("json", false, "")
	if err := fs.Parse(args); err != nil {
		return usageError{fmt.Sprintf("env: %v; it takes -json only", err)}
	}
	if err := noArgs("env", fs.Args()); err != nil {
		return err
	}
	t, o, err := prepare("")
	if err != nil {
		return err
	}
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	flags, err := goflags(t.GOFLAGS, o, wd)
	if err != nil {
		return err
	}
	vars := append(pinned(t), variable{"GOFLAGS", flags})
	if *asJSON {
		m := make(map[string]string)
		for _, v := range vars {
			m[v.name] = v.value
		}
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "\t")
		enc.SetEscapeHTML(false)
		return enc.Encode(m)
	}
	for _, v := range vars {
		if _, err := fmt.Fprintf(stdout, "export %s=%s\n", v.name, shellQuote(v.value)); err != nil {
			return err
		}
	}
	return nil
}

func printVersion(stdout io.Writer) error {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		// As a tool of the user's module, we are one of its dependencies.
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == "github.com/dstkit/dst" && m.Version != "" {
				version = m.Version
			}
		}
	}
	fmt.Fprintf(stdout, "dstrewrite %s, for Go %s\n", version, strings.Join(seam.Supported(), ", "))
	t, o, err := prepare("")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "go         %s %s/%s in %s\noverlay    %s\n", t.Version, t.GOOS, t.GOARCH, t.GOROOT, o.Key)
	return err
}
