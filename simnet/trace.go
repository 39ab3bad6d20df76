package simnet

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/dstkit/dst/sched"
)

// A Verb says what happened to a packet. Its numbers are part of the
// fingerprint: add at the end.
type Verb uint8

const (
	Sent           Verb = iota + 1 // handed to the link
	Delivered                      // reached the other host
	Lost                           // lost on the link
	Duplicated                     // the link made a second copy
	Corrupted                      // damaged, and dropped by the receiver's checksum
	Mangled                        // damaged, and on its way so
	QueueDropped                   // the link's queue was full
	CutOff                         // the way was cut when it was sent or due to arrive
	Unreachable                    // the receiver's interface was down or its machine off
	HeldBack                       // arrived while the way is held
	Local                          // within one host
	NoPort                         // no socket wants it
	BufferFull                     // the socket's receive buffer was full
	NoNeighbour                    // no host has that address
	BurstLost                      // lost on the link, in a burst
	RuleDropped                    // a rule dropped it
	Rejected                       // a rule dropped it, and answered
	RuleDelayed                    // a rule delays it
	RuleDuplicated                 // a rule asks for a second copy
	RuleCorrupted                  // a rule asks for damage
	NATDropped                     // the NAT has no mapping for it, or no way
)

var verbNames = [...]string{"?", "sent", "delivered", "lost", "duplicated", "corrupted", "mangled", "queue-dropped",
	"cut-off", "unreachable", "held-back", "local", "no-port", "buffer-full", "no-neighbour",
	"burst-lost", "rule-dropped", "rejected", "rule-delayed", "rule-duplicated", "rule-corrupted", "nat-dropped"}

func (v Verb) String() string {
	if int(v) < len(verbNames) {
		return verbNames[v]
	}
	return verbNames[0]
}

// A PacketEvent is one thing that happened to one packet.
type PacketEvent struct {
	Time     int64 // virtual nanoseconds
	Verb     Verb
	Proto    string         // "udp", "tcp" or "icmp"
	Flags    string         // of TCP: such as "SYN ACK"
	From, To string         // hosts, the same one for what happens within it; To is empty where no host has the address
	Src, Dst netip.AddrPort // addresses in the packet
	Size     int            // payload bytes
	Rule     string         // the name of the rule that did it, or empty
}

// String returns a line such as "+1.5ms a>b udp 10.0.0.1:5>10.0.0.2:7 3B lost".
func (e PacketEvent) String() string {
	proto := e.Proto
	if e.Flags != "" {
		proto += " " + e.Flags
	}
	s := fmt.Sprintf("+%v %s>%s %s %v>%v %dB %v", time.Duration(e.Time-sched.Epoch), e.From, e.To, proto, e.Src, e.Dst, e.Size, e.Verb)
	if e.Rule != "" {
		s += " by " + strconv.Quote(e.Rule)
	}
	return s
}
