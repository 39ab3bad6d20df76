//go:build dst

package dst_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dstkit/dst"
)

// asked tells that the seeds are not the test's own choice.
func asked() bool { return os.Getenv("DST_SEED") != "" || os.Getenv("DST_SEEDS") != "" }

func TestSeedsOfARun(t *testing.T) {
	if asked() {
		t.Skip("other seeds are asked for")
	}
	var got []uint64
	body := func(w *dst.World) { got = append(got, w.Seed()) }
	dst.Run(t, body)
	if fmt.Sprint(got) != "[1 2 3 4 5]" {
		t.Errorf("without options: seeds %v", got)
	}
	got = nil
	t.Run("two", func(t *testing.T) { dst.Run(t, body, dst.Seeds(2)) })
	if fmt.Sprint(got) != "[1 2]" {
		t.Errorf("Seeds(2): seeds %v", got)
	}
}

func init() {
	children["line"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			time.Sleep(3 * time.Second)
			if w.Seed() == 2 {
				w.Failf("no good")
			}
		}, dst.Seeds(7))
	}
}

var seedLine = regexp.MustCompile(`(?m)^seed=(\d+) fingerprint=0x[0-9a-f]{16} steps=\d+ virtual=3\.0\d*s (ok|FAIL)$`)

func TestLineForEachSeed(t *testing.T) {
	seeds := func(r result) string {
		var list []string
		for _, m := range seedLine.FindAllStringSubmatch(r.out, -1) {
			list = append(list, m[1]+" "+m[2])
		}
		return strings.Join(list, ", ")
	}
	for _, tt := range []struct {
		env, args []string
		want      string
	}{
		{nil, []string{"-dst.v", "-dst.seeds=1-3,9"}, "1 ok, 2 FAIL, 3 ok, 9 ok"},
		{[]string{"DST_V=1", "DST_SEEDS=3"}, nil, "1 ok, 2 FAIL, 3 ok"},
		{[]string{"DST_V=1", "DST_SEED=0xffffffffffffffff"}, nil, "18446744073709551615 ok"},
		{[]string{"DST_V=1", "DST_SEEDS=3"}, []string{"-dst.v=0"}, ""},
		{[]string{"DST_SEEDS=3"}, []string{"-dst.seed=8", "-dst.v"}, "8 ok"},
		{nil, []string{"-dst.v"}, "1 ok, 2 FAIL, 3 ok, 4 ok, 5 ok, 6 ok, 7 ok"},
		{nil, []string{"-dst.v", "-test.run=^TestChild$/^seed=6$"}, "6 ok"},
	} {
		r := runChildEnv(t, "line", tt.env, tt.args...)
		if got := seeds(r); got != tt.want {
			t.Errorf("%v %v: got %s, want %s:\n%s", tt.env, tt.args, got, tt.want, r.out)
		}
	}
}

// A bad request is told once and in one line, by the flag's or variable's name.
func TestBadRequests(t *testing.T) {
	runChild(t, "line", "-dst.seeds=9-5").has(t, `dst: -dst.seeds=9-5: the range "9-5" ends before it begins; write`).hasNot(t, "Usage")
	runChildEnv(t, "line", []string{"DST_SEEDS=5-x"}).has(t, `dst: DST_SEEDS=5-x: in "5-x": "x" is not a seed`)
	runChildEnv(t, "line", []string{"DST_SEED=one"}).has(t, `dst: DST_SEED=one: "one" is not a seed`)
	runChild(t, "line", "-dst.seed=").has(t, "dst: -dst.seed=: no seed is given")
	runChildEnv(t, "line", []string{"DST_V=loud"}).has(t, "dst: DST_V=loud: ")
	runChildEnv(t, "line", []string{"DST_CHECK=perhaps"}).has(t, "dst: DST_CHECK=perhaps: ")
}

func init() {
	children["report"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Host("a", func() error {
				fmt.Println("a is up")
				fmt.Fprintln(os.Stderr, "a complains")
				time.Sleep(time.Hour)
				return nil
			})
			time.Sleep(time.Second)
			w.Net().Down("a")
			w.Host("a").Crash()
			w.Logf("at %d", 1)
			w.Failf("the %s", "first")
			w.Failf("the second")
		}, dst.Seeds(1))
	}
}

func TestReport(t *testing.T) {
	r := runChild(t, "report").has(t,
		"--- FAIL: TestChild/seed=1",
		"run_sim_test.go:", // where Run was called
		"seed 1 failed at 1.000",
		"s of virtual time: run_sim_test.go:", ": the first\n",
		"then at 1.000", ": the second\n",
		"rerun: go run github.com/dstkit/dst/cmd/dstrewrite test"+raceFlag+" -run '^TestChild$/^seed=1$' github.com/dstkit/dst -dst.seed=1\n",
		"s a        a is up\n", "s a        a complains\n", "s -        interface of a down\n", "s -        a crashes\n", "s -        at 1\n",
	)
	// The report outlives the process, and has everything.
	m := regexp.MustCompile(`report: (\S+)`).FindStringSubmatch(r.out)
	if m == nil {
		t.Fatalf("no report is named:\n%s", r.out)
	}
	data, err := os.ReadFile(m[1])
	if err != nil {
		t.Fatal(err)
	}
	result{string(data), true}.has(t, "TestChild\nseed 1, fingerprint 0x", "the first", "the second", "a            10.0.0.1     boot 1, down", "a is up", "a crashes", "rerun: ")
	if list, _ := filepath.Glob(filepath.Join(filepath.Dir(m[1]), "*")); len(list) != 1 {
		t.Errorf("beside the report there are %q", list)
	}

	dir := t.TempDir()
	r = runChild(t, "report", "-test.artifacts", "-test.outputdir="+dir).has(t, "report: "+dir+"/_artifacts/")
}

// The command that a failing seed names, as go test would run it.
func TestRerun(t *testing.T) {
	r := runChild(t, "line")
	m := regexp.MustCompile(`-run '(\S+)' \S+ (-dst.seed=2)\n`).FindStringSubmatch(r.out)
	if m == nil {
		t.Fatalf("no command is named:\n%s", r.out)
	}
	runChild(t, "line", "-test.run="+m[1], m[2], "-dst.v").has(t, "seed=2 fingerprint=", " FAIL", "no good").hasNot(t, "seed=1 ")
}

func init() {
	children["many"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Host("a").Do(func() { fmt.Println("chatter") })
			for i := range 30 {
				w.Failf("failure %d", i)
			}
		}, dst.Seeds(200))
	}
}

// Many failures stay readable: all seeds are named, few in full.
func TestManyFailures(t *testing.T) {
	r := runChild(t, "many").has(t, "seed 1 failed", "and 27 failures more", "seed 200 failed", "-dst.seed=200\n")
	if n := strings.Count(r.out, "chatter"); n != 5 {
		t.Errorf("output is shown of %d seeds", n)
	}
	if n := strings.Count(r.out, "report: "); n != 100 {
		t.Errorf("%d seeds have a report", n)
	}
}

func init() {
	children["fatal"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			defer fmt.Printf("deferred %d\n", w.Seed())
			if w.Seed() == 2 {
				t.Fatalf("stop of %d", w.Seed())
			}
			if w.Seed() == 3 {
				t.FailNow()
			}
		}, dst.Seeds(4))
		fmt.Println("after Run")
	}
	children["error"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Host("a").Do(func() { t.Error("bad value") })
			w.Logf("went on")
		}, dst.Seeds(1))
	}
	children["skip"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) { t.Skip("not here") }, dst.Seeds(3))
	}
	children["hostfatal"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Host("a").Do(func() { t.Fatal("on the host") })
			w.Logf("the body goes on, and a runs: %v", w.Host("a").Running())
		}, dst.Seeds(1))
	}
}

// What package testing offers works from inside.
func TestTesting(t *testing.T) {
	runChild(t, "fatal", "-test.v").has(t, "stop of 2", "deferred 1", "deferred 2", "deferred 4", "after Run",
		"--- PASS: TestChild/seed=1", "--- FAIL: TestChild/seed=2", "--- FAIL: TestChild/seed=3", "--- PASS: TestChild/seed=4", "body ended early")
	runChild(t, "error").has(t, "bad value", "--- FAIL: TestChild/seed=1", "t.Error, t.Fail or the like was called", "went on")
	runChild(t, "skip", "-test.v").passes(t).says(t, "not here", "--- SKIP: TestChild/seed=1").hasNot(t, "seed=2")
	runChild(t, "hostfatal").has(t, "on the host", "the body goes on, and a runs: true")
}

func init() {
	children["deadlock"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) { <-make(chan int) }, dst.Seeds(1))
	}
	children["limit"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) { time.Sleep(time.Hour) }, dst.Seeds(1), dst.Limit(time.Minute))
	}
	outside := make(chan int)
	children["escape"] = func(t *testing.T) {
		go func() {
			time.Sleep(50 * time.Millisecond)
			outside <- 1
		}()
		dst.Run(t, func(w *dst.World) {
			go func() {
				for {
					time.Sleep(time.Millisecond)
				}
			}()
			<-outside
		}, dst.Seeds(1), dst.Limit(1000*time.Hour))
	}
	children["bodypanic"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Logf("before")
			panic(fmt.Sprintf("seed %d is bad", w.Seed()))
		}, dst.Seeds(2))
	}
}

// What the scheduler stops a run for fails the seed, not the process.
func TestStopped(t *testing.T) {
	runChild(t, "deadlock").has(t, "seed 1 failed at 0.0", "deadlock: every goroutine waits and no event is pending", "chan receive", "rerun: ")
	runChild(t, "limit").has(t, "still running after 1m0s of virtual time", "sleep", "rerun: ")
	runChild(t, "escape").has(t, "escape: a goroutine outside of the simulation", "rerun: ")
	runChild(t, "bodypanic").has(t, "the test itself panicked: seed 1 is bad", "run_sim_test.go:", "before", "seed 2 is bad", "--- FAIL: TestChild/seed=2").hasNot(t, "dst.panicked")
}

func init() {
	var kept *dst.World
	misuse := func(name string, body func(t *testing.T, w *dst.World)) {
		children["misuse-"+name] = func(t *testing.T) {
			dst.Run(t, func(w *dst.World) { body(t, w) }, dst.Seeds(1))
		}
	}
	main := func() error { time.Sleep(time.Hour); return nil }
	misuse("nest", func(t *testing.T, w *dst.World) { dst.Run(t, func(*dst.World) {}) })
	misuse("unknown", func(t *testing.T, w *dst.World) {
		w.Host("a")
		w.Host("b")
		w.Net().Cut("a", "c")
	})
	misuse("twice", func(t *testing.T, w *dst.World) { w.Host("a", main); w.Host("a", main) })
	misuse("mains", func(t *testing.T, w *dst.World) { w.Host("a", main, main) })
	misuse("nomain", func(t *testing.T, w *dst.World) { h := w.Host("a"); h.Crash(); h.Restart() })
	misuse("name", func(t *testing.T, w *dst.World) { w.Host("a_b") })
	misuse("noname", func(t *testing.T, w *dst.World) { w.Host("") })
	misuse("longname", func(t *testing.T, w *dst.World) { w.Host(strings.Repeat("x", 64)) })
	misuse("number", func(t *testing.T, w *dst.World) { w.Host("1") })
	misuse("down", func(t *testing.T, w *dst.World) { h := w.Host("a"); h.Crash(); h.Do(func() {}) })
	misuse("downgo", func(t *testing.T, w *dst.World) { h := w.Host("a"); h.Stop(); h.Go(func() {}) })
	misuse("env", func(t *testing.T, w *dst.World) { w.Host("a").Env("X") })
	misuse("drift", func(t *testing.T, w *dst.World) { w.Host("a").Clock().Drift(2e6) })
	children["misuse-ended"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) { w.Host("a"); kept = w }, dst.Seeds(1), func() dst.Option { return dst.Limit(time.Hour) }())
		fmt.Println("seed", kept.Seed(), "took", kept.Steps() > 0, kept.Elapsed() > 0, kept.Fingerprint() != 0)
		kept.Host("a")
	}
	children["misuse-other"] = func(t *testing.T) {
		kept = nil
		dst.Run(t, func(w *dst.World) {
			if kept == nil {
				kept = w
			} else {
				kept.Logf("hello")
			}
		}, dst.Seeds(2))
	}
	children["misuse-seeds"] = func(t *testing.T) { dst.Run(t, func(w *dst.World) {}, dst.Seeds(0)) }
}

// Wrong use is told by what to do instead, and never hangs.
func TestMisuse(t *testing.T) {
	for name, want := range map[string][]string{
		"nest":     {"dst: Run was called inside of a world (seed 1)", "--- FAIL: TestChild/seed=1"},
		"unknown":  {`no host "c"; known hosts: a, b`, "--- FAIL: TestChild/seed=1", "rerun: "},
		"twice":    {`host "a" is declared twice`, `w.Host("a").Boot(main)`},
		"mains":    {`Host("a") was given 2 mains`},
		"nomain":   {`Restart of host "a", which has no main to run`, "Boot(main)"},
		"name":     {`the name "a_b" has '_' at 1; a name is letters, digits and hyphens`},
		"noname":   {"a host needs a name"},
		"longname": {"has 64 characters"},
		"number":   {`"1" looks like an address`},
		"down":     {`Do on host "a", which is down (it was crashed or stopped); Restart it first`},
		"downgo":   {`Go on host "a", which is down`},
		"env":      {`Env of host "a": "X" is not KEY=value`},
		"drift":    {"Drift: 2e+06 parts per million"},
		"ended":    {"seed 1 took true true true", "dst: World of seed 1 was used after its end"},
		"other":    {"dst: World of seed 1 was used after its end", "--- FAIL: TestChild/seed=2"},
		"seeds":    {"dst: Seeds(0): want at least 1"},
	} {
		t.Run(name, func(t *testing.T) {
			runChild(t, "misuse-"+name).has(t, want...)
		})
	}
}

func init() {
	calls := 0
	children["twice"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			calls++
			for range calls { // differs from call to call: the program's own fault
				time.Sleep(time.Millisecond)
			}
		}, dst.Seeds(1), dst.Twice())
	}
	// A host that reads a file which the test writes differently before each run.
	children["file"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			calls++
			h := w.Host("reader")
			if err := h.Disk().WriteFile("/etc/reader.conf", []byte(strings.Repeat("x", calls))); err != nil {
				t.Error(err)
			}
			h.Do(func() {
				time.Sleep(time.Second)
				conf, err := os.ReadFile("/etc/reader.conf")
				if err != nil {
					t.Error(err)
				}
				readerWaits(len(conf))
			})
		}, dst.Seeds(1), dst.Twice())
	}
	// A host that does what its process's environment says.
	children["machine"] = func(t *testing.T) {
		waits := len(os.Getenv("DST_TEST_MACHINE"))
		dst.Run(t, func(w *dst.World) {
			w.Host("reader").Do(func() { readerWaits(waits) })
		}, dst.Seeds(2))
	}
	children["steady"] = func(t *testing.T) {
		n := 0
		dst.Run(t, func(w *dst.World) {
			n++
			w.Host("a").Do(func() { time.Sleep(time.Duration(w.Rand().IntN(1000))) })
		}, dst.Seeds(3))
		fmt.Println("calls:", n)
	}
}

func readerWaits(n int) {
	for range n {
		time.Sleep(time.Minute)
	}
}

// A seed whose two runs differ fails, and says where they part.
func TestTwice(t *testing.T) {
	runChild(t, "twice").has(t, "two runs of one seed part at step", "the second run then made", "rerun: ")
	runChild(t, "file").has(t, "two runs of one seed part at step", "1.0000", "host reader goroutine 2 syscall read = 1",
		"host reader goroutine 2 syscall read = 2", "the first run then made", "the second run then made", "os.ReadFile", "run_sim_test.go")
	runChild(t, "steady").passes(t).says(t, "calls: 3")
	runChildEnv(t, "steady", []string{"DST_CHECK=1"}).passes(t).says(t, "calls: 6")
	runChild(t, "steady", "-dst.check").passes(t).says(t, "calls: 6")
}

// A trace that one process leaves is what the next one is compared with.
func TestTraceDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "traces")
	kept, other := []string{"DST_TRACE=" + dir}, []string{"DST_TRACE=" + dir, "DST_TEST_MACHINE=x"}
	runChildEnv(t, "machine", kept).passes(t)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v; want two traces", files, err)
	}
	runChildEnv(t, "machine", kept).passes(t)
	runChild(t, "machine", "-dst.trace="+dir).passes(t)
	runChildEnv(t, "machine", other).has(t, "two runs of one seed part at step", "host reader goroutine",
		"the first run then made", "the second run then made", "dst_test.init", "run_sim_test.go")
	if err := os.WriteFile(filepath.Join(dir, files[0].Name()), []byte("\tgarbage\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	runChildEnv(t, "machine", kept).has(t, "cannot be read; remove it", "line 1 of a trace: a frame before any stack")
}

// Parallel tests take turns: one world at a time.
func TestParallel(t *testing.T) {
	var inside, ran atomic.Int32
	t.Run("group", func(t *testing.T) {
		for i := range 4 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				dst.Run(t, func(w *dst.World) {
					if n := inside.Add(1); n != 1 {
						w.Failf("%d worlds at once", n)
					}
					for range 20 {
						time.Sleep(time.Second)
						runtime.Gosched()
					}
					inside.Add(-1)
					ran.Add(1)
				})
			})
		}
	})
	if ran.Load() == 0 {
		t.Error("nothing ran")
	}
}

// Nothing is left of a world when the next one begins.
func TestNothingIsLeft(t *testing.T) {
	worlds := func(n int) {
		dst.RunWorlds(t, n, func(w *dst.World) {
			for _, name := range []string{"a", "b", "c"} {
				w.Host(name, func() error {
					go func() { select {} }()
					time.AfterFunc(time.Hour, func() { panic("a timer of a world that ended") })
					time.Sleep(time.Hour)
					return errors.New("was not destroyed")
				})
			}
			w.Always("quiet", func() error { return nil })
			w.Host("a").Disk().WriteFile("/data", make([]byte, 10000))
			w.Logf("hello")
			time.Sleep(time.Second)
			w.Host("b").Crash()
		})
	}
	measure := func() (heap uint64, goroutines int) {
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	worlds(200)
	heap0, g0 := measure()
	worlds(2000)
	heap1, g1 := measure()
	if g1 != g0 {
		t.Errorf("%d goroutines before, %d after", g0, g1)
	}
	if heap1 > heap0+100<<10 {
		t.Errorf("the heap grew from %d to %d bytes over 2000 worlds", heap0, heap1)
	}
}
