package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dstkit/dst/sched"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dstrewrite": main})
}

// TestScript runs the command on small modules. The scripts share the build
// cache and the overlay with everything else on the machine: an overlay in
// another place would have the standard library compiled again. Short mode leaves
// out those that need a second or third standard library.
func TestScript(t *testing.T) {
	var env struct{ GOROOT, GOCACHE, GOMODCACHE, CGO_ENABLED, GOOS, GOARCH string }
	out, err := exec.Command("go", "env", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &env); err != nil {
		t.Fatal(err)
	}
	if env.GOOS != "linux" {
		t.Skip("simulation builds are for linux")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("GOCACHE", env.GOCACHE)
			e.Setenv("GOMODCACHE", env.GOMODCACHE)
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv("CGO_ENABLED", env.CGO_ENABLED)
			e.Setenv("GOENV", "off")
			e.Setenv("GOFLAGS", "")
			e.Setenv("GOPROXY", "off")
			e.Setenv("GOTOOLCHAIN", "local")
			e.Setenv("GOTELEMETRY", "off")
			e.Setenv("STDROOT", env.GOROOT)
			e.Setenv("REPO", repo)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exitcode":  exitCodeCmd,
			"fetch":     fetchCmd,
			"unchanged": unchangedCmd,
		},
		Condition: func(cond string) (bool, error) {
			if v, ok := strings.CutPrefix(cond, "toolchain:"); ok {
				dirs, err := filepath.Glob(filepath.Join(env.GOMODCACHE, "golang.org", "toolchain@*-"+v+"."+env.GOOS+"-"+env.GOARCH))
				return len(dirs) == 1, err
			}
			if cond == "cgo" {
				return env.CGO_ENABLED == "1", nil
			}
			switch cond {
			case "root":
				return os.Getuid() == 0, nil
			case "sim":
				return sched.Available(), nil
			}
			return false, errors.New("unknown condition")
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
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		got = ee.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
