//go:build dst

package outage

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/examples/internal/ledger"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// A Plan says what runs, and what befalls it.
type Plan struct {
	Open  func() (Store, error) // called on the host
	Model simfs.Model

	Writers, Keys, Largest int // Largest is the length of values, at most
	Unsynced               int // of ten transactions, so many need not be durable
	Rounds                 int // losses of power or process

	// CrashKeeps tells that what was acknowledged without being durable is there
	// after a crash of the process: the store keeps no writes in memory.
	CrashKeeps bool

	Errors bool // in some rounds writes fail: EIO and ENOSPC
	Fsync  bool // in some rounds fsync fails: EIO, once, and the pages are clean
	Rare   bool // Broken may find nothing
	States int  // at each loss of power, recover from so many of the states that it could leave
}

// how a round ends.
const (
	power = iota // of the machine
	crash        // of the process
	twice        // the process crashes, and the power is gone before the next has done much
	numEnds
)

// A run is one world.
type run struct {
	Plan
	w   *dst.World
	h   *dst.Host
	led *ledger.Ledger
	t   *Tally

	mu     sync.Mutex // never held while waiting
	open   bool       // the store was opened, and is what it must be
	failed error      // why the process has ended itself: a write failed
	faulty bool       // calls fail, by order
	bound  ledger.Mark
	lasts  bool // what is recovered now is durable
	broken error
}

// Run carries the plan out and returns the first thing that must not be.
func (p Plan) Run(w *dst.World, t *Tally) error {
	r := &run{Plan: p, w: w, t: t, led: ledger.New(p.Writers, p.Keys), bound: make(ledger.Mark, p.Writers), lasts: true}
	r.h = w.Host("db", r.main)
	r.h.Disk().SetModel(p.Model)
	if err := r.h.Disk().MkdirAll(Dir); err != nil {
		return err
	}
	err := r.rounds()
	r.t.add(r.led.Counts(), w.Elapsed())
	return err
}

func (r *run) rounds() error {
	rng := r.w.Rand()
	for round := range r.Rounds {
		r.set(round > 0)
		if rng.IntN(4) > 0 { // else it may be killed before it is open
			if err := r.opened(); err != nil {
				return err
			}
		} else {
			r.t.Early++
		}
		// Any moment: from a few calls to some thousand.
		time.Sleep(time.Duration(float64(10*time.Microsecond) * math.Exp2(rng.Float64()*13)))
		if err := r.violation(); err != nil {
			return err
		}
		switch end := rng.IntN(numEnds); end {
		case crash:
			r.crash()
		case twice:
			r.crash()
			r.boot(r.CrashKeeps, false)
			time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
			fallthrough
		case power:
			if err := r.loss(round); err != nil {
				return err
			}
		}
		if err := r.violation(); err != nil {
			return err
		}
	}
	r.set(false)
	if err := r.opened(); err != nil {
		return err
	}
	time.Sleep(20 * time.Millisecond)
	return r.violation()
}

// set says how the disk does from now on.
func (r *run) set(may bool) {
	rng := r.w.Rand()
	f := simfs.Faults{
		ReadLatency:     simnet.Uniform(0, 20*time.Microsecond),
		WriteLatency:    simnet.Uniform(time.Microsecond, 50*time.Microsecond),
		SyncLatency:     simnet.Exponential(200 * time.Microsecond),
		MetadataLatency: simnet.Uniform(time.Microsecond, 100*time.Microsecond),
	}
	if rng.IntN(5) == 0 { // a slow disk
		f.SyncLatency = simnet.Exponential(10 * time.Millisecond)
	}
	faulty := false
	if r.Errors && may && rng.IntN(3) == 0 {
		f.WriteError, f.NoSpace, faulty = 0.01, 0.02, true
		r.t.Faulty++
	}
	if r.Fsync && may && rng.IntN(3) == 0 {
		f.SyncError, faulty = 0.05, true
		r.t.Faulty++
	}
	r.mu.Lock()
	r.faulty = faulty
	r.mu.Unlock()
	r.h.Disk().SetFaults(f)
}

func (r *run) crash() {
	r.t.Crashes++
	r.h.Crash()
	r.boot(r.CrashKeeps, false)
}

// loss lets the machine lose its power, after a look at what else that could leave.
func (r *run) loss(round int) error {
	r.t.Losses++
	if r.States > 0 {
		if err := r.states(round); err != nil {
			return err
		}
	}
	r.h.PowerLoss()
	r.boot(false, true)
	return nil
}

// states recovers from what a loss of power could leave now, each time on a host of
// its own.
func (r *run) states(round int) error {
	r.h.Pause()
	states, all := r.h.Disk().CrashStates(r.States)
	m := r.led.Durable()
	r.t.States += len(states)
	if all {
		r.t.Whole++
	}
	for i, state := range states {
		h := r.w.Host(fmt.Sprintf("r%d-s%d", round, i))
		h.Disk().Restore(state)
		err := errors.New("panic: see the log")
		h.Do(func() {
			err = r.guarded(func() error {
				s, got, err := r.recover()
				if err != nil {
					return err
				}
				if err := r.led.Fits(m, got); err != nil {
					return err
				}
				return s.Close()
			})
		})
		h.Crash()
		if err != nil {
			return fmt.Errorf("%w (state %d of %d in round %d)", err, i, len(states), round)
		}
	}
	return nil
}

// boot starts the host again. The store has to have all that was acknowledged, or,
// without kept, all that was durable.
func (r *run) boot(kept, lasts bool) {
	m := r.led.Durable()
	if kept && !r.unsure() {
		m = r.led.Mark()
	}
	r.mu.Lock()
	r.open, r.failed = false, nil
	r.bound, r.lasts = m, lasts
	r.mu.Unlock()
	r.h.Restart()
}

// unsure tells that the ledger has not yet been told what is there.
func (r *run) unsure() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.open
}

// opened waits until the store is open, and what it must be.
func (r *run) opened() error {
	for from := r.w.Elapsed(); ; time.Sleep(50 * time.Microsecond) {
		r.mu.Lock()
		open, failed, broken := r.open, r.failed, r.broken
		r.mu.Unlock()
		switch {
		case broken != nil:
			return broken
		case failed != nil || !r.h.Running(): // it has ended itself
			r.t.Ended++
			r.set(false)
			r.h.Crash()
			r.boot(false, false)
		case open:
			return nil
		case r.w.Elapsed()-from > time.Minute:
			return &ledger.Violation{Kind: "stuck", What: "the store is not open after a minute"}
		}
	}
}

func (r *run) violation() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

func (r *run) breaks(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken == nil && err != nil {
		r.broken = err
	}
}

// fail is told of an error of a call of the store. If calls fail by order that ends
// the process, as it should.
func (r *run) fail(kind string, err error) {
	if v := (*ledger.Violation)(nil); errors.As(err, &v) {
		r.breaks(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.faulty && r.failed == nil {
		r.failed = err
	} else if r.broken == nil && r.failed == nil {
		r.broken = &ledger.Violation{Kind: kind, What: err.Error()}
	}
}

// guarded calls f and makes an error of a panic, or of a touch of memory that a
// mapped file does not reach.
func (r *run) guarded(f func() error) (err error) {
	debug.SetPanicOnFault(true)
	defer func() {
		if p := recover(); p != nil {
			err = &ledger.Violation{Kind: "panic", What: fmt.Sprintf("%.200v\n%s", p, debug.Stack())}
		}
	}()
	return f()
}

// recover opens the store and returns what is in it.
func (r *run) recover() (Store, []map[string]string, error) {
	s, err := r.Open()
	if err != nil {
		return nil, nil, &ledger.Violation{Kind: "not open", What: err.Error()}
	}
	got, err := s.All()
	if err != nil {
		return nil, nil, &ledger.Violation{Kind: "not read", What: err.Error()}
	}
	if err := s.Check(); err != nil {
		return nil, nil, &ledger.Violation{Kind: "damaged", What: err.Error()}
	}
	return s, got, nil
}

// main is the program of the host.
func (r *run) main() error {
	r.guard(func() error {
		s, got, err := r.recover()
		if err != nil {
			r.mu.Lock()
			faulty := r.faulty
			if faulty {
				r.failed = err
			}
			r.mu.Unlock()
			if faulty {
				return nil
			}
			return err
		}
		if err := r.led.Recovered(r.bound, got, r.lasts); err != nil {
			return err
		}
		r.mu.Lock()
		r.open = true
		r.mu.Unlock()
		r.use(s)
		return nil
	})
	select {}
}

// guard calls f on this goroutine and keeps what must not be.
func (r *run) guard(f func() error) {
	r.breaks(r.guarded(f))
}

// use lets writers, a reader and the store's upkeep work until the end of the process.
func (r *run) use(s Store) {
	for i := range r.Writers {
		go r.guard(func() error {
			rng := r.w.Rand()
			for {
				tx := r.led.Begin(i, rng, r.Largest)
				durable := rng.IntN(10) >= r.Unsynced
				if err := s.Apply(tx, durable); err != nil {
					r.fail("write", err)
					return nil // and does not go on: the outcome is not known
				}
				r.led.Acked(tx, durable)
				if rng.IntN(4) == 0 {
					time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond)
				}
			}
		})
	}
	go r.guard(func() error {
		for rng := r.w.Rand(); ; time.Sleep(time.Duration(rng.IntN(5000)) * time.Microsecond) {
			m := r.led.Mark()
			got, err := s.All()
			if err == nil {
				err = r.led.Look(m, got)
			}
			if err != nil {
				r.fail("reader", err)
				return nil
			}
		}
	})
	go r.guard(func() error {
		for rng := r.w.Rand(); ; {
			time.Sleep(time.Duration(rng.IntN(20000)) * time.Microsecond)
			if err := s.Maintain(rng.IntN(1 << 30)); err != nil {
				r.fail("upkeep", err)
				return nil
			}
		}
	})
}
