package simnet

import "net/netip"

// A Stack is the network side of one machine: its interfaces and addresses,
// and the sockets that live there. All of its methods are called in kernel
// context.
type Stack struct {
	n    *Network
	name string
}

// An Iface is one network interface of a host.
type Iface struct {
	Index        int            // 1 is lo, 2 is eth0
	Name         string         // "lo" or "eth0"
	MTU          int            // bytes
	Flags        uint32         // IFF_UP and so on, with Linux's values
	HardwareAddr [6]byte        // zero for lo
	Addrs        []netip.Prefix // with the host part kept: 10.0.0.1/16
}

// Name returns the host's name.
func (s *Stack) Name() string { return s.name }

// ID returns the host's number within the network, from 1.
func (s *Stack) ID() uint32 { panic("simnet: not built yet") }

// Addr returns the host's IPv4 address on eth0.
func (s *Stack) Addr() netip.Addr { panic("simnet: not built yet") }

// Addr6 returns the host's IPv6 address on eth0.
func (s *Stack) Addr6() netip.Addr { panic("simnet: not built yet") }

// Interfaces returns the host's interfaces as they are now.
func (s *Stack) Interfaces() []Iface { panic("simnet: not built yet") }

// Reset removes every socket and group membership: the process died. Nobody is
// notified. Packets that were sent already travel on.
func (s *Stack) Reset() { panic("simnet: not built yet") }

// PowerOff turns the machine off, sockets and all: what arrives for it meets
// silence, where a machine that is up answers that the port is closed.
func (s *Stack) PowerOff() { panic("simnet: not built yet") }

// PowerOn turns the machine on again.
func (s *Stack) PowerOn() { panic("simnet: not built yet") }
