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
	flag.DurationVar(&s.Limit, "limit", 3*time.Minute, "real `time` that a test may take in simulation")
	flag.BoolVar(&s.Twice, "twice", false, "run each test twice and compare the fingerprints")
	flag.BoolVar(&s.Apart, "apart", false, "keep std's package variables apart for each process, also for the tests in shared.txt")
	flag.StringVar(&s.Logs, "logs", "", "keep each test's output in this `folder`")
	doc := flag.String("doc", "", "bring the rows of these packages in this `page` up to date")
	flag.Parse()
	if err := run(flag.Args(), s, *doc); err != nil {
		fmt.Fprintf(os.Stderr, "conform: %v\n", err)
		os.Exit(1)
	}
}

func run(pkgs []string, s conformance.Settings, doc string) error {
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
	list, err := conformance.Exceptions(b.Toolchain.Release)
	if err != nil {
		return err
	}
	if len(pkgs) == 0 {
		pkgs = conformance.Packages()
	}
	var verdicts []*conformance.Verdict
	bad := 0
	//dst:ignore wallclock it shows how long it took
	for _, pkg := range pkgs {
		began := time.Now()
		s.Skip = conformance.External(pkg, list)
		r, err := b.Run(pkg, s)
		if err != nil {
			return err
		}
		v := conformance.Judge(r, list)
		verdicts = append(verdicts, v)
		bad += len(v.Broken) + len(v.Stale) + len(v.Parted)
		for _, problem := range v.Problems() {
			fmt.Println(problem)
		}
		fmt.Printf("%s %s: %d of %d (%.1f %%), subtests %d of %d, %d listed, failed for real %v, %v\n", b.Toolchain.Version, pkg,
			v.Sim, v.Real, v.Percent(), r.SimSubtests, r.RealSubtests, len(v.Listed), r.RealFailed, time.Since(began).Round(time.Second))
	}
	if doc != "" {
		if err := conformance.WriteDoc(doc, b.Toolchain.Release, conformance.NewReport(b.Toolchain.Version, verdicts)); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d tests are not what exceptions.txt says, or not deterministic", bad)
	}
	return nil
}
