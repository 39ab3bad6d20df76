//go:build dst

package raft

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/hashicorp/raft"
)

// A leader that is cut off has entries that the others never get; the others
// go on and make a snapshot, whose index those entries reach or pass. Raft installs it at
// the former leader, and keeps the entries. They contradict what follows, so it refuses
// that; the snapshot is sent again, and so on, until there is one that is newer than the
// entries.
func TestSuffix(t *testing.T) {
	stuck, runs, sent := 0, 0, uint64(0)
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(calm)
		c := newCluster(w, 3, 3, file, none, newTally())
		w.Eventually("there is a leader", elected, func() error {
			if c.leader() < 0 {
				return errors.New("there is none")
			}
			return nil
		})
		old := c.leader()
		put := func(i, n int) {
			w.Host(c.names[i]).Do(func() {
				for k := range n {
					c.nodes[i].Load().Apply(fmt.Appendf(nil, `{"Key":"k","Value":"%d-%d"}`, i, k), 0)
				}
			})
		}
		put(old, 5)
		time.Sleep(time.Second)
		w.Net().Partition([]string{c.names[old]})
		put(old, 60) // nobody hears of these
		w.Eventually("there is another", elected, func() error {
			for i := range c.nodes {
				if i != old && c.nodes[i].Load().State() == raft.Leader {
					return nil
				}
			}
			return errors.New("there is none")
		})
		var leader int
		for i := range c.nodes {
			if i != old && c.nodes[i].Load().State() == raft.Leader {
				leader = i
			}
		}
		put(leader, 40)
		time.Sleep(10 * time.Second) // for a snapshot
		w.Net().Heal()
		put(leader, 1)
		before := w.Net().Counters(c.names[leader], c.names[old]).Sent
		time.Sleep(time.Minute)
		runs++
		if err := c.same(); err != nil {
			stuck++
			w.Logf("a minute later: %v", err)
		}
		sent += w.Net().Counters(c.names[leader], c.names[old]).Sent - before

		put(leader, 60) // now there is a newer one
		w.Eventually("all machines are in one state", caughtUp, c.same)
	}, dst.Seeds(1))
	t.Logf("%d of %d former leaders lacked the last command a minute later; they were sent %d packets", stuck, runs, sent)
	if stuck == 0 {
		t.Error("none did: the library has learned, and the README is wrong")
	}
}
