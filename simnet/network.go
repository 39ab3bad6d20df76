package simnet

import "github.com/dstkit/dst/sched"

// A Network joins the hosts of one world.
type Network struct {
	w      *sched.World
	stacks []*Stack // in order of declaration
	byName map[string]*Stack
}

// New returns a network without hosts.
func New(w *sched.World) *Network { return &Network{w: w, byName: map[string]*Stack{}} }

// AddHost declares a host and returns its network stack. Hosts get the
// addresses 10.0.0.1, 10.0.0.2, … and fd00::1, fd00::2, … in order of
// declaration. It panics if the name is taken or cannot be a host's name.
func (n *Network) AddHost(name string) *Stack { panic("simnet: not built yet") }

// Lookup returns the stack of the named host, or nil.
func (n *Network) Lookup(name string) *Stack { return n.byName[name] }

// Hosts returns the hosts' names in order of declaration.
func (n *Network) Hosts() []string { panic("simnet: not built yet") }
