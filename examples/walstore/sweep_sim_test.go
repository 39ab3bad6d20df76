//go:build dst

package main_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/examples/walstore/wal"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

const (
	sweepRecords = 7
	perPoint     = 128 // states that are looked at, at one point
	dir          = "/var/lib/log"
)

// data is what record seq of the sweep holds: most records reach into several sectors.
func data(seq uint64) string { return strings.Repeat(fmt.Sprintf("record %d;", seq), 40+int(seq)*7) }

// TestSweep loses the power at every point of a short workload on the log, in every way
// that the disk could, and recovers from each. It needs no seeds: that every call on
// the disk takes a millisecond puts one point into each millisecond.
func TestSweep(t *testing.T) {
	for _, bug := range []wal.Bug{wal.NoBug, wal.NoSync, wal.TornAccepted, wal.DirNotSynced, wal.StopsEarly} {
		for _, model := range models {
			t.Run(nameOf(bug)+"/"+model.String(), func(t *testing.T) {
				dst.Run(t, func(w *dst.World) {
					s := sweep{w: w, cfg: wal.Config{Dir: dir, SegmentSize: 2048, Bug: bug}}
					s.run(model)
					t.Logf("%d points, %d states (all that there were: %v): %v", s.points, s.states, s.all, s.wrong)
					if bug == wal.NoBug && s.states < 100 {
						w.Failf("only %d states", s.states)
					}
					if (s.wrong != nil) != (bug != wal.NoBug) {
						w.Failf("after %d states: %v", s.states, s.wrong)
					}
				}, dst.Seeds(1))
			})
		}
	}
}

type sweep struct {
	w               *dst.World
	cfg             wal.Config
	written, synced atomic.Uint64 // last records
	ended           atomic.Bool

	points, states int
	all            bool
	wrong          error // the sweep ends with it
}

func (s *sweep) run(model simfs.Model) {
	s.all = true
	h := s.w.Host("log")
	h.Disk().SetModel(model)
	const call = time.Millisecond
	h.Disk().SetFaults(simfs.Faults{WriteLatency: simnet.Constant(call), SyncLatency: simnet.Constant(call), MetadataLatency: simnet.Constant(call)})
	h.Go(func() {
		if err := s.workload(); err != nil {
			s.w.Failf("%v", err)
		}
		s.ended.Store(true)
	})
	for !s.ended.Load() {
		time.Sleep(call / 2) // the call that was waiting is done, the next one waits
		h.Pause()
		s.points++
		states, all := h.Disk().CrashStates(perPoint)
		s.all = s.all && all
		for _, state := range states {
			s.states++
			if s.wrong = s.recover(state); s.wrong != nil {
				return
			}
		}
		h.Resume()
	}
}

// workload writes records, syncs every other one, and makes a snapshot.
func (s *sweep) workload() error {
	l, _, err := wal.Open(s.cfg)
	if err != nil {
		return err
	}
	for seq := uint64(1); seq <= sweepRecords; seq++ {
		s.written.Store(seq)
		if err := l.Append(wal.Record{Seq: seq, Data: []byte(data(seq))}); err != nil {
			return err
		}
		if seq%2 == 0 {
			if err := l.Sync(); err != nil {
				return err
			}
			s.synced.Store(seq)
		}
		if seq == 6 {
			if err := l.Snapshot(4, []byte(data(4))); err != nil {
				return err
			}
		}
	}
	return nil
}

// recover opens the log on what is left of the disk, looks at it, writes two records more,
// and opens it again, as after a crash.
func (s *sweep) recover(state *simfs.Snapshot) (err error) {
	h := s.w.Host("recovered")
	h.Crash()
	h.Disk().Restore(state)
	h.Boot(nil).Do(func() {
		var l *wal.Log
		var last uint64
		if l, last, err = open(s.cfg); err != nil {
			return
		}
		if written, synced := s.written.Load(), s.synced.Load(); last < synced || last > written {
			err = fmt.Errorf("%d records were recovered; %d were written, and %d synced", last, written, synced)
			return
		}
		for range 2 {
			last++
			if err = l.Append(wal.Record{Seq: last, Data: []byte(data(last))}); err == nil {
				err = l.Sync()
			}
			if err != nil {
				return
			}
		}
		l.Close()
		var again uint64
		if l, again, err = open(s.cfg); err == nil && again != last {
			err = fmt.Errorf("%d records were recovered after a loss of power, two more synced; after a crash there were %d", last-2, again)
		}
		if l != nil {
			l.Close()
		}
	})
	return err
}

// open opens the log, looks at what is in it, and returns the number of the last
// record.
func open(cfg wal.Config) (*wal.Log, uint64, error) {
	l, r, err := wal.Open(cfg)
	if err != nil {
		return nil, 0, err
	}
	if r.Snapshot != nil && (r.Seq != 4 || string(r.Snapshot) != data(4)) {
		err = fmt.Errorf("the snapshot of %d is %.20q…", r.Seq, r.Snapshot)
	}
	last := r.Seq
	for _, rec := range r.Records {
		if last++; rec.Seq != last || string(rec.Data) != data(last) {
			err = fmt.Errorf("record %d, number %d in order, is not what was written", rec.Seq, last)
			break
		}
	}
	if err != nil {
		l.Close()
		return nil, 0, err
	}
	return l, last, nil
}
