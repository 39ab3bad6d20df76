package conformance

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Settings say how packages are run.
type Settings struct {
	Run      string        // only tests that match; all if empty
	Seed     uint64        // of each world
	Parallel int           // processes at a time
	Limit    time.Duration // real time that a test may take in simulation
	Twice    bool          // run each test twice, and compare the fingerprints
	Skip     []string      // tests that are left out
	Apart    bool          // keep package variables apart for all tests, whatever shared.txt says
	Logs     string        // folder that keeps each test's output; none if empty
}

// A Test is a top-level test, or an example, that passes on the real machine.
type Test struct {
	Name        string
	Sim         Outcome
	Why         string // it did not pass
	Fingerprint string
	Steps       int
	Virtual     time.Duration // that it took in simulation
	Real        time.Duration // that its process took
	Parted      bool          // two runs had different fingerprints
}

// A Result is what became of the tests of a package.
type Result struct {
	Package      string
	Tests        []Test // in the order of their end on the real machine
	RealFailed   []string
	RealSkipped  []string
	RealSubtests int // that passed
	SimSubtests  int // of those
}

// Passed returns how many of the tests passed in simulation.
func (r *Result) Passed() int {
	n := 0
	for _, t := range r.Tests {
		if t.Sim == Pass {
			n++
		}
	}
	return n
}

// Run builds and runs the tests of a package.
func (b *Builder) Run(pkg string, s Settings) (*Result, error) {
	realBin, err := b.Real(pkg)
	if err != nil {
		return nil, err
	}
	simBin, err := b.Simulated(pkg)
	if err != nil {
		return nil, err
	}
	args := []string{"-test.v=test2json", "-test.timeout=10m"}
	if s.Run != "" {
		args = append(args, "-test.run="+s.Run)
	}
	if len(s.Skip) > 0 {
		args = append(args, "-test.skip=^("+strings.Join(s.Skip, "|")+")$")
	}
	out, _ := b.exec(realBin, pkg, 11*time.Minute, nil, args...) // that tests fail is no error
	names, of, subtests := outcomes(out)
	if len(names) == 0 {
		return nil, fmt.Errorf("the tests of package %s do not run on this machine:\n%s", pkg, tail(out, 2000))
	}
	r := &Result{Package: pkg, RealSubtests: len(subtests)}
	for _, name := range names {
		switch of[name] {
		case Pass:
			r.Tests = append(r.Tests, Test{Name: name})
		case Skip:
			r.RealSkipped = append(r.RealSkipped, name)
		default:
			r.RealFailed = append(r.RealFailed, name)
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	turns := make(chan bool, max(s.Parallel, 1))
	for i := range r.Tests {
		wg.Go(func() {
			turns <- true
			defer func() { <-turns }()
			t := &r.Tests[i]
			passed := b.simulate(simBin, pkg, t, s)
			mu.Lock()
			defer mu.Unlock()
			for _, name := range passed {
				if subtests[name] {
					r.SimSubtests++
				}
			}
		})
	}
	wg.Wait()
	return r, nil
}

// simulate runs one test, and returns how many subtests passed.
func (b *Builder) simulate(bin, pkg string, t *Test, s Settings) []string {
	first := b.world(bin, pkg, t.Name, s)
	t.Sim, t.Why, t.Fingerprint, t.Steps, t.Virtual, t.Real = first.outcome, first.why, first.fingerprint, first.steps, first.virtual, first.real
	runs := []*run{first}
	if s.Twice {
		second := b.world(bin, pkg, t.Name, s)
		// A run that was interrupted for computing too long says that it may part.
		t.Parted = first.fingerprint != second.fingerprint && !first.interrupted && !second.interrupted
		runs = append(runs, second)
	}
	for i, r := range runs {
		if s.Logs == "" {
			break
		}
		file := filepath.Join(s.Logs, fmt.Sprintf("%s-%s-%d.txt", flat(pkg), t.Name, i+1))
		if err := os.WriteFile(file, []byte(r.output), 0o666); err != nil {
			t.Why += "; " + err.Error()
		}
	}
	return first.subtests
}

// world runs one test in a process of its own.
//
//dst:ignore wallclock it limits and shows real time
func (b *Builder) world(bin, pkg, name string, s Settings) *run {
	began := time.Now()
	var env []string
	if !s.Apart && shared[pkg+" "+name] {
		env = append(env, sharedEnv+"=1")
	}
	out, err := b.exec(bin, pkg, s.Limit, env, "-test.v=test2json", "-test.timeout=10m", "-test.run=^"+regexp.QuoteMeta(name)+"$",
		fmt.Sprintf("-dst.seed=%d", s.Seed), "-dst.v=2")
	r := read(name, out, err != nil)
	r.real = time.Since(began)
	if r.real >= s.Limit {
		r.why = fmt.Sprintf("did not end within %v of real time; %s", s.Limit, r.why)
	}
	return r
}

// exec runs a test binary in the folder of its package.
//
//dst:ignore wallclock,escape each test is a process, within a limit of real time
func (b *Builder) exec(bin, pkg string, limit time.Duration, env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = b.Source(pkg)
	cmd.Env = append(os.Environ(), "PWD="+cmd.Dir, "TMPDIR="+b.Dir, "GOROOT="+b.Toolchain.GOROOT, "GOTOOLCHAIN=local", "GOFLAGS=")
	cmd.Env = append(cmd.Env, env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it shows the stacks
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// tail returns the end of s.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + s[len(s)-n:]
}
