//go:build dst

package raft

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
	"github.com/hashicorp/raft"
)

// A cluster is a number of hosts with a node each, clients, and what the oracle knows.
type cluster struct {
	w       *dst.World
	names   []string
	servers []raft.Server
	nodes   []atomic.Pointer[node] // nil while the host is down
	still   []bool                 // hosts that are paused; the body's

	leaders map[uint64]string // by term; the check's own

	mu      sync.Mutex        // never held while waiting
	chains  map[uint64]uint64 // of the state after the command at an index
	broken  error             // what must not be
	history []porcupine.Operation
	stop    bool
	left    int // clients that are not done
	tally   *tally
}

// newCluster declares n hosts, of which the first few are the cluster to begin with,
// and boots them.
func newCluster(w *dst.World, n, members int, st storage, f flaw, s *tally) *cluster {
	c := &cluster{
		w: w, nodes: make([]atomic.Pointer[node], n), still: make([]bool, n), tally: s,
		leaders: map[uint64]string{}, chains: map[uint64]uint64{},
	}
	for i := range n {
		name := fmt.Sprint("n", i)
		c.names = append(c.names, name)
		c.servers = append(c.servers, raft.Server{
			ID:      raft.ServerID(name),
			Address: raft.ServerAddress(net.JoinHostPort(w.Host(name).Addr().String(), raftPort)),
		})
	}
	for i, name := range c.names {
		h := w.Host(name)
		if st == file || w.Seed()%2 == 0 { // a store of ours must not need what ext4 does beyond fsync(2)
			h.Disk().SetModel(simfs.Any)
		}
		addr := h.Addr().String()
		var first []raft.Server // of members; others wait to be added
		if i < members {
			first = c.servers[:members]
		}
		h.Boot(func() error {
			if f != none {
				defer c.recover()
			}
			n, err := openNode(name, addr, first, st, f, c)
			if err != nil && f != none {
				panic(err)
			}
			if err != nil {
				return err
			}
			c.nodes[i].Store(n)
			return n.serve(addr)
		})
	}
	w.Always("one leader in a term, one state after a command", func() error {
		if err := c.check(); f == none {
			return err
		}
		return nil
	})
	return c
}

// recover keeps the panic of a node that has a flaw, which would fail the seed.
func (c *cluster) recover() {
	if r := recover(); r != nil {
		c.breaks("panic: %v", r)
		select {} // down, in a way
	}
}

// breaks keeps the first thing that must not be.
func (c *cluster) breaks(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = fmt.Errorf(format, args...)
	}
}

// within waits until f returns nil, as World.Eventually does, and returns the error
// of its last call, or what must not be and is.
func (c *cluster) within(what string, bound time.Duration, f func() error) error {
	for from := c.w.Elapsed(); ; time.Sleep(bound / 100) {
		err, took := f(), c.w.Elapsed()-from
		if broken := c.violation(); broken != nil {
			return broken
		}
		if err == nil {
			c.tally.longest[what] = max(c.tally.longest[what], took)
			return nil
		}
		if took > bound {
			return fmt.Errorf("not within %v: %q: %w", bound, what, err)
		}
	}
}

// violation returns what must not be and is.
func (c *cluster) violation() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// reached is told of each state that a machine reaches: whatever led there, it is
// the only one after that command.
func (c *cluster) reached(s state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if chain, ok := c.chains[s.Index]; ok && chain != s.Chain && c.broken == nil {
		c.broken = fmt.Errorf("machines differ: after command %d", s.Index)
	}
	c.chains[s.Index] = s.Chain
}

// restored is told that a machine goes from one state to another by a snapshot. It
// does not return if that must not be: the node would panic soon.
func (c *cluster) restored(was, now state) {
	c.reached(now)
	if now.Index < was.Index {
		c.breaks("a machine goes back: from command %d to %d", was.Index, now.Index)
		select {}
	}
}

// check is what must hold after every step.
func (c *cluster) check() error {
	for i := range c.nodes {
		n := c.nodes[i].Load()
		if n == nil || n.State() != raft.Leader {
			continue
		}
		term := n.CurrentTerm()
		switch was := c.leaders[term]; was {
		case "":
			c.leaders[term] = c.names[i]
		case c.names[i]:
		default:
			c.breaks("two leaders: %s and %s in term %d", was, c.names[i], term)
		}
	}
	return c.violation()
}

// leader returns the index of a host that runs and holds itself for the leader, or -1.
func (c *cluster) leader() int {
	for i := range c.nodes {
		if n := c.nodes[i].Load(); n != nil && !c.still[i] && n.State() == raft.Leader {
			return i
		}
	}
	return -1
}

// down takes a host away, by a crash, a loss of power, or a pause.
func (c *cluster) down(i int, how fault) {
	h := c.w.Host(c.names[i])
	switch how {
	case pause:
		c.still[i] = true
		h.Pause()
		return
	case power:
		c.nodes[i].Store(nil)
		h.PowerLoss()
	default:
		c.nodes[i].Store(nil)
		h.Crash()
	}
	c.still[i] = false
}

// restore boots the hosts that are down and wakes those that stand still.
func (c *cluster) restore() {
	for i, name := range c.names {
		h := c.w.Host(name)
		if !h.Running() {
			h.Restart()
		}
		h.Resume()
		c.still[i] = false
	}
}

// client is a user of the store, who reads and puts until told to stop.
func (c *cluster) client(id, keys int) {
	rng := c.w.Rand()
	cl := client{hosts: slices.Clone(c.names), next: rng.IntN(len(c.names))}
	for i := 0; ; i++ {
		c.mu.Lock()
		stop := c.stop
		if stop {
			c.left--
		}
		c.mu.Unlock()
		if stop {
			return
		}
		q := request{Put: rng.IntN(2) == 0, Key: fmt.Sprint("k", rng.IntN(keys))}
		if q.Put {
			q.Value = fmt.Sprintf("%d-%d", id, i)
		}
		c.use(&cl, id, q)
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
	}
}

// use carries out one request and keeps what came of it.
func (c *cluster) use(cl *client, id int, q request) error {
	op := porcupine.Operation{ClientId: id, Input: q, Call: int64(c.w.Elapsed())}
	value, err := cl.do(q, 3*time.Second)
	op.Output, op.Return = value, int64(c.w.Elapsed())
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		if q.Put {
			c.tally.puts++
		} else {
			c.tally.gets++
		}
	case errors.Is(err, errUnknown):
		op.Return = never
		c.tally.unknown++
	default:
		c.tally.refused++
		return err
	}
	c.history = append(c.history, op)
	return err
}

// done tells whether clients have stopped.
func (c *cluster) done() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left > 0 {
		return fmt.Errorf("%d clients are not done", c.left)
	}
	return nil
}

// seen returns what clients did and were told.
func (c *cluster) seen() []porcupine.Operation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.history
}

// settle makes all hosts voters again. It is called until it succeeds.
func (c *cluster) settle() error {
	i := c.leader()
	if i < 0 {
		return errors.New("there is no leader")
	}
	n := c.nodes[i].Load()
	var err error
	c.w.Host(c.names[i]).Do(func() {
		f := n.GetConfiguration()
		if err = f.Error(); err != nil {
			return
		}
		for _, s := range c.servers {
			if !slices.Contains(f.Configuration().Servers, s) {
				if err = n.AddVoter(s.ID, s.Address, 0, time.Second).Error(); err != nil {
					return
				}
			}
		}
	})
	return err
}

// same tells whether all machines are in one state.
func (c *cluster) same() error {
	var first state
	for i := range c.nodes {
		n := c.nodes[i].Load()
		if n == nil {
			return fmt.Errorf("%s has not begun", c.names[i])
		}
		s := n.machine.copy()
		if i == 0 {
			first = s
		}
		if s.Index != first.Index || s.Chain != first.Chain || !maps.Equal(s.Values, first.Values) {
			return fmt.Errorf("%s is in state %v, %s in %v", c.names[0], first, c.names[i], s)
		}
	}
	return nil
}

var (
	calm  = simnet.Link{Latency: simnet.Uniform(time.Millisecond, 5*time.Millisecond)}
	rough = simnet.Link{
		Latency:   simnet.Uniform(time.Millisecond, 30*time.Millisecond),
		Loss:      0.02,
		Duplicate: 0.02,
		Reorder:   0.05,
	}
)
