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

// SetTrafficClass sets IPV6_TCLASS: 0 to 255, or -1 for the default.
func (t *TCP) SetTrafficClass(class int) syscall.Errno { return set(&t.class, class, 0, 0) }

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

// Unread is SIOCINQ: how many bytes Recv has at hand.
func (t *TCP) Unread() int { return t.rlen }

// Unsent is SIOCOUTQ: how many bytes the peer has not confirmed yet.
func (t *TCP) Unsent() int { return t.blen }
