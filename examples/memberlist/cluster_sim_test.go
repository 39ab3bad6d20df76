//go:build dst

package memberlist

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/dstkit/dst"
)

// A cluster is a number of hosts with an agent each, and what the oracle knows. All of
// it is the body's, but for what is atomic.
type cluster struct {
	w      *dst.World
	names  []string
	agents []atomic.Pointer[agent] // nil while the host is down
	still  map[string]bool         // hosts that are paused
	deaths atomic.Int64            // how often an agent came to hold a host for dead that was up

	said   map[string]note // the newest of each author, that it cannot have forgotten
	spoken map[note]bool   // all that was ever said
}

// newCluster declares n hosts and boots them.
func newCluster(w *dst.World, n int, ch change) *cluster {
	c := &cluster{w: w, agents: make([]atomic.Pointer[agent], n), still: map[string]bool{}, said: map[string]note{}, spoken: map[note]bool{}}
	for i := range n {
		c.names = append(c.names, fmt.Sprintf("m%03d", i))
	}
	for i, name := range c.names {
		h := w.Host(name)
		addr := h.Addr().String()
		h.Boot(func() error {
			a, err := start(name, addr, c.names, func(of string) { c.left(name, of) }, ch)
			if err != nil {
				return err
			}
			c.agents[i].Store(a)
			select {}
		})
	}
	return c
}

// left is told that an agent holds a member for dead.
func (c *cluster) left(by, name string) {
	if c.w.Host(name).Running() {
		c.deaths.Add(1)
		c.w.Logf("%s holds %s for dead", by, name)
	}
}

// agent returns a host's agent, or nil if the host is down or paused: whoever is
// paused may hold a lock.
func (c *cluster) agent(name string) *agent {
	if c.still[name] {
		return nil
	}
	return c.agents[slices.Index(c.names, name)].Load()
}

// up returns the names of the hosts that run.
func (c *cluster) up() (names []string) {
	for _, name := range c.names {
		if c.w.Host(name).Running() && !c.still[name] {
			names = append(names, name)
		}
	}
	return names
}

// down takes a host away, by a crash, a loss of power, or a pause.
func (c *cluster) down(name string, how fault) {
	h := c.w.Host(name)
	if how == pause {
		c.still[name] = true
		h.Pause()
		return
	}
	c.agents[slices.Index(c.names, name)].Store(nil)
	delete(c.said, name)
	delete(c.still, name)
	if how == power {
		h.PowerLoss()
	} else {
		h.Crash()
	}
}

// restore boots the hosts that are down and wakes those that stand still.
func (c *cluster) restore() {
	for _, name := range c.names {
		h := c.w.Host(name)
		if !h.Running() {
			h.Restart()
		}
		h.Resume()
	}
	clear(c.still)
}

// agreed tells whether those that run hold each other for alive, and nobody else.
func (c *cluster) agreed() error {
	want := c.up()
	for _, name := range want {
		a := c.agent(name)
		if a == nil {
			return fmt.Errorf("%s has not begun", name)
		}
		if got := a.members(); !slices.Equal(got, want) {
			return fmt.Errorf("%s has the members %v, want %v", name, got, want)
		}
	}
	return nil
}

// whole tells whether those that run agree on who they are, and on the notes.
func (c *cluster) whole() error {
	if err := c.agreed(); err != nil {
		return err
	}
	var first map[string]note
	for _, name := range c.up() {
		notes := c.agent(name).known()
		if first == nil {
			first = notes
		}
		if !maps.Equal(notes, first) {
			return fmt.Errorf("%s knows the notes %v, others %v", name, notes, first)
		}
	}
	for author, n := range c.said {
		if first[author] != n {
			return fmt.Errorf("%s said %v, and all know %v", author, n, first[author])
		}
	}
	for _, n := range first {
		if !c.spoken[n] {
			return fmt.Errorf("all know %v, which nobody said", n)
		}
	}
	return nil
}

// talk lets one of the hosts that run say something.
func (c *cluster) talk() {
	up := c.up()
	name := up[c.w.Rand().IntN(len(up))]
	a := c.agent(name)
	if a == nil { // it boots
		return
	}
	text := fmt.Sprint(c.w.Rand().IntN(1000))
	c.w.Host(name).Do(func() { a.say(text) })
	n := a.known()[name]
	c.said[name], c.spoken[n] = n, true
}
