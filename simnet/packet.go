package simnet

import "net/netip"

// A Datagram is what a socket received. It comes from a pool: call Release
// when it was read, and keep nothing of it.
type Datagram struct {
	Payload   []byte         // kernel memory, valid until Release
	From      netip.AddrPort // in the form of the socket's family: a dual-stack socket sees ::ffff:10.0.0.2
	To        netip.AddrPort // where it was sent to: tells a broadcast or a group from the host's address (IP_PKTINFO's ipi_addr)
	Interface int            // the interface that it arrived at (ipi_ifindex): 1 lo, 2 eth0
	TTL       uint8          // hops left (IP_RECVTTL, IPV6_RECVHOPLIMIT)
	TOS       uint8          // type of service, traffic class (IP_RECVTOS, IPV6_RECVTCLASS)
}

// Release gives the datagram back to the pool.
func (d *Datagram) Release() { panic("simnet: not built yet") }
