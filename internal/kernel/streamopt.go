//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"time"

	"github.com/dstkit/dst/sched"
)

// Options of TCP that package syscall lacks.
const (
	tcpUserTimeout     = 18
	tcpFastOpen        = 23
	tcpTimestamp       = 24
	tcpNotSentLowat    = 25
	tcpFastOpenConnect = 30
	tcpULP             = 31

	tcpThinLinear       = 16
	tcpFastOpenNoCookie = 34
	tcpInq              = 36
	tcpTxDelay          = 37
)

// congestion is what TCP_CONGESTION tells.
const congestion = "cubic\x00"

// setTCP sets an option of level IPPROTO_TCP.
func (p *Process) setTCP(c *Call, f *file, name int, v *optval) syscall.Errno {
	t, o := f.sock.tcp, &f.sock.opts
	if name == syscall.TCP_CONGESTION {
		switch string(zeroEnded(v.b[:min(v.length, 15)])) {
		case "cubic":
			return 0
		case "":
			return syscall.EINVAL
		}
		return syscall.ENOENT // a module that is not there
	}
	if name == tcpULP {
		if v.length == 0 {
			return syscall.EINVAL
		}
		return syscall.ENOENT // as without the module tls
	}
	if !v.full() {
		return syscall.EINVAL
	}
	on, seconds := v.n != 0, time.Duration(v.n)*time.Second
	switch name {
	case syscall.TCP_NODELAY:
		t.SetNoDelay(on)
	case syscall.TCP_MAXSEG:
		return t.SetMaxSeg(int(v.n))
	case syscall.TCP_KEEPIDLE:
		return t.SetKeepIdle(seconds)
	case syscall.TCP_KEEPINTVL:
		return t.SetKeepInterval(seconds)
	case syscall.TCP_KEEPCNT:
		return t.SetKeepCount(int(v.n))
	case tcpUserTimeout:
		if v.n < 0 {
			return syscall.EINVAL
		}
		t.UserTimeout = time.Duration(v.n) * time.Millisecond
	case syscall.TCP_QUICKACK:
		t.SetQuickAck(on)
		o.keep(syscall.IPPROTO_TCP, name, b2i(on))
	case syscall.TCP_DEFER_ACCEPT:
		t.DeferAccept = synAcks(seconds)
	case syscall.TCP_LINGER2:
		t.SetFin2(seconds)
	case syscall.TCP_WINDOW_CLAMP:
		if v.n != 0 {
			p.unsupported(c.Trap, uint64(name), "TCP_WINDOW_CLAMP is kept and has no effect")
		}
		o.keep(syscall.IPPROTO_TCP, name, clampWindow(v.n))
	case tcpNotSentLowat:
		t.UnsentLow = int(max(0, v.n))
		o.keep(syscall.IPPROTO_TCP, name, v.n)
	case syscall.TCP_SYNCNT:
		if v.n < 1 || v.n > 127 {
			return syscall.EINVAL
		}
		t.SynRetries = int(v.n)
	case syscall.TCP_CORK:
		t.SetCork(on)
	case tcpInq:
		if v.n != 0 && v.n != 1 {
			return syscall.EINVAL
		}
		o.tcpInq = on
	case tcpFastOpen:
		if v.n < 0 {
			return syscall.EINVAL
		}
		o.keep(syscall.IPPROTO_TCP, name, min(v.n, maxBacklog))
	case tcpTimestamp:
		return syscall.EPERM // it is for sockets under repair
	default:
		return p.keepOption(c, f, syscall.IPPROTO_TCP, name, v)
	}
	return 0
}

// clampWindow is what is left of a TCP_WINDOW_CLAMP: half of the smallest
// receive buffer at least.
func clampWindow(n int32) int32 {
	const least = 2304 / 2
	if n == 0 {
		return 0
	}
	return max(n, least)
}

// synAcks is after how many SYN ACKs a time has passed, which is how TCP keeps
// TCP_DEFER_ACCEPT; afterSynAcks is the time that so many take.
func synAcks(d time.Duration) int {
	n := 0
	for n < 255 && afterSynAcks(n) < d {
		n++
	}
	return n
}

func afterSynAcks(n int) time.Duration {
	var sum time.Duration
	for i := range n {
		sum += min(time.Second<<min(i, 10), 2*time.Minute)
	}
	return sum
}

// getTCP returns an option of level IPPROTO_TCP, which is an int.
func (p *Process) getTCP(c *Call, f *file, name int) (v int32, errno syscall.Errno) {
	t, o := f.sock.tcp, &f.sock.opts
	switch name {
	case syscall.TCP_NODELAY:
		return b2i(t.NoDelay()), 0
	case syscall.TCP_MAXSEG:
		return int32(t.MaxSeg()), 0
	case syscall.TCP_KEEPIDLE:
		return int32(t.KeepIdle() / time.Second), 0
	case syscall.TCP_KEEPINTVL:
		return int32(t.KeepInterval() / time.Second), 0
	case syscall.TCP_KEEPCNT:
		return int32(t.KeepCount()), 0
	case tcpUserTimeout:
		return int32(t.UserTimeout / time.Millisecond), 0
	case syscall.TCP_QUICKACK:
		if t.Listening() || t.RemoteAddr().IsValid() {
			return b2i(t.QuickAck()), 0
		}
		return o.look(syscall.IPPROTO_TCP, name, 1), 0
	case syscall.TCP_DEFER_ACCEPT:
		return int32(afterSynAcks(t.DeferAccept) / time.Second), 0
	case syscall.TCP_LINGER2:
		return int32(t.Fin2() / time.Second), 0
	case syscall.TCP_SYNCNT:
		if t.SynRetries != 0 {
			return int32(t.SynRetries), 0
		}
		return 6, 0
	case syscall.TCP_CORK:
		return b2i(t.Cork()), 0
	case tcpInq:
		return b2i(o.tcpInq), 0
	case tcpTimestamp:
		return int32(p.k.w.Now() / int64(time.Millisecond)), 0
	case syscall.TCP_WINDOW_CLAMP, tcpNotSentLowat:
		return o.look(syscall.IPPROTO_TCP, name, 0), 0
	}
	return 0, p.noOption(c, f, syscall.IPPROTO_TCP, name)
}

// A tcpInfo is struct tcp_info up to tcpi_min_rtt. What the model does not know
// is zero.
type tcpInfo struct {
	State, CAState, Retransmits, Probes, Backoff, Options, WScale, Flags uint8

	RTO, ATO, SndMSS, RcvMSS, Unacked, Sacked, Lost, Retrans, Fackets                uint32
	LastDataSent, LastAckSent, LastDataRecv, LastAckRecv, PMTU, RcvSsthresh          uint32
	RTT, RTTVar, SndSsthresh, SndCwnd, AdvMSS, Reordering, RcvRTT, RcvSpace, Retotal uint32

	PacingRate, MaxPacingRate, BytesAcked, BytesReceived uint64
	SegsOut, SegsIn, NotSent, MinRTT                     uint32
}

// readTCP is getsockopt of TCP_INFO and TCP_CONGESTION, which are no ints.
func (p *Process) readTCP(c *Call, f *file, name int, room int32) syscall.Errno {
	b := []byte(congestion)
	if name == syscall.TCP_INFO {
		i := f.sock.tcp.Info()
		us := func(d time.Duration) uint32 { return uint32(d / time.Microsecond) }
		info := tcpInfo{
			State: i.State, Retransmits: i.Retransmits, Probes: i.Probes, Backoff: i.Backoff,
			RTO: us(i.RTO), SndMSS: uint32(i.SndMSS), RcvMSS: uint32(i.RcvMSS),
			Unacked: uint32(i.Unacked), Sacked: uint32(i.Sacked), PMTU: uint32(i.PMTU),
			RTT: us(i.RTT), RTTVar: us(i.RTTVar), SndSsthresh: uint32(i.SndSsthresh), SndCwnd: uint32(i.SndCwnd),
			AdvMSS: uint32(i.AdvMSS), RcvSpace: uint32(i.RcvSpace), Retotal: uint32(i.TotalRetrans),
			BytesAcked: i.BytesAcked, BytesReceived: i.BytesReceived, NotSent: uint32(i.NotSentBytes),
		}
		b = bytesOf(&info)
	}
	b = b[:min(len(b), int(room))]
	if len(b) > 0 {
		if absurd(c.Ptr[3]) {
			return syscall.EFAULT
		}
		sched.CopyOut(c.Ptr[3], b)
	}
	room = int32(len(b))
	return put(c.Ptr[4], &room)
}

// setLinger is SO_LINGER of a TCP socket, whose struct is kept in the options.
func (s *socket) setLinger() {
	s.tcp.LingerOn = s.opts.linger[0] != 0
	s.tcp.LingerTime = time.Duration(uint32(s.opts.linger[1])) * time.Second
}
