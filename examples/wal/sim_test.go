//go:build dst

package wal

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"

	"github.com/dstkit/dst/examples/internal/outage"
)

// A tally is what happened in the runs of a test.
type tally struct {
	runs, losses, crashes, states int
	written, fronts, backs        int
	recovered, unacked, forgotten int
}

// A model is what a log may hold: what it held after the last operation that was
// acknowledged, or after the one that was begun.
type model struct {
	first   uint64   // index of entries[0]
	entries []string // acknowledged
	pending []string // being appended
	front   uint64   // being truncated to, at the front
	back    uint64   // at the back
}

// accepts tells why a log that was recovered is not what it may be.
func (m *model) accepts(first uint64, got []string) error {
	// The front: before or after a truncation.
	if first != m.first && first != m.front {
		if first < m.first {
			return fmt.Errorf("resurrected: the log begins at %d, it was cut off up to %d", first, m.first)
		}
		return fmt.Errorf("lost: the log begins at %d, it should at %d", first, m.first)
	}
	want := slices.Concat(m.entries, m.pending)[first-m.first:]
	least := len(m.entries) - int(first-m.first)
	if m.back > 0 {
		least = int(m.back-first) + 1
	}
	for i, e := range got {
		if i == len(want) {
			return fmt.Errorf("resurrected: %d entries, of which the first %d were written: %.30q", len(got), len(want), e)
		}
		if e != want[i] {
			return fmt.Errorf("wrong: entry %d is %.30q (%d bytes), %.30q (%d bytes) was written", first+uint64(i), e, len(e), want[i], len(want[i]))
		}
	}
	if len(got) < least {
		return fmt.Errorf("lost: %d entries from %d, %d were acknowledged", len(got), first, least)
	}
	if m.back > 0 && len(got) > least && len(got) < len(want) {
		return fmt.Errorf("torn: %d entries, of %d or %d", len(got), least, len(want))
	}
	return nil
}

// A run is one world: a host that writes to a log, until it is killed, again and again.
type run struct {
	w    *dst.World
	h    *dst.Host
	care care
	t    *tally

	mu     sync.Mutex // never held while waiting
	m      model
	open   bool
	broken error
	next   int
}

func (r *run) get() (open bool, broken error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open, r.broken
}

// guarded calls f and makes an error of a panic.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// recover opens the log and reads it.
func (r *run) recover() (j *journal, first uint64, got []string, err error) {
	err = guarded(func() error {
		if j, err = open(r.care); err != nil {
			return fmt.Errorf("not open: %w", err)
		}
		if first, got, err = j.all(); err != nil {
			return fmt.Errorf("not read: %w", err)
		}
		return nil
	})
	return j, first, got, err
}

func (r *run) main() error {
	j, first, got, err := r.recover()
	r.mu.Lock()
	if err == nil {
		err = r.m.accepts(first, got)
	}
	if err == nil {
		r.t.recovered++
		want := len(r.m.entries) - int(first-r.m.first)
		r.t.unacked += max(0, len(got)-want)
		if len(got) < want && r.m.back == 0 {
			r.t.forgotten++
		}
		r.m = model{first: first, entries: got}
		r.open = true
	} else if r.broken == nil {
		r.broken = err
	}
	r.mu.Unlock()
	if err == nil {
		if err := guarded(func() error { return r.use(j) }); err != nil {
			r.mu.Lock()
			r.broken = err
			r.mu.Unlock()
		}
	}
	select {}
}

// use appends and truncates.
func (r *run) use(j *journal) error {
	rng := r.w.Rand()
	for {
		n := uint64(len(r.m.entries))
		last := r.m.first + n - 1
		switch k := rng.IntN(12); {
		case k == 0 && n > 2 && r.care != keeps:
			r.m.front = r.m.first + rng.Uint64N(n)
			if err := j.truncate(true, r.m.front); err != nil {
				return fmt.Errorf("truncation of the front: %w", err)
			}
			r.mu.Lock()
			r.m = model{first: r.m.front, entries: r.m.entries[r.m.front-r.m.first:]}
			r.t.fronts++
			r.mu.Unlock()
		case k == 1 && n > 2 && r.care != keeps:
			r.m.back = last - rng.Uint64N(min(n, 8))
			if err := j.truncate(false, r.m.back); err != nil {
				return fmt.Errorf("truncation of the back: %w", err)
			}
			r.mu.Lock()
			r.m = model{first: r.m.first, entries: r.m.entries[:r.m.back-r.m.first+1]}
			r.t.backs++
			r.mu.Unlock()
		default:
			entries := make([]string, 1+rng.IntN(3))
			for i := range entries {
				r.next++
				entries[i] = entry(rng, r.next)
			}
			r.m.pending = entries
			if err := j.append(last+1, entries); err != nil {
				return fmt.Errorf("append: %w", err)
			}
			r.mu.Lock()
			r.m.entries, r.m.pending = slices.Concat(r.m.entries, entries), nil
			r.t.written += len(entries)
			r.mu.Unlock()
		}
		if rng.IntN(3) == 0 {
			time.Sleep(time.Duration(rng.IntN(500)) * time.Microsecond)
		}
	}
}

func entry(rng *rand.Rand, n int) string {
	size := rng.IntN(200)
	if rng.IntN(6) == 0 {
		size = rng.IntN(9000)
	}
	return sealed(fmt.Sprintf("%d %s.", n, strings.Repeat(string(rune('a'+n%26)), size)))
}

// go runs the run, and returns the first thing that must not be.
func (r *run) rounds(rounds, states int, crashes bool, m simfs.Model) error {
	rng := r.w.Rand()
	r.m.first = 1
	r.t.runs++
	r.h = r.w.Host("db", r.main)
	r.h.Disk().SetModel(m)
	r.h.Disk().SetFaults(simfs.Faults{
		WriteLatency:    simnet.Uniform(time.Microsecond, 50*time.Microsecond),
		SyncLatency:     simnet.Exponential(200 * time.Microsecond),
		MetadataLatency: simnet.Uniform(time.Microsecond, 50*time.Microsecond),
	})
	for round := range rounds {
		if rng.IntN(4) > 0 {
			if err := r.opened(); err != nil {
				return err
			}
		}
		time.Sleep(time.Duration(float64(10*time.Microsecond) * math.Exp2(rng.Float64()*12)))
		if _, err := r.get(); err != nil {
			return err
		}
		switch {
		case crashes && rng.IntN(3) == 0:
			r.t.crashes++
			r.h.Crash()
		default:
			r.t.losses++
			if err := r.states(round, states); err != nil {
				return err
			}
			r.h.PowerLoss()
		}
		r.mu.Lock()
		r.open = false
		r.mu.Unlock()
		r.h.Restart()
	}
	if err := r.opened(); err != nil {
		return err
	}
	time.Sleep(5 * time.Millisecond)
	_, err := r.get()
	return err
}

func (r *run) opened() error {
	for from := r.w.Elapsed(); ; time.Sleep(50 * time.Microsecond) {
		if open, err := r.get(); open || err != nil {
			return err
		}
		if r.w.Elapsed()-from > time.Minute {
			return errors.New("stuck: the log is not open after a minute")
		}
	}
}

// states recovers from what a loss of power could leave now.
func (r *run) states(round, n int) error {
	if n == 0 {
		return nil
	}
	r.h.Pause()
	states, _ := r.h.Disk().CrashStates(n)
	r.t.states += len(states)
	for i, state := range states {
		h := r.w.Host(fmt.Sprintf("r%d-s%d", round, i))
		h.Disk().Restore(state)
		var err error
		h.Do(func() {
			var first uint64
			var got []string
			if _, first, got, err = r.recover(); err == nil {
				err = r.m.accepts(first, got)
			}
		})
		h.Crash()
		if err != nil {
			return fmt.Errorf("%w (state %d of %d in round %d)", err, i, len(states), round)
		}
	}
	return nil
}

// TestWAL runs the library as it is, and with more and more care, and tells how often
// what was acknowledged is not there, or more than was written. With all care nothing
// goes wrong, on the file system that the machine is most likely to have.
func TestWAL(t *testing.T) {
	for c := range numCares {
		for _, m := range outage.Models {
			t.Run(c.String()+"/"+m.String(), func(t *testing.T) {
				var s tally
				caught, first, kinds := 0, uint64(0), map[string]int{}
				dst.Run(t, func(w *dst.World) {
					r := &run{w: w, care: c, t: &s}
					err := r.rounds(8, 0, true, m)
					if err == nil {
						return
					}
					if (c == tail || c == checked || c == keeps) && m == simfs.Ordered {
						w.Fatalf("%v", err)
					}
					if caught++; caught == 1 {
						first = w.Seed()
						t.Logf("seed %d: %.900v", first, err)
					}
					kind, rest, _ := strings.Cut(err.Error(), ": ")
					if strings.HasPrefix(kind, "not") {
						kind, _, _ = strings.Cut(kind+": "+rest, " (")
					}
					kinds[kind]++
				}, dst.Seeds(20))
				t.Logf("%d of %d seeds, first %d: %v", caught, s.runs, first, kinds)
				for _, k := range slices.Sorted(maps.Keys(kinds)) {
					t.Logf("%4d × %s", kinds[k], k)
				}
				t.Logf("%+v", s)
				if s.runs >= 20 && caught == 0 && (c == none || c == noSync) {
					t.Error("nothing was seen: the test tests nothing")
				}
				if s.runs >= 20 && c == keeps && (s.losses < 2*s.runs || s.recovered < 4*s.runs || s.written < 20*s.runs) {
					t.Error("that is too little")
				}
			})
		}
	}
}
