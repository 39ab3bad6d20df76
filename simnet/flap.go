package simnet

import (
	"fmt"
	"time"

	"github.com/dstkit/dst/sched"
)

// A Flapping is a link or an interface that goes down and comes up again, until
// [Flapping.Stop] or Heal.
type Flapping struct {
	n        *Network
	a, b     *Stack // the link's ends, or the interface's host and nil
	up, down Dist
	off      bool // down just now
	event    sched.Event
}

// leastFlap keeps a distribution that gives nothing from stopping the clock.
const leastFlap = time.Microsecond

// Flap lets the link between two hosts, in both directions, be up for a time
// drawn from up, then down for one drawn from down, and so on. While it is down
// it is as if cut. It begins with a time up.
func (n *Network) Flap(a, b string, up, down Dist) *Flapping {
	sched.Enter()
	defer sched.Leave()
	x, y := n.pair("Flap", a, b)
	n.linked("Flap", x, y)
	return n.flap("Flap", x, y, up, down)
}

// FlapHost does to a host's interface what Flap does to a link: while it is down,
// it is as if by Down.
func (n *Network) FlapHost(host string, up, down Dist) *Flapping {
	sched.Enter()
	defer sched.Leave()
	return n.flap("FlapHost", n.host("FlapHost", host), nil, up, down)
}

func (n *Network) flap(call string, a, b *Stack, up, down Dist) *Flapping {
	if up == nil || down == nil {
		panic(fmt.Sprintf("simnet: %s: needs a distribution of the times up, and one of the times down", call))
	}
	f := &Flapping{n: n, a: a, b: b, up: up, down: down}
	for _, o := range n.flaps {
		if o.a == a && o.b == b || o.a == b && o.b == a {
			panic(fmt.Sprintf("simnet: %s: %s flaps already; stop that first", call, f.name()))
		}
	}
	n.flaps = append(n.flaps, f)
	n.fault(faultFlap, a, b)
	n.tell("%s flaps: up for %v, down for %v", f.name(), up, down)
	f.arm(up)
	return f
}

func (f *Flapping) name() string {
	if f.b == nil {
		return "the interface of " + f.a.name
	}
	return "the link " + f.a.name + " = " + f.b.name
}

func (f *Flapping) arm(d Dist) {
	f.n.w.Schedule(&f.event, f.n.w.Now()+int64(max(d.Draw(f.n.net), leastFlap)), (*flapEvent)(f))
}

// flapEvent is the end of a time up or down.
type flapEvent Flapping

func (e *flapEvent) Fire() {
	f := (*Flapping)(e)
	f.set(!f.off)
	if f.off {
		f.n.fault(faultFlapDown, f.a, f.b)
		f.n.tell("%s goes down", f.name())
		f.arm(f.down)
	} else {
		f.n.fault(faultFlapUp, f.a, f.b)
		f.n.tell("%s comes up", f.name())
		f.arm(f.up)
	}
}

func (f *Flapping) set(off bool) {
	f.off = off
	if f.b == nil {
		f.a.flap = off
		f.a.refresh()
		return
	}
	for _, p := range [...]*path{f.n.path(f.a, f.b), f.n.path(f.b, f.a)} {
		p.flapped = off
		p.refresh()
	}
}

// Stop ends the flapping; what is down comes up. Stopping twice is harmless.
func (f *Flapping) Stop() {
	sched.Enter()
	defer sched.Leave()
	if f.end() {
		f.n.fault(faultSteady, f.a, f.b)
		f.n.tell("%s flaps no more", f.name())
	}
}

// end reports whether it had not ended before.
func (f *Flapping) end() bool {
	for i, o := range f.n.flaps {
		if o == f {
			f.n.flaps = append(f.n.flaps[:i], f.n.flaps[i+1:]...)
			f.n.w.Cancel(&f.event)
			f.set(false)
			return true
		}
	}
	return false
}
