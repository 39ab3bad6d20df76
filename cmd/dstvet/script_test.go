package main

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dstvet": main})
}

// TestScript runs the command on small modules. The scripts share the build cache
// with everything else on the machine.
func TestScript(t *testing.T) {
	var env struct{ GOCACHE, GOMODCACHE string }
	out, err := exec.Command("go", "env", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &env); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("GOCACHE", env.GOCACHE)
			e.Setenv("GOMODCACHE", env.GOMODCACHE)
			e.Setenv("GOENV", "off")
			e.Setenv("GOFLAGS", "")
			e.Setenv("GOPROXY", "off")
			e.Setenv("GOTOOLCHAIN", "local")
			e.Setenv("GOTELEMETRY", "off")
			// What testscript has put in PATH, for go vet.
			tool, err := exec.LookPath("dstvet")
			e.Setenv("DSTVET", tool)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exitcode": exitCodeCmd,
		},
	})
}

// exitCodeCmd runs a command that has to end with the status given first.
func exitCodeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if ee, ok := err.(*exec.ExitError); ok {
		got = ee.ExitCode()
	} else if err != nil {
		ts.Fatalf("cannot run %s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", args[1], got, want)
	}
}
