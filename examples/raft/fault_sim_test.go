//go:build dst

package raft

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// menu is what is drawn from: what lets a cluster live and change comes twice.
var menu = []fault{
	minority, halves, bridge, oneWay, deaf, hold, blackout, crash, power, pause, drift,
	heal, restart, remove, add, transfer,
	heal, restart, remove, add, transfer,
}

type fault int

const (
	minority fault = iota // the leader, and perhaps others, but no majority, are cut off
	halves                // two parts, of any hosts
	bridge                // two parts that only one host reaches, and is reached from
	oneWay                // some hosts do not reach another
	deaf                  // the leader is not heard, or does not hear
	hold                  // what one host sends another is held, and arrives when all is healed
	blackout              // all hosts lose power
	crash
	power
	pause
	drift // clocks go wrong
	heal
	restart
	remove // a server
	add    // one that is none
	transfer
	numFaults
)

func (f fault) String() string {
	return [...]string{"minority", "halves", "bridge", "one-way", "deaf", "hold", "blackout", "crash", "power", "pause", "drift", "heal", "restart", "remove", "add", "transfer"}[f]
}

// disturb lets the network and the hosts fail and the cluster change, in an order that
// the seed decides.
func (c *cluster) disturb(rounds int, longest time.Duration) {
	rng, net := c.w.Rand(), c.w.Net()
	for range rounds {
		time.Sleep(time.Duration(rng.Int64N(int64(longest))))
		n := len(c.names)
		p := rng.Perm(n)
		leader := c.leader()
		if i := slices.Index(p, leader); i > 0 && rng.IntN(2) == 0 {
			p[0], p[i] = p[i], p[0] // the leader is the first to suffer
		}
		names := make([]string, n)
		for i, j := range p {
			names[i] = c.names[j]
		}
		f := menu[rng.IntN(len(menu))]
		switch f {
		case minority:
			net.Partition(names[:1+rng.IntN((n-1)/2)])
		case halves:
			some := 1 + rng.IntN(n-1)
			net.Partition(names[:some], names[some:])
		case bridge:
			for _, a := range names[1 : 1+n/2] {
				for _, b := range names[1+n/2:] {
					net.Cut(a, b)
					net.Cut(b, a)
				}
			}
		case oneWay:
			for _, from := range names[1 : 2+rng.IntN(n-1)] {
				net.Cut(from, names[0])
			}
		case deaf:
			hears := rng.IntN(2) == 0
			for _, other := range names[1:] {
				if hears {
					net.Cut(names[0], other)
				} else {
					net.Cut(other, names[0])
				}
			}
		case hold:
			net.Hold(names[0], names[1])
		case blackout:
			for i := range c.names {
				c.down(i, power)
			}
			c.restore()
		case crash, power, pause:
			c.down(p[0], f)
		case drift:
			c.w.Host(names[0]).Clock().Drift(float64(rng.IntN(200001) - 100000)) // up to a tenth
		case heal:
			net.Heal()
		case restart:
			c.restore()
		case remove, add, transfer:
			if leader < 0 {
				continue
			}
			c.change(f, leader, p[0])
		}
		c.tally.faults[f]++
	}
}

// change asks the leader for a change of the cluster, and does not wait for it.
func (c *cluster) change(f fault, leader, of int) {
	n, s := c.nodes[leader].Load(), c.servers[of]
	c.w.Host(c.names[leader]).Go(func() {
		var err error
		switch f {
		case remove:
			cf := n.GetConfiguration()
			if have := len(cf.Configuration().Servers); have <= len(c.names)/2+1 {
				err = fmt.Errorf("there are only %d servers", have)
				break
			}
			err = n.RemoveServer(s.ID, cf.Index(), time.Second).Error()
		case add:
			err = n.AddVoter(s.ID, s.Address, 0, time.Second).Error()
		case transfer:
			if raft.ServerID(c.names[leader]) == s.ID {
				err = n.LeadershipTransfer().Error()
			} else {
				err = n.LeadershipTransferToServer(s.ID, s.Address).Error()
			}
		}
		c.w.Logf("%v of %s by %s: error %v", f, s.ID, c.names[leader], err)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			c.tally.changed[f]++
		}
	})
}
