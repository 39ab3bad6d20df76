//go:build dst

package main_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/examples/udpservice/client"
	"github.com/dstkit/dst/examples/udpservice/reliable"
	"github.com/dstkit/dst/simnet"
)

const (
	writers = 2           // clients that put
	keys    = 4           // that they put to
	rounds  = 40          // of the fault schedule
	calmMax = time.Minute // virtual, for all to be well again after the last fault
)

// reliableStore is the reliable store on three hosts, with its clients and what
// the oracle knows.
type reliableStore struct {
	w     *dst.World
	nodes [3]atomic.Pointer[reliable.Node] // nil while down

	stop atomic.Bool  // clients are to end
	left atomic.Int32 // clients that have not

	seen [3]seen // the check's own

	mu    sync.Mutex               // clients and checks are several; never held while waiting
	tried map[string]bool          // values that clients have put
	place map[string]uint64        // value -> its sequence number
	acked map[string]reliable.Item // newest acknowledged put, by key
	acks  int
}

// seen is what the oracle last saw of one incarnation of a node.
type seen struct {
	node    *reliable.Node
	changes uint64
	state   map[string]reliable.Item
}

func startReliable(w *dst.World) *reliableStore {
	s := &reliableStore{w: w, tried: map[string]bool{}, place: map[string]uint64{}, acked: map[string]reliable.Item{}}
	for id := range addrs {
		w.Host(hostOf(id), func() error {
			n, err := reliable.Listen(reliable.Config{Nodes: addrs, ID: id, Log: logger(w, hostOf(id))})
			if err != nil {
				return err
			}
			s.nodes[id].Store(n)
			return n.Run(context.Background())
		})
	}
	return s
}

// write is a client: it puts new values until it is told to stop.
func (s *reliableStore) write(name int) {
	defer s.left.Add(-1)
	c := client.New(addrs[0])
	defer c.Close()
	for i := 0; !s.stop.Load(); i++ {
		key, value := fmt.Sprint("k", s.w.Rand().IntN(keys)), fmt.Sprint(name, "-", i)
		s.mu.Lock()
		s.tried[value] = true
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		v, err := c.Put(ctx, key, value)
		cancel()
		if err != nil {
			s.w.Logf("client %d: %v", name, err)
		} else {
			s.acknowledged(key, reliable.Item{Value: value, Seq: v.Seq, Epoch: v.Epoch})
		}
		time.Sleep(time.Duration(s.w.Rand().IntN(100)) * time.Millisecond)
	}
}

func (s *reliableStore) acknowledged(key string, it reliable.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acks++
	if it.Seq > s.acked[key].Seq {
		s.acked[key] = it
	}
}

// check is what must hold after every step: at a replica, no key goes back or
// away, no value is one that no client put, and no put was carried out twice.
func (s *reliableStore) check() error {
	for id := range s.nodes {
		n, was := s.nodes[id].Load(), &s.seen[id]
		if n != was.node {
			*was = seen{node: n}
		}
		if n == nil || n.Changes() == was.changes {
			continue
		}
		changes, state := n.Changes(), n.State()
		for key, old := range was.state {
			if it := state[key]; it.Seq < old.Seq || it.Seq == old.Seq && it != old {
				return fmt.Errorf("%s: %s went from %v to %v", hostOf(id), key, old, it)
			}
		}
		if err := s.known(id, state); err != nil {
			return err
		}
		*was = seen{n, changes, state}
	}
	return nil
}

// known tells whether each value of a replica is one that was put, once.
func (s *reliableStore) known(id int, state map[string]reliable.Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, it := range state {
		if !s.tried[it.Value] {
			return fmt.Errorf("%s: %s is %v, which no client put", hostOf(id), key, it)
		}
		if seq, ok := s.place[it.Value]; ok && seq != it.Seq {
			return fmt.Errorf("%s: %q was put at %d and again at %d", hostOf(id), it.Value, seq, it.Seq)
		}
		s.place[it.Value] = it.Seq
	}
	return nil
}

// ready tells whether all three nodes are up and have caught up.
func (s *reliableStore) ready() error {
	for id := range s.nodes {
		if n := s.nodes[id].Load(); n == nil || !n.Ready() {
			return fmt.Errorf("%s is not ready", hostOf(id))
		}
	}
	return nil
}

// whole is what must hold in the end: the replicas agree, and every acknowledged
// put is there, or a newer one of its key is.
func (s *reliableStore) whole() error {
	if s.left.Load() > 0 {
		return errors.New("clients are not done")
	}
	if err := s.ready(); err != nil {
		return err
	}
	leader := s.nodes[0].Load().State()
	for id := range s.nodes {
		if state := s.nodes[id].Load().State(); !maps.Equal(state, leader) {
			return fmt.Errorf("%s has %v, the leader %v", hostOf(id), state, leader)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, it := range s.acked {
		if now := leader[key]; now.Seq < it.Seq || now.Seq == it.Seq && now != it {
			return fmt.Errorf("%s is %v, but %v was acknowledged", key, now, it)
		}
	}
	return nil
}

// crash makes a node forget everything.
func (s *reliableStore) crash(id int) {
	s.w.Host(hostOf(id)).Crash()
	s.nodes[id].Store(nil)
}

// restart boots whoever is down.
func (s *reliableStore) restart() {
	for id := range addrs {
		if h := s.w.Host(hostOf(id)); !h.Running() {
			h.Restart()
		}
	}
}

// faults lets the network and the hosts fail in an order that the seed decides,
// within the store's fault assumption: a node crashes only when all three remember
// everything.
func (s *reliableStore) faults() (crashes int) {
	rng, net := s.w.Rand(), s.w.Net()
	for range rounds {
		time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
		one, other := rng.IntN(3), 1+rng.IntN(2)
		other = (one + other) % 3
		third := 3 - one - other
		switch rng.IntN(10) {
		case 0:
			net.Partition([]string{hostOf(one)}, []string{hostOf(other), hostOf(third)})
		case 1:
			net.Cut(hostOf(one), hostOf(other))
		case 2:
			net.Partition([]string{hostOf(one)}, []string{hostOf(other)}, []string{hostOf(third)})
		case 3, 4, 5:
			net.Heal()
		case 6, 7:
			if s.ready() == nil {
				s.crash(one)
				crashes++
			}
		default:
			s.restart()
		}
	}
	return crashes
}

// The reliable store keeps what it acknowledged, whatever the network does and
// whichever one node at a time forgets. All of it: DST_SEEDS=1000.
func TestReliable(t *testing.T) {
	runs, crashes, acks := 0, 0, 0
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(simnet.Link{
			Latency:   simnet.Uniform(time.Millisecond, 50*time.Millisecond),
			Loss:      0.05,
			Duplicate: 0.02,
			Reorder:   0.1,
		})
		s := startReliable(w)
		w.Always("no replica goes back", s.check)
		w.Eventually("all are ready", calmMax, s.ready)
		s.left.Store(writers)
		for i := range writers {
			w.Host(fmt.Sprint("client", i)).Go(func() { s.write(i) })
		}
		crashes += s.faults()

		s.stop.Store(true)
		w.HealAll()
		w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 10*time.Millisecond)})
		s.restart()
		w.Eventually("replicas agree and hold what was acknowledged", calmMax, s.whole)
		runs++
		s.mu.Lock()
		acks += s.acks
		s.mu.Unlock()
	}, dst.Seeds(50))
	t.Logf("%d runs, %d crashes, %d acknowledged puts", runs, crashes, acks)
	if runs >= 20 && (crashes < runs || acks < 10*runs) {
		t.Errorf("%d crashes and %d acknowledged puts in %d runs test too little", crashes, acks, runs)
	}
}
