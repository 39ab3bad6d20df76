//go:build linux && (amd64 || arm64)

package kernel

import (
	"math"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// Options that package syscall lacks.
const (
	soSndBufForce = 32
	soRcvBufForce = 33
	soProtocol    = 38
	soDomain      = 39
	soReusePort   = 15
	soIncomingCPU = 49

	soTimestampNS    = 35
	soRxqOvfl        = 40
	soWifiStatus     = 41
	soNoFCS          = 43
	soLockFilter     = 44
	soSelectErrQueue = 45
	soBusyPoll       = 46
	soMaxPacingRate  = 47
	soMeminfo        = 55
	soIncomingNAPI   = 56
	soCookie         = 57
	soPeerGroups     = 59
	soBindToIfindex  = 62
	soTimestampNew   = 63
	soTimestampNSNew = 64
	soPreferBusyPoll = 69
	soTxRehash       = 74
	soRcvMark        = 75

	ipOrigDstAddr  = 20
	ipMinTTL       = 21
	ipNoDefrag     = 22
	ipCheckSum     = 23
	ipRecvFragSize = 25
	ipRecvErr4884  = 26
	ipProtocol     = 52

	mcastJoinGroup       = 42
	mcastBlockSource     = 43
	mcastUnblockSource   = 44
	mcastLeaveGroup      = 45
	mcastJoinSourceGroup = 46
	mcastLeaveSource     = 47
	sizeofGroupReq       = 136 // number of the interface, and a sockaddr_storage
	sizeofGroupSourceReq = 264 // and another

	ip6RouterAlertIsolate = 30
	ip6RecvErr4884        = 31
	ip6RecvPathMTU        = 60
	ip6PathMTU            = 61
	ip6MinHopCount        = 73
	ip6OrigDstAddr        = 74
	ip6Transparent        = 75
	ip6RecvFragSize       = 77
	ip6FreeBind           = 78

	udpLiteSendCover = 10
	udpLiteRecvCover = 11
	udpNoCheck6Tx    = 101
	udpNoCheck6Rx    = 102

	ipMulticastAll  = 49
	ipPmtuDont      = 0
	ipPmtuDo        = 2
	ipPmtuProbe     = 3
	ipBindNoPort    = 24
	ipUnicastIf     = 50
	ip6MulticastAll = 29
	ip6DontFrag     = 62
	ip6UnicastIf    = 76
	ip6AutoFlow     = 70

	udpCork    = 1
	udpSegment = 103
	udpGRO     = 104
	solUDP     = 17
	solMPTCP   = 284
)

// options are a socket's options that the network does not keep. What only
// has to be read back is in set.
type options struct {
	recvPktinfo, recvTTL, recvTOS          bool
	recvOrigDst, recvOrigDst6, rxqOvfl     bool
	tcpInq                                 bool
	stamp                                  int // the option that asks for timestamps: SO_TIMESTAMP, …; or 0
	recvPktinfo6, recvHopLimit, recvTClass bool
	rcvTimeout, sndTimeout                 int64
	reuseAddr, reusePort, broadcast        bool
	keepAlive, recvErr, recvErr6           bool
	pmtu, pmtu6                            int32
	linger                                 [2]int32
	kept                                   []keptOption
}

// A keptOption is an option that changes nothing here and is read back.
type keptOption struct{ level, name, value int32 }

func (o *options) init() { o.pmtu, o.pmtu6 = 1, 1 } // IP_PMTUDISC_WANT

func (o *options) wantsControl() bool {
	return o.recvPktinfo || o.recvTTL || o.recvTOS || o.recvPktinfo6 || o.recvHopLimit || o.recvTClass ||
		o.recvOrigDst || o.recvOrigDst6 || o.rxqOvfl || o.stamp != 0
}

func (o *options) keep(level, name int, value int32) {
	for i := range o.kept {
		if k := &o.kept[i]; int(k.level) == level && int(k.name) == name {
			k.value = value
			return
		}
	}
	o.kept = append(o.kept, keptOption{int32(level), int32(name), value})
}

func (o *options) look(level, name int, value int32) int32 {
	for _, k := range o.kept {
		if int(k.level) == level && int(k.name) == name {
			return k.value
		}
	}
	return value
}

func b2i(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// An optval is the value that setsockopt was given.
type optval struct {
	level  int
	ptr    unsafe.Pointer
	length int
	b      [sizeofGroupSourceReq]byte
	n      int32 // as an int, or as the byte that some options of IP may be
}

// int32 tells whether the value holds an int.
func (v *optval) full() bool { return v.length >= 4 }

func (p *Process) sysSetsockopt(c *Call) (uintptr, syscall.Errno) {
	f, errno := p.socketOf(c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	level, name := int(int32(c.Arg[1])), int(int32(c.Arg[2]))
	v := optval{level: level, ptr: c.Ptr[3], length: int(int32(c.Arg[4]))}
	if v.length < 0 {
		return 0, syscall.EINVAL
	}
	if v.length > 0 {
		if absurd(v.ptr) {
			return 0, syscall.EFAULT
		}
		sched.CopyIn(v.b[:min(v.length, len(v.b))], v.ptr)
	}
	if v.full() {
		v.n = *(*int32)(unsafe.Pointer(&v.b[0]))
	} else {
		v.n = int32(v.b[0])
	}
	switch {
	case f.kind == kindUnix && (level != syscall.SOL_SOCKET || f.unix.ownOption(name)):
		return 0, f.unix.setOption(level, name, &v)
	case level == syscall.SOL_SOCKET:
		return 0, p.setSocket(c, f, name, &v)
	case f.kind == kindNetlink:
		return 0, syscall.ENOPROTOOPT
	case level == syscall.IPPROTO_IP:
		return 0, p.setIP(c, f, name, &v)
	case level == syscall.IPPROTO_IPV6 && f.sock.family == syscall.AF_INET6:
		return 0, p.setIPv6(c, f, name, &v)
	case level == syscall.IPPROTO_TCP && f.kind == kindStream:
		return 0, p.setTCP(c, f, name, &v)
	case level == solUDP && f.kind == kindUDP:
		return 0, p.setUDP(c, f, name, &v)
	}
	return 0, p.noOption(c, f, level, name)
}

// setUDP sets an option of level SOL_UDP.
func (p *Process) setUDP(c *Call, f *file, name int, v *optval) syscall.Errno {
	if !v.full() {
		return syscall.EINVAL
	}
	u := f.sock.udp
	switch name {
	case udpCork:
		if v.n != 0 {
			return p.noOption(c, f, solUDP, name)
		}
	case udpSegment:
		if v.n < 0 || v.n > math.MaxUint16 {
			return syscall.EINVAL
		}
		u.Segment = int(v.n)
	case udpGRO:
		u.GRO = v.n != 0
	default:
		return p.keepOption(c, f, solUDP, name, v)
	}
	return 0
}

// noOption is the answer to an option that is not modelled.
func (p *Process) noOption(c *Call, f *file, level, name int) syscall.Errno {
	if level == syscall.IPPROTO_TCP && f.kind != kindStream || level == solUDP && f.kind != kindUDP || level == solMPTCP || level == syscall.IPPROTO_IPV6 && f.sock.family == syscall.AF_INET {
		return syscall.ENOPROTOOPT // Linux does not have them on this socket either
	}
	p.unsupported(c.Trap, uint64(uint32(level))<<32|uint64(uint32(name)), "option "+itoa(name)+" of level "+itoa(level))
	return syscall.ENOPROTOOPT
}

func (p *Process) setSocket(c *Call, f *file, name int, v *optval) syscall.Errno {
	s := f.sock
	o, u, t := &s.opts, s.udp, s.tcp
	switch name {
	case syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO:
		if v.length < int(unsafe.Sizeof(syscall.Timeval{})) {
			return syscall.EINVAL
		}
		tv := (*syscall.Timeval)(unsafe.Pointer(&v.b[0]))
		if tv.Usec < 0 || tv.Usec >= 1e6 {
			return syscall.EDOM
		}
		d := tv.Nano()
		if tv.Sec < 0 {
			d = -1
		}
		if name == syscall.SO_RCVTIMEO {
			o.rcvTimeout = d
		} else {
			o.sndTimeout = d
		}
		return 0
	case syscall.SO_BINDTODEVICE:
		dev, index := zeroEnded(v.b[:min(v.length, syscall.IFNAMSIZ-1)]), 0
		if len(dev) > 0 {
			if index = p.stack.InterfaceByName(string(dev)); index == 0 {
				return syscall.ENODEV
			}
		}
		s.setDevice(index)
		return 0
	case syscall.SO_ATTACH_FILTER, syscall.SO_DETACH_FILTER:
		return p.noOption(c, f, syscall.SOL_SOCKET, name)
	}
	if !v.full() {
		return syscall.EINVAL
	}
	on := v.n != 0
	switch name {
	case syscall.SO_REUSEADDR:
		if o.reuseAddr = on; u != nil {
			u.ReuseAddr = on
		} else if t != nil {
			t.ReuseAddr = on
		}
	case soReusePort:
		if o.reusePort = on; u != nil {
			u.ReusePort = on
		} else if t != nil {
			t.ReusePort = on
		}
	case syscall.SO_BROADCAST:
		if o.broadcast = on; u != nil {
			u.Broadcast = on
		}
	case syscall.SO_RCVBUF, soRcvBufForce:
		if u != nil {
			u.SetRcvBuf(int(v.n), name == soRcvBufForce)
		} else if t != nil {
			t.SetRcvBuf(int(v.n), name == soRcvBufForce)
		}
	case syscall.SO_SNDBUF, soSndBufForce:
		if u != nil {
			u.SetSndBuf(int(v.n), name == soSndBufForce)
		} else if t != nil {
			t.SetSndBuf(int(v.n), name == soSndBufForce)
		}
	case syscall.SO_OOBINLINE:
		if t == nil {
			return p.keepOption(c, f, syscall.SOL_SOCKET, name, v)
		}
		t.SetInline(on)
	case syscall.SO_KEEPALIVE:
		if o.keepAlive = on; t != nil {
			t.SetKeepAlive(on)
		}
	case soTimestampNS, soTimestampNSNew, syscall.SO_TIMESTAMP, soTimestampNew:
		if o.stamp = 0; on {
			o.stamp = name
		}
	case soRxqOvfl:
		o.rxqOvfl = on
	case soBindToIfindex:
		if v.n < 0 {
			return syscall.EINVAL
		}
		s.setDevice(int(v.n))
	case syscall.SO_RCVLOWAT:
		n := v.n
		if n < 0 {
			n = math.MaxInt32
		}
		if n = max(1, n); t != nil {
			t.RcvLow = int(n)
		}
		o.keep(syscall.SOL_SOCKET, name, n)
	case syscall.SO_LINGER:
		if v.length < 8 {
			return syscall.EINVAL
		}
		o.linger = *(*[2]int32)(unsafe.Pointer(&v.b[0]))
		if o.linger[0] = b2i(o.linger[0] != 0); t != nil {
			s.setLinger()
		}
	case syscall.SO_NO_CHECK:
		if u != nil {
			u.NoChecksum = on
		}
		o.keep(syscall.SOL_SOCKET, name, b2i(on))
	case syscall.SO_ERROR, syscall.SO_TYPE, soProtocol, soDomain, syscall.SO_ACCEPTCONN, syscall.SO_SNDLOWAT,
		soMeminfo, soCookie, soIncomingNAPI:
		return syscall.ENOPROTOOPT
	case syscall.SO_BSDCOMPAT: // obsolete: taken, and 0 for ever
	default:
		return p.keepOption(c, f, syscall.SOL_SOCKET, name, v)
	}
	return 0
}

// setDevice is SO_BINDTODEVICE.
func (s *socket) setDevice(index int) {
	if s.udp != nil {
		s.udp.SetDevice(index)
	} else if s.tcp != nil {
		s.tcp.SetDevice(index)
	}
}

// device is what SO_BINDTODEVICE was set to, or 0.
func (s *socket) device() int {
	switch {
	case s.udp != nil:
		return s.udp.Device()
	case s.tcp != nil:
		return s.tcp.Device()
	}
	return 0
}
