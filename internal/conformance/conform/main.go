// Conform runs tests of the standard library in simulated hosts. See package
// conformance.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dstkit/dst/internal/conformance"
)

func main() {
	var s conformance.Settings
	flag.StringVar(&s.Run, "run", "", "run only tests that match this `pattern`")
	flag.Uint64Var(&s.Seed, "seed", 1, "the `seed` of each world")
	flag.IntVar(&s.Parallel, "p", 2, "run so `many` processes at a time")
	flag.DurationVar(&s.Limit, "limit", time.Minute, "real `time` that a test may take in simulation")
	flag.BoolVar(&s.Twice, "twice", false, "run each test twice and compare the fingerprints")
	flag.StringVar(&s.Logs, "logs", "", "keep each test's output in this `folder`")
	flag.Parse()
	if err := run(flag.Args(), s); err != nil {
		fmt.Fprintf(os.Stderr, "conform: %v\n", err)
		os.Exit(1)
	}
}

func run(pkgs []string, s conformance.Settings) error {
	dir, err := os.MkdirTemp("", "dst-conform-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if s.Logs != "" {
		if s.Logs, err = filepath.Abs(s.Logs); err != nil {
			return err
		}
		if err := os.MkdirAll(s.Logs, 0o777); err != nil {
			return err
		}
	}
	module, err := os.Getwd()
	if err != nil {
		return err
	}
	b, err := conformance.NewBuilder(module, dir)
	if err != nil {
		return err
	}
	if len(pkgs) == 0 {
		pkgs = conformance.Packages()
	}
	for _, pkg := range pkgs {
		began := time.Now()
		r, err := b.Run(pkg, s)
		if err != nil {
			return err
		}
		for _, t := range r.Tests {
			if t.Sim != conformance.Pass {
				fmt.Printf("%s: %s.%s: %s\n", t.Sim, pkg, t.Name, t.Why)
			}
			if t.Parted {
				fmt.Printf("parted: %s.%s\n", pkg, t.Name)
			}
		}
		fmt.Printf("%s %s: %d pass for real, %d of them in simulation (%.1f%%); subtests %d, %d; real fail %v; %v\n", b.Toolchain.Version, pkg,
			len(r.Tests), r.Passed(), 100*float64(r.Passed())/float64(len(r.Tests)), r.RealSubtests, r.SimSubtests, r.RealFailed, time.Since(began).Round(time.Second))
	}
	return nil
}
