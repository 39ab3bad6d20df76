package simnet

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/dstkit/dst/sched"
)

//go:generate go run ../internal/dropin/gen

// These make the errors of the functions in std.go outside of simulated hosts: of
// std's types, as for a machine whose network refuses.

func outside(op, network string, addr net.Addr) error {
	return &net.OpError{Op: op, Net: network, Addr: addr, Err: sched.ErrNotOnHost}
}

func unknown(name string) error {
	return &net.DNSError{Err: sched.ErrNotOnHost.Error(), UnwrapErr: sched.ErrNotOnHost, Name: name}
}

// known returns a as an address, with nil for none.
func known[T any, P interface {
	*T
	net.Addr
}](a P) net.Addr {
	if a == nil {
		return nil
	}
	return a
}

// A textAddr is an address as the caller wrote it.
type textAddr struct{ network, address string }

var _ net.Addr = textAddr{}

func (a textAddr) Network() string { return a.network }
func (a textAddr) String() string  { return a.address }

func written(network, address string) net.Addr { return textAddr{network, address} }

// These tell whether an address says all by itself, so that there is nothing to look up.

func isIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// isHost takes what std's ResolveIPAddr does.
func isHost(s string) bool { return s == "" || isIP(s) }

func isPort(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil || s == ""
}

func isHostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	// Std has the right words for what is no address.
	return err != nil || isHost(host) && isPort(port)
}
