// Package simnet is the network of a simulation: hosts on one Ethernet
// segment, the links between them, and the faults those links suffer.
//
// # Hosts
//
// [Network.AddHost] declares a host. It has the interfaces lo (127.0.0.1/8,
// ::1) and eth0 (10.0.0.1/16 and fd00::1/64, counting up in order of
// declaration). Every host finds the others' names in its /etc/hosts, and others by
// the name server. There is no router: an address outside of these networks is unreachable (ENETUNREACH).
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
// [Network.SetUplink] and [Network.SetDownlink] give a host a line of its own that
// all of its packets share, before and behind the links. A packet passes, in this
// order: faults that cut, rules, the uplink's queue, the link's queue, bursts, loss,
// corruption, duplication, latency; then faults again, and the downlink's queue.
//
// # Rules, NATs, flapping
//
// A rule does to some packets what a link does to all: [ParseRule] has the grammar,
// such as "drop first syn to port 80", and [Network.RuleFunc] takes a function.
// [Network.NAT] puts hosts behind a network address translator. [Network.Flap] and
// [Network.FlapHost] let a link or an interface go down and come up, again and again.
//
//	what happens                     the sender sees             the receiver sees
//	----                             ----                        ----
//	rule: drop, corrupt              as Loss                     nothing
//	rule: delay, duplicate           success                     later, twice
//	rule: reject, UDP                as no socket on the port    nothing
//	rule: reject, a SYN              ECONNREFUSED                nothing
//	rule: reject, of a connection    ECONNRESET                  nothing, until it sends
//	  with port-unreachable, UDP     ECONNREFUSED if connected   nothing
//	  with prohibited, UDP           EHOSTUNREACH if connected   nothing
//	  with host-unreachable, UDP     success                     nothing
//	  with any of these, a SYN       ECONNREFUSED, EHOSTUNREACH  nothing
//	  the same, of a connection      as Loss; the errno instead  as Loss
//	                                 of ETIMEDOUT in the end
//	Flap while down                  success                     nothing
//	FlapHost of the sender, down     ENETUNREACH                 what was sent before
//	NAT: from inside                 success                     another source address
//	NAT: no mapping, or filtered     success; with Reject as     nothing
//	                                 a closed port
//	NAT: Rebind, UDP                 success                     the next from another port
//	NAT: Rebind, TCP from inside     ECONNRESET                  nothing
//	NAT: Rebind, TCP to the inside   as Loss; with Reject        nothing
//	                                 ECONNRESET
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
//	Link.Loss, Burst, Corrupt, a     success                     nothing
//	full queue of link or line
//	Link.Duplicate                   success                     the datagram twice
//	Link.DeliverCorrupt              success                     one bit flipped
//	Link.Latency varies, Reorder     success                     another order; with
//	                                                             InOrder Reorder alone
//	Link.MTU exceeded                success, more loss; with    all or nothing
//	                                 DontFragment EMSGSIZE once
//	                                 that is known
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
//   - A datagram that may be fragmented is, as if the path's MTU were known.
//     With IP_PMTUDISC_DO and PROBE, and for TCP, it is found out: what is too
//     large for the link is dropped, and an ICMP packet comes back that says so.
//   - An IPv4 group or broadcast needs no route: eth0 has it.
//   - UDP_SEGMENT sends a datagram for each segment, each with a fate of its own.
//     UDP_GRO joins those of one send that come at the same moment.
//   - IP_RECVERR tells of closed ports and of datagrams too large, and of nothing
//     else. IPv6 zones are not modelled.
//   - A host takes what is sent to a group if one of its sockets joined it, from
//     whatever source; which sources a socket wants is asked at the socket.
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
//	Loss, Burst, Corrupt, full queue delay: 3 later segments or    delay
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
//	                                 as Cut once connected, with
//	                                 ENETUNREACH in the end
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
//   - Congestion control is Reno (RFC 5681): ten segments to begin with, slow
//     start, then a segment a round trip. What was lost is found out and sent
//     again by selective acknowledgement (RFC 2018, RFC 6675); there is no RACK
//     and no tail loss probe, so that the loss of the last segments waits for the
//     timer. There is no CUBIC, no pacing, no ECN, and no restart after idle times.
//   - The first 16 ACKs leave at once; later ones wait for a second segment, for
//     data to go with, or for 40 ms.
//   - The receive buffer counts payload, half of SO_RCVBUF. It doubles, up to
//     6 MB, each time that much was read; the send buffer follows the congestion
//     window, up to 4 MB. Setting a size ends that.
//   - Half-open connections have no limit, as with SYN cookies.
//   - TIME_WAIT lasts 60 s and costs no event. A SYN with a later timestamp ends
//     it. Ephemeral ports skip it, but for loopback addresses after a second.
//   - TCP_MAXSEG takes effect at once. A path's MTU is found out as above, and
//     forgotten after ten minutes. Where the news does not get back, large
//     segments are lost for good: Linux does not probe for that by default.
//   - Fast open, MD5 and multipath are not modelled. MSG_MORE and TCP_CORK hold
//     back a segment until more comes or 200 ms pass. Urgent data sends no
//     SIGURG.
//
// # Names
//
// Each host has the files /etc/hosts (localhost and all hosts), /etc/resolv.conf
// (nameserver 10.0.255.53, search sim.internal) and /etc/nsswitch.conf (files,
// then dns). They are kept up to date until somebody writes to one: then it is that
// host's own. A test writes with the host's Disk. Std looks at resolv.conf again
// after 5 seconds.
//
// The name server, a [DNS], is one more member of the segment: 10.0.255.53 and
// fd00::ff:53, called [NameServer] ("dns") in Partition, Cut, SetLink, Counters
// and so on. No host can have that name. It meets links and faults as a host
// does, but no broadcasts; a partition of one side cuts it off too, unless it is on that
// side. It answers over UDP and TCP, and is there when the first packet is sent to
// it: programs that ask nothing have the same run as without it.
//
// The server behaves as a recursive resolver that has the whole tree at hand. It has
// A, AAAA and PTR records for NAME.sim.internal, one for each host, and those that the test
// adds ([DNS.Add]), which may change at any time. Records of a name are answered in
// the order in which they were added. It knows:
//
//   - CNAME chains of up to 15, wildcards (RFC 4592), names that are there
//     without records (RFC 8020), SOA records with negative answers (RFC 2308);
//   - EDNS (RFC 6891): answers over UDP of up to 1232 bytes, 512 without; what is
//     larger is truncated, and asked for again over TCP, where queries may be
//     pipelined (RFC 7766) and connections end after 10 idle seconds;
//   - ANY is answered with HINFO (RFC 8482), another class than IN and zone
//     transfers with REFUSED, other operations with NOTIMP, what cannot be read
//     with FORMERR.
//
// Not modelled: delegation to other servers, caches (a change is seen at once; TTLs are
// what clients make of them), DNSSEC, DNAME, dynamic updates, records in the
// additional section.
//
// How it fails is said by [DNS.Fail], for all queries or those of a host, for a name
// or of a type, and undone by [DNS.Recover] and Heal, which leave the records as they
// are. With resolv.conf as it is, std's resolver makes two attempts of 5 seconds for
// each name that the search list makes, A and AAAA side by side, and the program sees:
//
//	what happens                   error (a *net.DNSError)              after
//	----                           ----                                 ----
//	no such name, no such records  no such host; IsNotFound             the answer
//	DNSServFail                    server misbehaving; IsTemporary      2 answers
//	DNSRefused, NotImp, FormErr    server misbehaving                   2 answers
//	DNSGarbage                     cannot unmarshal DNS message         2 answers
//	DNSTruncated                   -                                    the answer over TCP
//	DNSSilent, DNSWrongID, Cut,    i/o timeout; IsTimeout, IsTemporary  10 s
//	Partition, Down of the server
//	Delay below 5 s                -                                    the delay
//	Delay above 5 s                as DNSSilent                         10 s
//	a packet lost                  -                                    5 s, and the answer
//	Stop                           connection refused; IsTemporary      at once
//	Down of the host               network is unreachable; IsTemporary  at once
//
// # Accounting
//
// [Network.Counters] tells what became of the packets between two hosts, and
// adds up at any time; [Network.HostCounters], [Network.RuleCounters] and
// [Gateway.Counters] tell of hosts and their lines, rules and NATs. Network.Trace
// sees each packet, and [Network.Capture] writes them for Wireshark and tcpdump. All
// of these are for looking: they draw nothing and change nothing.
//
// # Drop-in for package net
//
// The package also has every exported name of net, with the same types: code that
// imports it instead mixes freely with code that does not. In a normal build, and in
// one with the tag dst alone, all of these are std's.
//
// In a simulation build, the functions do on a host what the host's kernel makes of
// them. Elsewhere (in the test's body, in other tests, while packages are initialised), what
// dials, listens or looks up gets an error, of std's types, around
// [sched.ErrNotOnHost], instead of reaching the real machine.
// Methods, such as those of [Dialer], [ListenConfig] and [Resolver], are those of std's types: they are
// not refused.
package simnet
