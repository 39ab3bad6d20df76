package simnet

import "net/netip"

// ephemeral draws a port for a socket that asks for any, the first that is free
// from there on; 0 means that none is.
func (n *Network) ephemeral(free func(port uint16) bool) uint16 {
	const count = lastEphemeral - firstEphemeral + 1
	at := n.net.N(count)
	for i := range count {
		if port := uint16(firstEphemeral + (at+i)%count); free(port) {
			return port
		}
	}
	return 0
}

// received tells what a socket bound to a receives: what is sent to laddr, which
// is not valid for any address, over IPv4, IPv6 or both.
func received(a netip.Addr, v6, v6only bool) (laddr netip.Addr, has4, has6 bool) {
	if !a.IsUnspecified() {
		return a, a.Is4(), !a.Is4()
	}
	return netip.Addr{}, a.Is4() || v6 && !v6only, !a.Is4()
}
