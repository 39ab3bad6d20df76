package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/dstkit/dst/passes"
)

// Exit codes: those of the go/analysis drivers, and 2 as in the go command.
const (
	exitError    = 1
	exitUsage    = 2
	exitFindings = 3
)

const usage = `Dstvet finds what makes a Go program differ from run to run.

Usage:

	dstvet [flags] [packages]
	go vet -vettool=$(which dstvet) [flags] [packages]
	dstvet help [analyzer]

Flags:

	-sim       report only what stays nondeterministic inside the simulator
	-test      report what is found in _test.go files too
	-NAME      run only this analyzer; -NAME=false, all but this one
	-json      print findings as JSON
	-sarif     print findings as SARIF 2.1.0
	-fix       apply the suggested fixes
	-diff      print the suggested fixes as a diff

and the build flags of go vet.
`

func main() {
	args := os.Args[1:]
	if isProtocol(args) {
		passes.AddFlags(flag.CommandLine)
		unitchecker.Main(passes.All()...) //dst:ignore wallclock for its debug log
		return
	}
	os.Exit(run(args, os.Stdout, os.Stderr))
}

// isProtocol tells whether go vet is calling.
func isProtocol(args []string) bool {
	if len(args) == 0 {
		return false
	}
	return strings.HasSuffix(args[len(args)-1], ".cfg") ||
		slices.ContainsFunc(args, func(a string) bool { return a == "-flags" || strings.HasPrefix(a, "-V=") })
}

// A request is what the command line asks for; rest is go vet's.
type request struct {
	json, sarif, fix, diff bool
	rest                   []string
}

func parse(args []string) (request, error) {
	var q request
	for i, a := range args {
		if a == "--" {
			q.rest = append(q.rest, args[i:]...)
			break
		}
		name := strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-")
		switch {
		case !strings.HasPrefix(a, "-"):
			q.rest = append(q.rest, a)
		case name == "json":
			q.json = true
		case name == "sarif":
			q.sarif = true
		case name == "fix":
			q.fix = true
		case name == "diff":
			q.diff = true
		case name == "vettool" || strings.HasPrefix(name, "vettool="):
			return q, errors.New("dstvet is the -vettool itself: run go vet for another one")
		default:
			q.rest = append(q.rest, a)
		}
	}
	n := 0
	for _, b := range []bool{q.json, q.sarif, q.fix || q.diff} {
		if b {
			n++
		}
	}
	if n > 1 {
		return q, errors.New("expected one of -json, -sarif and -fix/-diff at most")
	}
	return q, nil
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch args[0] {
	case "help":
		return help(args[1:], stdout, stderr)
	case "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return 0
	}
	q, err := parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "dstvet: %v\n", err)
		return exitUsage
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(stderr, "dstvet: cannot find myself, to be called by go vet: %v\n", err)
		return exitError
	}
	vet := []string{"vet", "-vettool=" + self}
	// -C must come first.
	if len(q.rest) > 0 && strings.HasPrefix(strings.TrimLeft(q.rest[0], "-"), "C") && strings.HasPrefix(q.rest[0], "-") {
		n := 1
		if q.rest[0] == "-C" || q.rest[0] == "--C" {
			n = min(2, len(q.rest))
		}
		vet = append([]string{"vet"}, append(slices.Clone(q.rest[:n]), vet[1:]...)...)
		q.rest = q.rest[n:]
	}
	if q.fix || q.diff {
		vet = append(vet, "-fix")
		if q.diff {
			vet = append(vet, "-diff")
		}
		return goCommand(append(vet, q.rest...), stdout, stderr)
	}
	var out bytes.Buffer
	code := goCommand(append(append(vet, "-json"), q.rest...), &out, stderr)
	found, err := decode(&out)
	if err != nil {
		fmt.Fprintf(stderr, "dstvet: cannot read what go vet printed: %v\n", err)
		return exitError
	}
	for _, e := range found.errors {
		fmt.Fprintf(stderr, "dstvet: %s\n", e)
		code = max(code, exitError)
	}
	switch {
	case q.json:
		err = found.printJSON(stdout)
	case q.sarif:
		err = found.printSARIF(stdout)
	default:
		err = found.printText(stdout)
		if code == 0 && len(found.list) > 0 {
			code = exitFindings
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "dstvet: %v\n", err)
		return exitError
	}
	return code
}

// goCommand runs the go command and returns its exit code.
func goCommand(args []string, stdout, stderr io.Writer) int {
	cmd := exec.Command("go", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	err := cmd.Run() //dst:ignore escape go vet does the loading
	if ee, ok := errors.AsType[*exec.ExitError](err); ok && ee.ExitCode() > 0 {
		return ee.ExitCode()
	}
	if err != nil {
		fmt.Fprintf(stderr, "dstvet: cannot run go %s: %v\n", args[0], err)
		return exitError
	}
	return 0
}

// help prints the list of analyzers, or the documentation of one.
func help(names []string, stdout, stderr io.Writer) int {
	if len(names) == 0 {
		fmt.Fprint(stdout, usage, "\nAnalyzers:\n\n")
		for _, a := range passes.All() {
			title, _, _ := strings.Cut(a.Doc, "\n")
			_, title, _ = strings.Cut(title, ": ")
			fmt.Fprintf(stdout, "\t%-12s %s\n", a.Name, title)
		}
		fmt.Fprint(stdout, "\nRun dstvet help NAME for more.\n")
		return 0
	}
	for _, name := range names {
		i := 0
		all := passes.All()
		for i < len(all) && all[i].Name != name {
			i++
		}
		if i == len(all) {
			fmt.Fprintf(stderr, "dstvet: no analyzer %q: run dstvet help for the list\n", name)
			return exitUsage
		}
		fmt.Fprintf(stdout, "%s\n%s\n", strings.TrimSpace(all[i].Doc), all[i].URL)
	}
	return 0
}
