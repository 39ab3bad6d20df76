//go:build dst

package raft

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
	terms, commands, snapshots   int
	net                          simnet.Counters
	virtual                      time.Duration
	longest                      map[string]time.Duration // that something took
}

// run is one run: a cluster elects a leader, suffers while clients use it, is mended and
// goes on; in the end all have what was acknowledged, in one order.
func run(w *dst.World, hosts, members int, f flaw, s *tally) {
	within := func(what string, bound time.Duration, f func() error) {
		from := w.Elapsed()
		w.Eventually(what, bound, f)
		s.longest[what] = max(s.longest[what], w.Elapsed()-from)
	}
	w.Net().SetDefault(calm)
	c := newCluster(w, hosts, members, f, s)
	within("there is a leader", elected, func() error {
		if c.leader() < 0 {
			return errors.New("there is none")
		}
		return nil
	})

	w.Net().SetDefault(rough)
	const clients, keys = 4, 3
	c.left = clients
	for id := range clients {
		w.Host(fmt.Sprint("client", id)).Go(func() { c.client(id, keys) })
	}
	c.disturb(25, 2*time.Second)
	w.HealAll()
	c.restore()
	for _, name := range c.names {
		w.Host(name).Clock().Drift(0)
	}
	w.Net().SetDefault(calm)

	user := client{hosts: c.names}
	h := w.Host("user")
	tries := 0
	within("a put succeeds", progress, func() (err error) {
		tries++
		h.Do(func() { err = c.use(&user, clients, request{Put: true, Key: "k0", Value: fmt.Sprint("last-", tries)}) })
		return err
	})
	c.mu.Lock()
	c.stop = true
	c.mu.Unlock()
	within("clients are done", progress, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.left > 0 {
			return fmt.Errorf("%d are not", c.left)
		}
		return nil
	})
	within("all are voters", caughtUp, c.settle)
	within("all machines are in one state", caughtUp, c.same)

	for key := range keys { // what is there in the end is part of the history
		h.Do(func() { c.use(&user, clients, request{Key: fmt.Sprint("k", key)}) })
	}
	c.mu.Lock()
	history := c.history
	c.mu.Unlock()
	if !linearizable(history) {
		w.Failf("what clients saw has no order that explains it: %d operations", len(history))
	}

	s.runs++
	s.virtual += w.Elapsed()
	s.terms += len(c.leaders)
	s.commands += len(c.chains)
	total := w.Net().Total()
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
func TestThree(t *testing.T) {
	s := newTally()
	dst.Run(t, func(w *dst.World) { run(w, 3, 3, none, s) }, dst.Seeds(50))
	s.report(t)
}

// So do five, of which two join later, while servers come and go.
func TestFive(t *testing.T) {
	s := newTally()
	dst.Run(t, func(w *dst.World) { run(w, 5, 3, none, s) }, dst.Seeds(50))
	s.report(t)
}
