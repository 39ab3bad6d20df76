// Package simnet is the network of a simulation: hosts on one Ethernet
// segment, the links between them, and the faults those links suffer.
//
// # Hosts
//
// [Network.AddHost] declares a host. It has the interfaces lo (127.0.0.1/8,
// ::1) and eth0 (10.0.0.1/16 and fd00::1/64, counting up in order of
// declaration). Every host finds the others' names in its /etc/hosts. There is
// no router: an address outside of these networks is unreachable (ENETUNREACH).
// There are no link-local IPv6 addresses.
//
// # Links
//
// A packet from one host to another takes the [Link] between them, each
// direction by itself. The zero Link is perfect: what is sent has arrived when
// the send returns. What a Link does to a packet is drawn from the stream
// "net" in a fixed order, and what is off draws nothing. Traffic within a host
// meets no link and no fault.
//
// # Faults
//
// Faults are asked for by the names of hosts, and last until they are undone
// or [Network.Heal] undoes them all. The fate of a packet is decided when it
// is sent and again when it is due to arrive: a cut takes what is on the wire
// unless it is mended before.
//
//	what happens                     the sender sees             the receiver sees
//	----                             ----                        ----
//	Link.Loss, Corrupt, full queue   success                     nothing
//	Link.Duplicate                   success                     the datagram twice
//	Link.DeliverCorrupt              success                     one bit flipped
//	Link.Latency varies, Reorder     success                     another order
//	Link.MTU exceeded                success, more loss; with    all or nothing
//	                                 DontFragment EMSGSIZE
//	Partition, Cut                   success                     nothing
//	Hold                             success                     nothing until Release, then all in order
//	Down of the sender               ENETUNREACH                 what was sent before
//	Down of the receiver             success                     nothing
//	PowerOff of the receiver         success                     nothing
//	Reset of the receiver, or no     success, then ECONNREFUSED  nothing
//	socket on the port               once if connected
//	receive buffer full              success                     nothing (counted)
//	address that no host has         success                     -
//	address beyond the segment       ENETUNREACH                 -
//	PowerOff, Reset of the sender    -                           what was sent before
//
// The ECONNREFUSED is an ICMP packet that comes back over the link, with its
// latency, and may be lost. Linux limits how many of them it sends; the
// simulator does not.
//
// A broadcast (255.255.255.255 or 10.0.255.255) reaches all hosts, the sender
// too; a datagram to a group reaches the hosts that joined it, and the sender
// if it did and has not turned the loop off. Each copy has a fate of its own.
//
// # Sockets
//
// A [Stack] is what the simulated kernel sees of a host. A [UDP] is one socket,
// with the rules and errnos of Linux: ports, SO_REUSEADDR and SO_REUSEPORT,
// dual stack, connected sockets, groups. Its tests run one body against the
// machine's own sockets and against the model. Where the model is simpler:
//
//   - Sends never wait for room in the send buffer: a slow link queues, and
//     drops, on its own side.
//   - The receive buffer is charged Linux's truesize for a datagram (832 bytes
//     for the smallest), and room comes back as soon as a datagram is read,
//     where Linux may wait until a quarter of the buffer was.
//   - Fragments share one draw of latency. A datagram of n fragments is lost
//     with the chance that one of n is.
//   - The path's MTU is known at once, as if discovered.
//   - An IPv4 group or broadcast needs no route: eth0 has it.
//   - IP_RECVERR, source-specific groups and IPv6 zones are not modelled.
//
// # Streams
//
// A [TCP] is a connection whose segments take the same links: what a link does
// to them shows as delay, never as bytes that are missing, repeated or out of
// order. A connection that nothing gets through any more ends with an error, in
// bounded time. Times and counts are Linux's defaults.
//
//	what happens                     this end sees                 the other end sees
//	----                             ----                          ----
//	Loss, Corrupt, full queue        delay: 3 later segments or    delay
//	                                 200 ms and up, doubling
//	Duplicate, Reorder               nothing                       nothing
//	DeliverCorrupt                   nothing                       one bit flipped
//	Partition, Cut, Hold, mended     delay                         delay
//	  for good, connecting           ETIMEDOUT after 127 s         nothing
//	  for good, bytes unconfirmed    ETIMEDOUT after 15 to 17      ETIMEDOUT if it sends,
//	                                 minutes, or UserTimeout       or by keep-alive
//	  for good, idle                 nothing, for ever; or         the same
//	                                 ETIMEDOUT by keep-alive
//	Down of this end                 ENETUNREACH from Connect;     as Cut
//	                                 as Cut once connected
//	Down, PowerOff of the other end  as Cut                        -
//	PowerOn after PowerOff           ECONNRESET at the next        -
//	                                 segment that gets through
//	nobody listens                   ECONNREFUSED                  -
//	accept queue full                SYN again after 1, 3, 7 … s   nothing (counted)
//	address that no host has         EHOSTUNREACH after 3 s        -
//	address beyond the segment       ENETUNREACH                   -
//	Close, all read                  -                             the end of the stream,
//	                                                               ECONNRESET or EPIPE if it sends
//	Close, bytes unread; linger 0    -                             what came before, then ECONNRESET
//	Reset (the process died)         EBADF                         as Close
//	Close of a listening socket      -                             ECONNRESET if not accepted yet
//	no reader                        EAGAIN when both buffers      -
//	                                 are full; the window is
//	                                 probed for ever
//
// Where the model is simpler than Linux:
//
//   - Sequence numbers have 64 bits and do not wrap. Timestamps are always on,
//     and take no room: a full segment has 1460 bytes, 1440 over IPv6.
//   - Over a perfect link, segments of up to 64240 bytes travel as one packet,
//     as with segmentation offload.
//   - Congestion control is Reno with NewReno recovery (RFC 5681, RFC 6582): ten
//     segments to begin with, slow start, then a segment a round trip. There is
//     no SACK, no CUBIC, no pacing, no ECN, and no restart after idle times.
//   - The first 16 ACKs leave at once; later ones wait for a second segment, for
//     data to go with, or for 40 ms.
//   - The receive buffer counts payload, half of SO_RCVBUF. It doubles, up to
//     6 MB, each time that much was read; the send buffer follows the congestion
//     window, up to 4 MB. Setting a size ends that.
//   - Half-open connections have no limit, as with SYN cookies.
//   - TIME_WAIT lasts 60 s and costs no event. A SYN with a later timestamp ends
//     it. Ephemeral ports skip it, but for loopback addresses after a second.
//   - TCP_MAXSEG, and a link's MTU, take effect at once; there is no discovery.
//   - Urgent data, fast open, TCP_DEFER_ACCEPT, MD5 and multipath are not
//     modelled. MSG_MORE holds back a segment until more comes or 200 ms pass.
//
// # Accounting
//
// [Network.Counters] tells what became of the packets between two hosts, and
// adds up at any time. Network.Trace sees each of them. Both are for looking:
// they draw nothing and change nothing.
package simnet
