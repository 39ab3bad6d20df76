package conformance

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed exceptions.txt
var exceptionsText string

// An Exception is a test that does not pass in simulation, and why.
type Exception struct {
	Package string
	Release string // that it is about, such as "1.26"; all if empty
	Test    string
	Reason  string
}

// External tells whether the test needs the internet: such tests are left out, as
// whether they pass for real depends on where they run.
func (e *Exception) External() bool { return strings.HasPrefix(e.Reason, "internet: ") }

// Parts tells whether the test passes, but in its own way in each process: it iterates
// over a map whose keys are pointers, say.
func (e *Exception) Parts() bool { return strings.HasPrefix(e.Reason, "parts: ") }

// Exceptions returns what exceptions.txt lists for a release.
func Exceptions(release string) ([]Exception, error) { return parseExceptions(exceptionsText, release) }

// parseExceptions reads lines: package, or package@release, test, reason.
func parseExceptions(text, release string) ([]Exception, error) {
	var list []Exception
	known := map[string]bool{}
	for _, p := range packages {
		known[p.path] = true
	}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		pkg, rest, _ := strings.Cut(line, " ")
		test, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		e := Exception{Test: test, Reason: strings.TrimSpace(reason)}
		e.Package, e.Release, _ = strings.Cut(pkg, "@")
		if e.Test == "" || e.Reason == "" || !known[e.Package] {
			return nil, fmt.Errorf("exceptions.txt:%d: expected a package that conformance knows, a test and a reason, found %q", n, line)
		}
		if e.Release == "" || e.Release == release {
			list = append(list, e)
		}
	}
	return list, nil
}

// A Verdict is a Result held against the exceptions.
type Verdict struct {
	Package string
	Real    int // tests that pass for real
	Sim     int // those of them that pass in simulation
	Listed  []Exception
	Broken  []Test   // fail in simulation and are not listed
	Stale   []string // are listed and pass
	Parted  []string // two runs of one seed differed
	Result  *Result
}

// Problems tells, a line each, what is not as it should be.
func (v *Verdict) Problems() []string {
	var list []string
	for _, t := range v.Broken {
		list = append(list, fmt.Sprintf("%s.%s: %s in simulation, passes for real: %s", v.Package, t.Name, t.Sim, t.Why))
	}
	for _, name := range v.Stale {
		list = append(list, fmt.Sprintf("%s.%s: passes in simulation; take it out of exceptions.txt", v.Package, name))
	}
	for _, name := range v.Parted {
		list = append(list, fmt.Sprintf("%s.%s: two runs of one seed have different fingerprints", v.Package, name))
	}
	return list
}

// Percent is how many of the tests that pass for real pass in simulation.
func (v *Verdict) Percent() float64 { return 100 * float64(v.Sim) / float64(max(v.Real, 1)) }

// Judge holds a result against the exceptions of its release.
func Judge(r *Result, list []Exception) *Verdict {
	v := &Verdict{Package: r.Package, Result: r}
	of := map[string]Exception{}
	for _, e := range list {
		if e.Package == r.Package {
			of[e.Test] = e
		}
	}
	for _, t := range r.Tests {
		e, listed := of[t.Name]
		parts := listed && e.Parts()
		listed = listed && !parts
		if t.Parted && !parts {
			v.Parted = append(v.Parted, t.Name)
		}
		switch {
		case t.Sim == Pass && listed:
			v.Stale = append(v.Stale, t.Name)
		case t.Sim != Pass && !listed:
			v.Broken = append(v.Broken, t)
		case listed || parts:
			v.Listed = append(v.Listed, e)
		}
		v.Real++
		if t.Sim == Pass {
			v.Sim++
		}
	}
	return v
}

// External returns the tests of a package that need the internet.
func External(pkg string, list []Exception) []string {
	var names []string
	for _, e := range list {
		if e.Package == pkg && e.External() {
			names = append(names, e.Test)
		}
	}
	return names
}
