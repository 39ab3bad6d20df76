package conformance

import (
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"
)

// TestConformance runs the quick packages; with DST_CONFORMANCE=all, all those
// that docs/conformance.md promises something of.
func TestConformance(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("simulation builds are for linux")
	}
	if testing.Short() {
		t.Skip("builds test binaries and runs hundreds of processes")
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(module, "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(module, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	list, err := Exceptions(b.Toolchain.Release)
	if err != nil {
		t.Fatal(err)
	}
	promised, err := Promised(string(page), b.Toolchain.Release)
	if err != nil {
		t.Fatal(err)
	}
	pkgs, all := Quick(), false
	switch v := os.Getenv("DST_CONFORMANCE"); v {
	case "":
	case "all":
		all, pkgs = true, nil
		for pkg := range promised {
			pkgs = append(pkgs, pkg)
		}
		sort.Strings(pkgs)
	default:
		t.Fatalf("DST_CONFORMANCE is %q, want all or nothing", v)
	}
	for _, pkg := range pkgs {
		t.Run(pkg, func(t *testing.T) {
			// Twice costs little for the quick ones, and shows what is not deterministic.
			r, err := b.Run(pkg, Settings{Seed: 1, Parallel: runtime.GOMAXPROCS(0), Limit: 3 * time.Minute, Twice: !all, Skip: External(pkg, list)})
			if err != nil {
				t.Fatal(err)
			}
			v := Judge(r, list)
			for _, problem := range v.Problems() {
				t.Error(problem)
			}
			if want, ok := promised[pkg]; !ok {
				t.Errorf("docs/conformance.md has no row of %s for go%s", pkg, b.Toolchain.Release)
			} else if v.Percent() < want-0.05 { // the page rounds
				t.Errorf("%.1f %% of the tests that pass for real pass in simulation, docs/conformance.md says %.1f %%", v.Percent(), want)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	out := "=== RUN   TestA\n\x16=== RUN   TestA/x\nsome text\x16    --- PASS: TestA/x (0.00s)\n\x16--- PASS: TestA (0.00s)\n" +
		"\x16--- SKIP: TestB (0.00s)\n--- PASS: TestC (said by a test)\n\x16--- FAIL: TestD (1.00s)\n"
	names, of, subtests := outcomes(out)
	if len(names) != 3 || of["TestA"] != Pass || of["TestB"] != Skip || of["TestD"] != Fail {
		t.Errorf("outcomes are %v, %v; want TestA pass, TestB skip, TestD fail", names, of)
	}
	if len(subtests) != 1 || !subtests["TestA/x"] {
		t.Errorf("subtests that passed are %v, want TestA/x", subtests)
	}
}

// What a process wrote that ran TestA, whose host wrote to both streams.
const processOutput = "=== RUN   InHost\n" +
	"    0.000003s test     === RUN   TestA\n" +
	"    0.000004s test         a_test.go:7: seven\n" +
	"    0.000005s test     \x16--- FAIL: TestA (0.00s)\n" +
	"    0.000006s -        test exits with status 1\n" +
	"seed=1 fingerprint=0x1f steps=6 virtual=5.404µs FAIL\n" +
	"    inhost.go:44: seed 1 failed at 0.000006s of virtual time: inhost.go:60: exit status 1\n" +
	"        not simulated: host test: socket: a raw IP socket\n"

func TestRead(t *testing.T) {
	r := read("TestA", processOutput, true)
	if r.outcome != Fail || r.fingerprint != "0x1f" || r.steps != 6 || r.virtual != 5404*time.Nanosecond {
		t.Errorf("read: %+v", r)
	}
	if want := "a_test.go:7: seven; not simulated: host test: socket: a raw IP socket"; r.why != want {
		t.Errorf("why: %q, want %q", r.why, want)
	}
	// The test passes, but its process does not.
	ok := "    0.000005s test     \x16--- PASS: TestA (0.00s)\n"
	if r := read("TestA", ok, true); r.outcome != Fail {
		t.Errorf("outcome of a process that failed: %s, want fail", r.outcome)
	}
	if r := read("TestA", ok, false); r.outcome != Pass {
		t.Errorf("outcome: %s, want pass", r.outcome)
	}
}

func TestJudge(t *testing.T) {
	list, err := parseExceptions("# comment\nnet TestA raw sockets\nnet@1.26 TestB a child\nnet@1.27 TestC a child\nnet TestNet internet: dials\nnet TestE parts: by address\n", "1.26")
	if err != nil {
		t.Fatal(err)
	}
	r := &Result{Package: "net", Tests: []Test{{Name: "TestA", Sim: Fail}, {Name: "TestB", Sim: Pass}, {Name: "TestC", Sim: None}, {Name: "TestD", Sim: Pass, Parted: true}, {Name: "TestE", Sim: Pass, Parted: true}}}
	v := Judge(r, list)
	if v.Real != 5 || v.Sim != 3 || len(v.Listed) != 2 || len(v.Parted) != 1 || v.Parted[0] != "TestD" || len(v.Broken) != 1 || v.Broken[0].Name != "TestC" || len(v.Stale) != 1 || v.Stale[0] != "TestB" {
		t.Errorf("verdict: %+v", v)
	}
	if names := External("net", list); len(names) != 1 || names[0] != "TestNet" {
		t.Errorf("external: %v, want TestNet", names)
	}
	for _, text := range []string{"net TestA", "nowhere TestA reason"} {
		if _, err := parseExceptions(text, "1.26"); err == nil {
			t.Errorf("the line %q was accepted", text)
		}
	}
}

func TestDoc(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	begin, end := marks("1.26")
	if err := os.WriteFile(file, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	v := &Verdict{Package: "net", Real: 3, Sim: 2, Result: &Result{}, Listed: []Exception{{Test: "TestA", Reason: "raw sockets"}}}
	other := &Verdict{Package: "os", Real: 10, Sim: 9, Result: &Result{}, Broken: []Test{{Name: "TestB"}}}
	for _, verdicts := range [][]*Verdict{{other}, {v}, {v}} { // what another run has written stays
		if err := WriteDoc(file, "1.26", NewReport("go1.26.8", verdicts)); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	promised, err := Promised(string(page), "1.26")
	if err != nil || len(promised) != 2 || promised["net"] != 66.7 || promised["os"] != 90 || strings.Count(string(page), "TestA: raw sockets") != 1 || !strings.Contains(string(page), "TestB") {
		t.Errorf("the page promises %v, %v; want 66.7 for net and 90 for os, and both lists:\n%s", promised, err, page)
	}
	if _, err := Promised(string(page), "1.27"); err == nil {
		t.Error("a release without a section was accepted")
	}
}
