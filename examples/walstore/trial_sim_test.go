//go:build dst

package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/examples/walstore/client"
	"github.com/dstkit/dst/examples/walstore/store"
	"github.com/dstkit/dst/examples/walstore/wal"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

const (
	clients = 3
	puts    = 5 // of each client
	keys    = 3
	losses  = 3 // of power, or crashes, in a run
	calm    = 20 * time.Second
	folder  = "/var/lib/store"
)

var (
	names = [3]string{"leader", "follower1", "follower2"}
	addrs = []string{"10.0.0.1:7000", "10.0.0.2:7000", "10.0.0.3:7000"}
)

// A trial is one run of the store with a bug, and what the oracle knows.
type trial struct {
	w      *dst.World
	bug    wal.Bug
	nodes  [3]atomic.Pointer[store.Node] // nil while down
	events chan struct{}                 // one for each acknowledged put
	left   atomic.Int32                  // clients that have not ended
	stop   atomic.Bool                   // clients are to end
	failed atomic.Bool                   // there is a problem

	snapshots int // in the end

	mu      sync.Mutex
	problem error             // the first
	tried   map[string]string // value -> its key
	place   map[string]uint64 // value -> the number of its put
	puts    [clients][]string // values, in the order in which each client put them
	acks    []ack

	// Since all three lost their power: what had been acknowledged, and what nodes
	// recovered.
	safe   []ack
	opened map[int]store.State
}

type ack struct {
	key, value string
	seq        uint64
}

// newTrial starts the store on three disks of the model.
func newTrial(w *dst.World, bug wal.Bug, model simfs.Model) *trial {
	s := &trial{w: w, bug: bug, tried: map[string]string{}, place: map[string]uint64{}, events: make(chan struct{}, clients*puts)}
	w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(200*time.Microsecond, time.Millisecond)})
	for id, name := range names {
		h := w.Host(name, func() error { s.run(id); return nil })
		h.Disk().SetModel(model)
		h.Disk().SetFaults(simfs.Faults{SyncLatency: simnet.Uniform(time.Millisecond, 6*time.Millisecond)})
	}
	return s
}

// run is the program of a node.
func (s *trial) run(id int) {
	n, err := store.Open(store.Config{
		Nodes: addrs, ID: id, Dir: folder, SegmentSize: 4096, Keep: 3,
		Bug: s.bug, Log: log.New(io.Discard, "", 0),
	})
	if err != nil {
		s.wrong("%s does not start: %v", names[id], err)
		return
	}
	s.recovered(id, n.Held())
	s.nodes[id].Store(n)
	if err := n.Run(context.Background()); err != nil {
		s.wrong("%s ended: %v", names[id], err)
	}
}

// wrong notes the first problem.
func (s *trial) wrong(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(fmt.Errorf(format, args...))
}

// fail is wrong under the lock.
func (s *trial) fail(err error) {
	s.w.Logf("%v", err)
	if s.problem == nil {
		s.problem = err
		s.failed.Store(true)
	}
}

// recovered looks at what a node has after a start, and before it has talked to
// anybody: what was put, where it was put; and the leader all that was acknowledged.
func (s *trial) recovered(id int, state store.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.known(state); err != nil {
		s.fail(fmt.Errorf("%s recovered: %w", names[id], err))
	}
	if id == 0 {
		if err := complete(state, s.acks); err != nil {
			s.fail(fmt.Errorf("%s recovered: %w", names[id], err))
		}
	}
	if s.opened == nil {
		return
	}
	if s.opened[id] = state; len(s.opened) == len(names) {
		if err := complete(s.opened[1], s.safe); err != nil && complete(s.opened[2], s.safe) != nil {
			s.fail(fmt.Errorf("no follower recovered all: %w", err))
		}
		s.opened = nil
	}
}

// known tells whether a state consists of puts that clients made, each in one
// place, and those of a client in its order.
func (s *trial) known(state store.State) error {
	if state.Seq > uint64(len(s.tried)) {
		return fmt.Errorf("%d puts, of %d that clients made", state.Seq, len(s.tried))
	}
	for key, it := range state.Items {
		if s.tried[it.Value] != key {
			return fmt.Errorf("%s is %.30q, which no client put", key, it.Value)
		}
		if seq, ok := s.place[it.Value]; ok && seq != it.Seq {
			return fmt.Errorf("%.30q was put at %d and at %d", it.Value, seq, it.Seq)
		}
		s.place[it.Value] = it.Seq
	}
	for _, values := range s.puts {
		last := uint64(0)
		for _, value := range values {
			if seq := s.place[value]; seq != 0 && seq <= last {
				return fmt.Errorf("%.30q was put at %d, what its client put before at %d", value, seq, last)
			} else if seq != 0 {
				last = seq
			}
		}
	}
	return nil
}

// complete tells whether all that was acknowledged is in a state, or something
// newer.
func complete(state store.State, acks []ack) error {
	for _, a := range acks {
		it := state.Items[a.key]
		if state.Seq < a.seq || it.Seq < a.seq || it.Seq == a.seq && it.Value != a.value {
			return fmt.Errorf("%s is put %d (%.12q…), of %d; but put %d (%.12q…) was acknowledged", a.key, it.Seq, it.Value, state.Seq, a.seq, a.value)
		}
	}
	return nil
}

// write is a client.
func (s *trial) write(id int) {
	defer s.left.Add(-1)
	c := client.New(addrs[0])
	defer c.Close()
	for i := range puts {
		if s.stop.Load() {
			return
		}
		rng := s.w.Rand()
		key, value := fmt.Sprint("k", rng.IntN(keys)), fmt.Sprintf("%d-%d %s", id, i, strings.Repeat("x", 50+rng.IntN(1200)))
		s.mu.Lock()
		s.tried[value] = key
		s.puts[id] = append(s.puts[id], value)
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), calm)
		seq, err := c.Put(ctx, key, value)
		cancel()
		if err != nil {
			if !s.failed.Load() {
				s.wrong("client %d: %v", id, err)
			}
			return
		}
		s.w.Logf("put %d is acknowledged: %s=%.12q…", seq, key, value)
		s.mu.Lock()
		if old, ok := s.place[value]; ok && old != seq {
			s.fail(fmt.Errorf("put %.12q… was acknowledged at %d, and is at %d", value, seq, old))
		}
		s.place[value] = seq
		s.acks = append(s.acks, ack{key, value, seq})
		s.mu.Unlock()
		s.events <- struct{}{}
	}
}

// lose lets some more puts be acknowledged, and then nodes lose their power, or
// crash, and start again.
func (s *trial) lose(all bool) {
	rng := s.w.Rand()
	for range rng.IntN(4) {
		if s.left.Load() == 0 {
			break
		}
		select {
		case <-s.events:
		case <-time.After(3 * time.Second):
		}
	}
	time.Sleep(time.Duration(rng.IntN(12_000)) * time.Microsecond)
	if s.failed.Load() {
		return
	}
	first, count, power := rng.IntN(3), 1, rng.IntN(3) > 0
	if all || rng.IntN(2) == 0 {
		first, count, power = 0, 3, true
	}
	for id := first; id < first+count; id++ {
		h := s.w.Host(names[id])
		s.nodes[id].Store(nil)
		if power {
			h.PowerLoss()
		} else {
			h.Crash()
		}
	}
	s.mu.Lock()
	if s.opened = nil; count == len(names) {
		s.opened, s.safe = map[int]store.State{}, slices.Clone(s.acks)
	}
	s.mu.Unlock()
	time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
	for id := first; id < first+count; id++ {
		s.w.Host(names[id]).Restart()
	}
}

// test is a whole run; it returns what was found to be wrong.
func (s *trial) test() error {
	s.left.Store(clients)
	for i := range clients {
		s.w.Host(fmt.Sprint("client", i)).Go(func() { s.write(i) })
	}
	for i := range losses {
		s.lose(i == losses-1)
		if s.failed.Load() {
			return s.first()
		}
	}
	s.stop.Store(true)
	for end := s.w.Elapsed() + calm; ; time.Sleep(50 * time.Millisecond) {
		err := s.whole()
		if s.failed.Load() {
			return s.first()
		}
		if err == nil || s.w.Elapsed() > end {
			for _, name := range names {
				if _, err := s.w.Host(name).Disk().Stat(folder + "/snapshot"); err == nil {
					s.snapshots++
				}
			}
			return err
		}
	}
}

func (s *trial) first() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// whole is what must hold in the end.
func (s *trial) whole() error {
	if s.left.Load() > 0 {
		return errors.New("clients are not done")
	}
	var states [3]store.State
	for id := range s.nodes {
		n := s.nodes[id].Load()
		if n == nil {
			return fmt.Errorf("%s is down", names[id])
		}
		states[id] = n.State()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, state := range states {
		if err := s.known(state); err != nil {
			s.fail(fmt.Errorf("%s: %w", names[id], err))
		}
		if state.Seq != states[0].Seq {
			return fmt.Errorf("%s has %d puts, the leader %d", names[id], state.Seq, states[0].Seq)
		}
		if !maps.Equal(state.Items, states[0].Items) || !maps.Equal(state.Clients, states[0].Clients) {
			s.fail(fmt.Errorf("%s and the leader both have %d puts, but not the same", names[id], state.Seq))
		}
	}
	return complete(states[0], s.acks)
}
