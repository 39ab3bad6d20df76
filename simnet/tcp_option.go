package simnet

import (
	"syscall"
	"time"
)

// SetV6Only sets IPV6_V6ONLY: EINVAL once bound, ENOPROTOOPT on AF_INET.
func (t *TCP) SetV6Only(on bool) syscall.Errno {
	switch {
	case !t.v6:
		return syscall.ENOPROTOOPT
	case t.port != 0:
		return syscall.EINVAL
	}
	t.v6only = on
	return 0
}

// V6Only returns IPV6_V6ONLY.
func (t *TCP) V6Only() bool { return t.v6only }

// SetRcvBuf sets SO_RCVBUF (with force SO_RCVBUFFORCE), as [UDP.SetRcvBuf].
// Half of it is window. It then no longer grows by itself.
func (t *TCP) SetRcvBuf(bytes int, force bool) {
	t.rcvbuf = bufSize(bytes, t.s.n.RmemMax, minRcvBuf, force)
	t.rcvLock = true
}

// RcvBuf returns SO_RCVBUF, the doubled value.
func (t *TCP) RcvBuf() int { return t.rcvbuf }

// SetSndBuf sets SO_SNDBUF (with force SO_SNDBUFFORCE), as [UDP.SetSndBuf].
// It then no longer grows by itself.
func (t *TCP) SetSndBuf(bytes int, force bool) {
	t.sndbuf = bufSize(bytes, t.s.n.WmemMax, minSndBuf, force)
	t.sndLock = true
	t.notify()
}

// SndBuf returns SO_SNDBUF, the doubled value.
func (t *TCP) SndBuf() int { return t.sndbuf }

// SetTTL sets IP_TTL: 1 to 255, or -1 for the default; EINVAL otherwise.
func (t *TCP) SetTTL(ttl int) syscall.Errno { return set(&t.ttl, ttl, 1, -1) }

// TTL returns IP_TTL.
func (t *TCP) TTL() int { return orTTL(t.ttl) }

// SetHopLimit sets IPV6_UNICAST_HOPS: 0 to 255, or -1 for the default.
func (t *TCP) SetHopLimit(hops int) syscall.Errno { return set(&t.hops, hops, 0, -1) }

// HopLimit returns IPV6_UNICAST_HOPS.
func (t *TCP) HopLimit() int { return orTTL(t.hops) }

// SetTOS sets IP_TOS. Linux looks at the low eight bits only, and keeps the
// two of ECN to itself.
func (t *TCP) SetTOS(tos int) syscall.Errno {
	t.tos = tos & 0xfc
	return 0
}

// TOS returns IP_TOS.
func (t *TCP) TOS() int { return t.tos }

// SetTrafficClass sets IPV6_TCLASS: 0 to 255, or -1 for the default. As of
// IP_TOS, Linux keeps the two bits of ECN to itself.
func (t *TCP) SetTrafficClass(class int) syscall.Errno {
	errno := set(&t.class, class, 0, 0)
	t.class &^= 3
	return errno
}

// TrafficClass returns IPV6_TCLASS.
func (t *TCP) TrafficClass() int { return max(0, t.class) }

// SetNoDelay sets TCP_NODELAY: small segments do not wait for the answer to
// earlier ones. What waits leaves now.
func (t *TCP) SetNoDelay(on bool) {
	t.nodelay = on
	if on && !t.dead() {
		t.s.n.tcpEnter()
		t.push()
		t.s.n.tcpLeave()
	}
}

// NoDelay returns TCP_NODELAY.
func (t *TCP) NoDelay() bool { return t.nodelay }

// SetCork sets TCP_CORK: a segment that is not full waits, for 200 ms at most.
func (t *TCP) SetCork(on bool) {
	t.cork = on
	if !on && !t.dead() {
		t.s.n.tcpEnter()
		t.forced = true
		t.push()
		t.forced = false
		t.s.n.tcpLeave()
	}
}

// Cork returns TCP_CORK.
func (t *TCP) Cork() bool { return t.cork }

// SetQuickAck sets TCP_QUICKACK: whether ACKs leave at once, until the
// connection finds otherwise. One that waits leaves now.
func (t *TCP) SetQuickAck(on bool) {
	if !on {
		t.quick = 0
		return
	}
	t.quick = quickAcks
	if t.ackAt != 0 && !t.dead() {
		t.s.n.tcpEnter()
		t.sendAck()
		t.s.n.tcpLeave()
	}
}

// QuickAck returns TCP_QUICKACK.
func (t *TCP) QuickAck() bool { return t.quick > 0 || t.mss == 0 }

// SetFin2 sets TCP_LINGER2: how long FIN_WAIT2 lasts after Close, two minutes
// at most; 0 is the default, negative not at all.
func (t *TCP) SetFin2(d time.Duration) {
	if t.fin2 = min(d, 2*time.Minute); d < 0 {
		t.fin2 = -time.Second
	}
}

// Fin2 returns TCP_LINGER2.
func (t *TCP) Fin2() time.Duration {
	if t.fin2 == 0 {
		return timeWaitTime
	}
	return t.fin2
}

// SetDevice sets SO_BINDTODEVICE by interface number, 0 for any.
func (t *TCP) SetDevice(ifindex int) {
	t.device = ifindex
	t.gen = 0
}

// Device returns the interface of SO_BINDTODEVICE, or 0.
func (t *TCP) Device() int { return t.device }

// SetUnicastInterface sets IP_UNICAST_IF or IPV6_UNICAST_IF by interface
// number, 0 for any.
func (t *TCP) SetUnicastInterface(ifindex int) {
	t.outIf = ifindex
	t.gen = 0
}

// SetMaxSeg sets TCP_MAXSEG: 88 to 32767, or 0 for none; EINVAL otherwise. It
// takes effect when the socket connects.
func (t *TCP) SetMaxSeg(bytes int) syscall.Errno {
	if bytes != 0 && (bytes < minMSS || bytes > 32767) {
		return syscall.EINVAL
	}
	t.maxseg = bytes
	return 0
}

// MaxSeg returns TCP_MAXSEG: the size of the segments that the connection
// sends; 536 before there is one.
func (t *TCP) MaxSeg() int {
	if t.mss == 0 {
		if t.maxseg != 0 {
			return t.maxseg
		}
		return defaultMSS
	}
	return t.mss
}

// SetKeepAlive sets SO_KEEPALIVE.
func (t *TCP) SetKeepAlive(on bool) {
	t.keepAlive = on
	t.rearmKeepAlive()
}

// KeepAlive returns SO_KEEPALIVE.
func (t *TCP) KeepAlive() bool { return t.keepAlive }

// SetKeepIdle sets TCP_KEEPIDLE: whole seconds, 1 to 32767; EINVAL otherwise.
func (t *TCP) SetKeepIdle(d time.Duration) syscall.Errno {
	if d < time.Second || d > 32767*time.Second {
		return syscall.EINVAL
	}
	t.keepIdle = d
	t.rearmKeepAlive()
	return 0
}

// KeepIdle returns TCP_KEEPIDLE.
func (t *TCP) KeepIdle() time.Duration { return t.keepIdle }

// SetKeepInterval sets TCP_KEEPINTVL: whole seconds, 1 to 32767; EINVAL
// otherwise.
func (t *TCP) SetKeepInterval(d time.Duration) syscall.Errno {
	if d < time.Second || d > 32767*time.Second {
		return syscall.EINVAL
	}
	t.keepInterval = d
	return 0
}

// KeepInterval returns TCP_KEEPINTVL.
func (t *TCP) KeepInterval() time.Duration { return t.keepInterval }

// SetKeepCount sets TCP_KEEPCNT: 1 to 127; EINVAL otherwise.
func (t *TCP) SetKeepCount(n int) syscall.Errno {
	if n < 1 || n > 127 {
		return syscall.EINVAL
	}
	t.keepCount = n
	return 0
}

// KeepCount returns TCP_KEEPCNT.
func (t *TCP) KeepCount() int { return t.keepCount }

// A TCPInfo is what TCP_INFO tells, as far as the model knows it.
type TCPInfo struct {
	State         uint8 // Linux's number: 1 is ESTABLISHED, 7 CLOSE, 10 LISTEN
	Retransmits   uint8 // timeouts in a row
	Probes        uint8
	Backoff       uint8
	RTO           time.Duration
	SndMSS        int
	RcvMSS        int
	Unacked       int // segments; of a listening socket, connections to accept
	Sacked        int // of a listening socket: its backlog
	RTT           time.Duration
	RTTVar        time.Duration
	SndSsthresh   int // segments
	SndCwnd       int // segments
	AdvMSS        int
	PMTU          int
	RcvSpace      int
	TotalRetrans  int
	BytesAcked    uint64
	BytesReceived uint64
	NotSentBytes  int
}

// Unread is SIOCINQ: how many bytes Recv has at hand, before the urgent one.
func (t *TCP) Unread() int {
	if t.urgent.state != urgentNone && !t.inline {
		if ahead := t.at - t.copiedTo(); ahead >= 0 && ahead < int64(t.rlen) {
			return int(ahead)
		}
	}
	return t.rlen
}

// LastRead is the virtual time at which the last of the bytes that Recv
// returned came (SO_TIMESTAMP), or 0.
func (t *TCP) LastRead() int64 { return t.readAt }

// Unsent is SIOCOUTQ: how many bytes the peer has not confirmed yet.
func (t *TCP) Unsent() int { return t.blen }
