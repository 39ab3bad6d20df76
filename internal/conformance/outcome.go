package conformance

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Outcome is what became of a test.
type Outcome string

// The outcomes. A test that never ended has the last.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	Skip Outcome = "skip"
	None Outcome = "none"
)

// ended is a line in which package testing tells the end of a test; with
// -test.v=test2json a control character marks it, wherever in a line it is.
var ended = regexp.MustCompile("\x16(?: {4})*--- (PASS|FAIL|SKIP): (\\S+)")

// outcomes reads the output of tests: top-level tests and examples in the order of their end,
// and the subtests that passed.
func outcomes(output string) (names []string, of map[string]Outcome, subtests map[string]bool) {
	of, subtests = map[string]Outcome{}, map[string]bool{}
	for _, m := range ended.FindAllStringSubmatch(output, -1) {
		o, name := Outcome(strings.ToLower(m[1])), m[2]
		switch {
		case !strings.Contains(name, "/"):
			names = append(names, name)
			of[name] = o
		case o == Pass:
			subtests[name] = true
		}
	}
	return names, of, subtests
}

// A run is one test in a simulated host.
type run struct {
	outcome     Outcome
	subtests    []string // that passed
	why         string   // it did not pass, in a line
	fingerprint string
	steps       int
	virtual     time.Duration
	real        time.Duration
	interrupted bool // it computed too long, or what is outside of the world cut it short: another run may differ
	output      string
}

var (
	// A line of the host's, in what -dst.v=2 shows: virtual time, host, text.
	hostLine  = regexp.MustCompile(`^ *\d+\.\d{6}s test {5}`)
	worldLine = regexp.MustCompile(`(?m)^seed=\d+ fingerprint=(0x[0-9a-f]+) steps=(\d+) virtual=(\S+) (ok|FAIL)$`)
	failLine  = regexp.MustCompile(`(?m)^.*seed \d+ failed at \S+ of virtual time: (.*)$`)
	gapLine   = regexp.MustCompile(`(?m)^.*not simulated: (.*)$`)
	panicLine = regexp.MustCompile(`(?m)^(panic|fatal error|SIGQUIT): .*$`)
)

const continued = 23 // columns before the text of a host's further lines

// read makes a run of the output of a process that ran the test name.
func read(name, output string, failed bool) *run {
	r := &run{outcome: None, output: output}
	var host strings.Builder
	for line := range strings.SplitAfterSeq(output, "\n") {
		if m := hostLine.FindString(line); m != "" {
			host.WriteString(line[len(m):])
		} else if len(line) > continued && strings.TrimLeft(line[:continued], " ") == "" {
			host.WriteString(line[continued:])
		}
	}
	_, of, subtests := outcomes(host.String())
	if o, ok := of[name]; ok {
		r.outcome = o
		r.subtests = slices.Sorted(maps.Keys(subtests))
	}
	if m := worldLine.FindStringSubmatch(output); m != nil {
		r.fingerprint = m[1]
		r.steps, _ = strconv.Atoi(m[2])
		r.virtual, _ = time.ParseDuration(m[3])
	}
	r.interrupted = strings.Contains(output, "and was interrupted; another run of the seed may differ") ||
		strings.Contains(output, "of virtual time: escape: a goroutine outside of the simulation woke one inside")
	if failed && r.outcome != Fail {
		r.outcome = Fail
	}
	if r.outcome != Pass {
		r.why = reason(host.String(), output)
	}
	return r
}

// said is a line that a test wrote by t.Error, t.Skip and the like.
var said = regexp.MustCompile(`(?m)^ {4,}(\w+\.go:\d+: .*)$`)

// reason tells in a line why a test did not pass.
func reason(host, output string) string {
	var parts []string
	for _, m := range said.FindAllStringSubmatch(host, 2) {
		parts = append(parts, m[1])
	}
	if m := failLine.FindStringSubmatch(output); m != nil && !strings.HasPrefix(m[1], "exit status") && !strings.Contains(m[1], ": exit status 1") {
		parts = append(parts, m[1])
	} else if m := panicLine.FindString(output); m != "" {
		parts = append(parts, m)
	}
	seen := map[string]bool{}
	for _, m := range gapLine.FindAllStringSubmatch(output, -1) {
		if !seen[m[1]] {
			seen[m[1]] = true
			parts = append(parts, "not simulated: "+m[1])
		}
	}
	s := strings.Join(parts, "; ")
	if len(s) > 400 {
		s = s[:400] + "…"
	}
	return s
}
