//go:build dst

package raft

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// Bounds, of virtual time, on calm links.
const (
	elected  = 10 * time.Second // for the first leader
	progress = 20 * time.Second // for a put to succeed, once all is mended
	caughtUp = 30 * time.Second // for all to be voters again, and in one state
)

// A tally is what happened in the runs of a test, one after another.
type tally struct {
	runs                         int
	faults, changed              [numFaults]int // asked for, and come about
	puts, gets, unknown, refused int
	terms, commands              int
	net                          simnet.Counters
	virtual                      time.Duration
	longest                      map[string]time.Duration // that something took
}

// run is one run: a cluster elects a leader, suffers while clients use it, is mended and
// goes on; in the end all have what was acknowledged, in one order. The error is the
// first thing that did not hold.
func run(w *dst.World, hosts, members int, st storage, f flaw, s *tally) error {
	w.Net().SetDefault(calm)
	c := newCluster(w, hosts, members, st, f, s)
	if err := c.within("there is a leader", elected, func() error {
		if c.leader() < 0 {
			return errors.New("there is none")
		}
		return nil
	}); err != nil {
		return err
	}

	w.Net().SetDefault(rough)
	const clients, keys = 4, 3
	c.left = clients
	for id := range clients {
		w.Host(fmt.Sprint("client", id)).Go(func() { c.client(id, keys) })
	}
	c.disturb(40, 2*time.Second)
	w.HealAll()
	c.restore()
	for _, name := range c.names {
		w.Host(name).Clock().Drift(0)
	}
	w.Net().SetDefault(calm)

	user := client{hosts: c.names}
	h := w.Host("user")
	tries := 0
	if err := c.within("a put succeeds", progress, func() (err error) {
		tries++
		h.Do(func() { err = c.use(&user, clients, request{Put: true, Key: "k0", Value: fmt.Sprint("last-", tries)}) })
		return err
	}); err != nil {
		return err
	}
	c.mu.Lock()
	c.stop = true
	c.mu.Unlock()
	if err := errors.Join(
		c.within("clients are done", progress, c.done),
		c.within("all are voters", caughtUp, c.settle),
		c.within("all machines are in one state", caughtUp, func() error {
			err := c.same()
			if err != nil { // see TestSuffix: in a cluster that is idle, it might never be so
				tries++
				h.Do(func() { c.use(&user, clients, request{Put: true, Key: "k0", Value: fmt.Sprint("last-", tries)}) })
			}
			return err
		}),
	); err != nil {
		return err
	}

	for key := range keys { // what is there in the end is part of the history
		h.Do(func() { c.use(&user, clients, request{Key: fmt.Sprint("k", key)}) })
	}
	s.count(c)
	if history := c.seen(); !linearizable(history) {
		return fmt.Errorf("no order explains what clients saw: %d operations", len(history))
	}
	return nil
}

// count adds a run to the tally.
func (s *tally) count(c *cluster) {
	s.runs++
	s.virtual += c.w.Elapsed()
	s.terms += len(c.leaders)
	s.commands += len(c.chains)
	total := c.w.Net().Total()
	s.net.Sent += total.Sent
	s.net.Lost += total.Lost
	s.net.Cut += total.Cut
}

func newTally() *tally { return &tally{longest: map[string]time.Duration{}} }

// report logs what happened, and fails the test if it was too little.
func (s *tally) report(t *testing.T) {
	t.Logf("%d runs of %v; packets: %d sent, %d lost, %d cut off", s.runs, s.virtual, s.net.Sent, s.net.Lost, s.net.Cut)
	t.Logf("%d leaders, %d commands; %d puts, %d gets, %d puts of unknown outcome, %d requests refused", s.terms, s.commands, s.puts, s.gets, s.unknown, s.refused)
	for f := range numFaults {
		switch f {
		case remove, add, transfer:
			t.Logf("%d × %v, of which %d came about", s.faults[f], f, s.changed[f])
		default:
			t.Logf("%d × %v", s.faults[f], f)
		}
		if s.runs >= 20 && s.faults[f] < s.runs/2 {
			t.Errorf("%d times %v in %d runs test too little", s.faults[f], f, s.runs)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(s.longest)) {
		t.Logf("%s: after %v at most", what, s.longest[what])
	}
}

// Three hosts keep what they acknowledged, in one order.
func TestThree(t *testing.T) { sweep(t, 3, 3, file) }

// So do five, of which two join later, while servers come and go.
func TestFive(t *testing.T) { sweep(t, 5, 3, file) }

// And so do both with their logs, votes and terms in databases of raft-boltdb.
func TestThreeOnBolt(t *testing.T) { sweep(t, 3, 3, bolt) }
func TestFiveOnBolt(t *testing.T)  { sweep(t, 5, 3, bolt) }

func sweep(t *testing.T, hosts, members int, st storage) {
	s := newTally()
	dst.Run(t, func(w *dst.World) {
		if err := run(w, hosts, members, st, none, s); err != nil {
			w.Fatalf("%v", err)
		}
	}, dst.Seeds(20))
	s.report(t)
}

// flaws are tried under so many seeds, and have to be caught under one of them where
// there are enough; zero is for those that are too rare to ask for.
var flaws = []struct {
	storage
	flaw
	seeds, enough int
}{
	{file, forgetsVote, 5, 5},
	{file, forgetsLast, 20, 20},
	{file, neverSyncs, 5, 5},
	{file, trustsSnapshots, 5, 5},
	{file, trustsInstalls, 1, 0},
	{file, readsAny, 5, 5},
	{file, readsState, 5, 5},
	{file, readsVerify, 5, 5},
	{bolt, forgetsVote, 3, 20},
	{bolt, trustsPage, 3, 0},
	{bolt, noDirSync, 3, 0},
	{bolt, trustsSnapshots, 3, 0},
}

// The oracle sees what it is there for: each flaw, under some of the seeds.
func TestFlaws(t *testing.T) {
	for _, f := range flaws {
		t.Run(fmt.Sprintf("%v/%v", f.storage, f.flaw), func(t *testing.T) {
			s := newTally()
			runs, caught, by := 0, 0, map[string]int{}
			var first uint64
			dst.Run(t, func(w *dst.World) {
				err := run(w, 5, 3, f.storage, f.flaw, s)
				runs++
				if err == nil {
					return
				}
				if caught++; caught == 1 {
					first = w.Seed()
				}
				what, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "panic: "), ": ")
				by[what]++
				w.Logf("caught: %v", err)
			}, dst.Seeds(f.seeds))
			t.Logf("%v is caught under %d of %d seeds, first under %d", f.flaw, caught, runs, first)
			for _, what := range slices.Sorted(maps.Keys(by)) {
				t.Logf("%4d × %s", by[what], what)
			}
			if f.enough > 0 && runs >= f.enough && caught == 0 {
				t.Error("nothing was seen: the test tests nothing")
			}
		})
	}
}
