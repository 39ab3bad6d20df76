package dst

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simnet"
)

const testCommand = "go run github.com/dstkit/dst/cmd/dstrewrite test"

// noSimulator is the one line that a test says when it cannot simulate.
func noSimulator(pkg string) string {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return "dst: simulation runs on linux (amd64, arm64), not on " + runtime.GOOS + "/" + runtime.GOARCH
	}
	return "dst: this test binary was built without the simulator; run: " + testCommand + " " + pkg
}

// Run runs body in a world of its own for each of several seeds: each is a
// subtest named seed=N, and they run one after the other. Which seeds, the person
// who runs the tests decides (see the package documentation); otherwise [Seeds]
// does, or it is the first [DefaultSeeds].
//
// Body is the test's own goroutine in the world. The world ends when body
// returns: what was given to [World.Always] is checked once more, and every
// goroutine left is destroyed without its deferred calls. A seed fails by
// [World.Failf] and the like, by a panic, by a host's main that returns an error,
// by a deadlock, and by all that fails a test. T.FailNow and t.SkipNow of the
// test may be called from body, and end it; from another goroutine they end only
// that. Prefer [World.Failf] to t.Errorf, which marks the test: under which seed
// is known for the first that it fails.
//
// Run fails the test at once if the binary has no simulator in it (it was not
// built by dstrewrite), if it is called inside of a world, and if the seeds asked
// for make no sense. Worlds of one process never run at the same time: of
// parallel tests, one seed runs at a time.
func Run(t *testing.T, body func(w *World), opts ...Option) {
	t.Helper()
	if sw := sched.Current(); sw != nil {
		t.Fatalf("dst: Run was called inside of a world (seed %d); worlds do not nest: call Run from the test itself", sw.Seed())
	}
	if !sched.Available() {
		t.Fatal(noSimulator(packagePath()))
	}
	r := &runner{t: t, body: body, c: config{seeds: DefaultSeeds}}
	for _, opt := range opts {
		opt(&r.c)
	}
	spans, err := askedSeeds()
	if err == nil {
		r.c.level, err = verbose.number()
	}
	if err == nil {
		var n int
		n, err = checking.number()
		r.checked = n > 0
	}
	if err != nil {
		t.Fatalf("dst: %v", err)
	}
	if spans == nil {
		spans = []span{{1, r.c.seeds}}
	}
	for _, s := range spans {
		for seed := s.lo; ; seed++ {
			t.Run("seed="+strconv.FormatUint(seed, 10), func(t *testing.T) {
				t.Helper()
				r.run(t, seed)
			})
			if seed == s.hi || t.Skipped() {
				break
			}
		}
	}
}

// A runner runs the seeds of one test.
type runner struct {
	t       *testing.T // that Run was called with
	body    func(*World)
	c       config
	checked bool // -dst.check
	failed  int  // seeds so far
}

// running is held while a world runs.
var running sync.Mutex

// run runs one seed, whose subtest is t.
func (r *runner) run(t *testing.T, seed uint64) {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	before := r.t.Failed()
	twice := r.c.twice || r.checked
	traces, _ := tracing.value()
	captures, _ := capturing.value()
	w := r.world(seed, twice || traces != "", captures != "")
	skipped := w.exited() && r.t.Skipped() && (before || !r.t.Failed())
	if twice && !skipped {
		other := r.world(seed, true, false) // a capture changes nothing, and this shows it
		w.compare(other)
	}
	if traces != "" && !skipped {
		r.compareFile(traces, w)
	}
	if captures != "" && !skipped {
		r.writeCapture(captures, w)
	}
	if len(w.failures) == 0 {
		switch {
		case t.Failed(): // a data race: package testing has said so
			w.fail("the race detector or package testing found the failure that is told above", "")
		case !before && r.t.Failed():
			w.fail("t.Error, t.Fail or the like was called", "")
		case w.exited() && !skipped:
			w.fail("body ended early, by t.FailNow or runtime.Goexit", "")
		}
	}
	result := "ok"
	if len(w.failures) > 0 {
		result = "FAIL"
	}
	if r.c.level >= 1 {
		fmt.Fprintf(os.Stdout, "seed=%d fingerprint=%#016x steps=%d virtual=%v %s\n", seed, w.Fingerprint(), w.Steps(), w.Elapsed(), result)
		for _, gap := range w.gaps {
			t.Logf("not simulated: %s", gap)
		}
	}
	for _, s := range w.spins.all() {
		t.Log(s)
	}
	if w.captureErr != nil {
		t.Log(w.captureErr)
	}
	switch {
	case len(w.failures) > 0:
		r.failed++
		t.Error(r.describe(t, w))
	case skipped:
		t.SkipNow()
	}
}

// world makes a world and runs it to its end.
func (r *runner) world(seed uint64, record, capture bool) *World {
	w := newWorld(seed, &r.c)
	if record {
		w.sw.Record()
	}
	if capture {
		w.net.Capture(&w.packets, simnet.CaptureOptions{})
	}
	current.Store(w)
	err := w.sw.Run(func() { w.main(r.body) })
	w.ended.Store(true)
	current.Store(nil)
	w.captureErr = w.net.StopCaptures()
	w.sys.close()
	if err != nil && err != errStopped {
		text, rest, _ := strings.Cut(err.Error(), "\n")
		w.fail(text, strings.TrimPrefix(rest, "\n"))
	}
	return w
}

// exited tells whether body ended by runtime.Goexit, as t.FailNow and t.SkipNow
// end it, and not by a failure of the world.
func (w *World) exited() bool { return !w.returned && len(w.failures) == 0 }

// compare fails the seed if the other run of it differs.
func (w *World) compare(other *World) {
	if d := w.sw.Trace().Diff(other.sw.Trace()); d != nil {
		w.parted(d)
	} else if a, b := w.Fingerprint(), other.Fingerprint(); a != b {
		w.fail(fmt.Sprintf("two runs of one seed have the fingerprints %#x and %#x, though their steps are the same", a, b), "")
	}
}

func (w *World) parted(d *sched.Divergence) {
	text, rest, _ := strings.Cut(d.Error(), "\n")
	w.fail(text, strings.TrimPrefix(rest, "\n"))
}

// spins are the notes of goroutines that had to be interrupted. They come from
// outside of the world.
type spins struct {
	mu   sync.Mutex
	list []string
}

func (s *spins) add(host, stack string) {
	if host == "" {
		host = "(none: the test itself)"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, fmt.Sprintf("host %s computes for seconds without a scheduling point, and was interrupted; another run of the seed may differ from here on\n%s", host, stack))
}

func (s *spins) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}
