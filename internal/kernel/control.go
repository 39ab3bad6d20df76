//go:build linux && (amd64 || arm64)

package kernel

import (
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simnet"
)

// maxControl bounds the control messages of one send, as net.core.optmem_max
// does.
const maxControl = 1024

// Control messages: a header of 16 bytes (length, level, type), the data, and
// padding to 8.
const cmsgHeader = syscall.SizeofCmsghdr

func cmsgAlign(n int) int { return (n + 7) &^ 7 }

// nextControl takes the first of control messages apart from the rest. It returns nil
// for one whose length cannot be.
func nextControl(all []byte) (h *syscall.Cmsghdr, data, rest []byte) {
	h = (*syscall.Cmsghdr)(unsafe.Pointer(&all[0]))
	if h.Len < cmsgHeader || h.Len > uint64(len(all)) {
		return nil, nil, nil
	}
	return h, all[cmsgHeader:h.Len], all[min(len(all), cmsgAlign(int(h.Len))):]
}

// getControl decodes the control messages of a send.
func (p *Process) getControl(c *Call, s *socket, m *syscall.Msghdr, ctl *simnet.Control) syscall.Errno {
	if m.Controllen > maxControl {
		return syscall.ENOBUFS
	}
	if absurd(unsafe.Pointer(m.Control)) {
		return syscall.EFAULT
	}
	var raw [maxControl]byte
	all := raw[:m.Controllen]
	sched.CopyIn(all, unsafe.Pointer(m.Control))
	for len(all) >= cmsgHeader {
		h, data, rest := nextControl(all)
		if h == nil {
			return syscall.EINVAL
		}
		all = rest
		if errno := p.oneControl(c, s, int(h.Level), int(h.Type), data, ctl); errno != 0 {
			return errno
		}
	}
	return 0
}

func (p *Process) oneControl(c *Call, s *socket, level, typ int, data []byte, ctl *simnet.Control) syscall.Errno {
	value := func() int { return int(*(*int32)(unsafe.Pointer(&data[0]))) }
	switch level {
	case syscall.IPPROTO_IP:
		switch typ {
		case syscall.IP_PKTINFO:
			if len(data) != syscall.SizeofInet4Pktinfo {
				return syscall.EINVAL
			}
			ctl.Interface = value()
			if a := netip.AddrFrom4([4]byte(data[4:8])); !a.IsUnspecified() {
				ctl.Source = a
			}
			return 0
		case syscall.IP_TTL:
			if len(data) != 4 || value() < 1 || value() > 255 {
				return syscall.EINVAL
			}
			ctl.TTL = value()
			return 0
		case syscall.IP_TOS:
			switch len(data) {
			case 4:
				ctl.TOS = value()
			case 1:
				ctl.TOS = int(data[0])
			default:
				return syscall.EINVAL
			}
			if ctl.TOS < 0 || ctl.TOS > 255 {
				return syscall.EINVAL
			}
			ctl.SetTOS = true
			return 0
		}
	case syscall.IPPROTO_IPV6:
		if s.family != syscall.AF_INET6 {
			return 0 // an IPv4 socket passes over them
		}
		switch typ {
		case syscall.IPV6_PKTINFO:
			if len(data) < syscall.SizeofInet6Pktinfo {
				return syscall.EINVAL
			}
			if a := netip.AddrFrom16([16]byte(data[:16])); !a.IsUnspecified() {
				ctl.Source = a
			}
			ctl.Interface = int(*(*int32)(unsafe.Pointer(&data[16])))
			return 0
		case syscall.IPV6_HOPLIMIT:
			if len(data) != 4 || value() < -1 || value() > 255 {
				return syscall.EINVAL
			}
			ctl.TTL, ctl.SetTTL = max(0, value()), value() == 0
			return 0
		case syscall.IPV6_TCLASS:
			if len(data) != 4 || value() < -1 || value() > 255 {
				return syscall.EINVAL
			}
			ctl.TOS, ctl.SetTOS = value()&0xff, true // -1 too, which Linux sends as 255
			return 0
		}
	case solUDP:
		if typ == udpSegment && len(data) == 2 {
			ctl.Segment, ctl.SetSegment = int(*(*uint16)(unsafe.Pointer(&data[0]))), true
			return 0
		}
		return syscall.EINVAL
	case syscall.SOL_SOCKET:
		if typ == syscall.SO_MARK && len(data) == 4 {
			return 0 // no rule looks at it
		}
	}
	p.unsupported(c.Trap, uint64(level)<<32|uint64(typ), "a control message of level "+itoa(level)+", type "+itoa(typ))
	return syscall.EINVAL
}

// A controlBuf is where control messages are put together.
type controlBuf struct {
	b    [256]byte
	used int
}

// add returns the place for the data of one more message.
func (cb *controlBuf) add(level, typ, size int) []byte {
	h := (*syscall.Cmsghdr)(unsafe.Pointer(&cb.b[cb.used]))
	h.Len = uint64(cmsgHeader + size)
	h.Level, h.Type = int32(level), int32(typ)
	data := cb.b[cb.used+cmsgHeader:][:size]
	cb.used += cmsgAlign(cmsgHeader + size)
	return data
}

func (cb *controlBuf) addInt(level, typ, v int) {
	*(*int32)(unsafe.Pointer(&cb.add(level, typ, 4)[0])) = int32(v)
}

// addTime adds the time at which data arrived, in the form that the option
// asks for: SO_TIMESTAMP's microseconds, SO_TIMESTAMPNS's nanoseconds.
func (cb *controlBuf) addTime(option int, arrived int64, p *Process) {
	if option == 0 {
		return
	}
	at := p.now() - (p.k.w.Now() - arrived)
	t := (*[2]int64)(unsafe.Pointer(&cb.add(syscall.SOL_SOCKET, option, 16)[0]))
	if t[0], t[1] = at/1e9, at%1e9; option == syscall.SO_TIMESTAMP || option == soTimestampNew {
		t[1] /= 1000
	}
}

// addAddr adds a socket address.
func (cb *controlBuf) addAddr(level, typ, family int, addr netip.AddrPort) {
	var raw rawSockaddr
	n := raw.encode(family, addr, 0)
	copy(cb.add(level, typ, int(n)), bytesOf(&raw)[:n])
}

// A sockExtendedErr is struct sock_extended_err.
type sockExtendedErr struct {
	errno                  uint32
	origin, typ, code, pad uint8
	info, data             uint32
}

// addFailure adds what an error queue tells of a datagram, and who said so.
func (cb *controlBuf) addFailure(family int, f *simnet.Failure) {
	level, typ, size := syscall.IPPROTO_IP, syscall.IP_RECVERR, syscall.SizeofSockaddrInet4
	if family == syscall.AF_INET6 {
		level, typ, size = syscall.IPPROTO_IPV6, syscall.IPV6_RECVERR, syscall.SizeofSockaddrInet6
	}
	ee := sockExtendedErr{errno: uint32(f.Errno), origin: f.Origin, typ: f.Type, code: f.Code, info: f.Info}
	b := cb.add(level, typ, int(unsafe.Sizeof(ee))+size)
	n := copy(b, bytesOf(&ee))
	if f.Offender.IsValid() {
		var raw rawSockaddr
		raw.encode(family, netip.AddrPortFrom(f.Offender, 0), 0)
		copy(b[n:], bytesOf(&raw))
	}
}

// putControl writes the control messages that the socket's options ask for.
func (p *Process) putControl(s *socket, d *simnet.Datagram, m *syscall.Msghdr) syscall.Errno {
	var cb controlBuf
	o, to := &s.opts, d.To.Addr()
	v4 := to.Is4() || to.Is4In6()
	cb.addTime(o.stamp, d.Arrived, p)
	if o.rxqOvfl && d.Drops > 0 {
		cb.addInt(syscall.SOL_SOCKET, soRxqOvfl, int(d.Drops))
	}
	if d.Segment > 0 {
		cb.addInt(solUDP, udpGRO, d.Segment)
	}
	if s.family == syscall.AF_INET6 {
		if o.recvPktinfo6 {
			b := cb.add(syscall.IPPROTO_IPV6, syscall.IPV6_PKTINFO, syscall.SizeofInet6Pktinfo)
			a := to.As16()
			copy(b, a[:])
			*(*int32)(unsafe.Pointer(&b[16])) = int32(d.Interface)
		}
		if o.recvHopLimit && !v4 {
			cb.addInt(syscall.IPPROTO_IPV6, syscall.IPV6_HOPLIMIT, int(d.TTL))
		}
		if o.recvTClass && !v4 {
			cb.addInt(syscall.IPPROTO_IPV6, syscall.IPV6_TCLASS, int(d.TOS))
		}
		if o.recvOrigDst6 && !v4 {
			cb.addAddr(syscall.IPPROTO_IPV6, ip6OrigDstAddr, syscall.AF_INET6, d.To)
		}
	}
	if v4 {
		if o.recvPktinfo {
			b := cb.add(syscall.IPPROTO_IP, syscall.IP_PKTINFO, syscall.SizeofInet4Pktinfo)
			*(*int32)(unsafe.Pointer(&b[0])) = int32(d.Interface)
			addr := to.Unmap().As4()
			copy(b[8:12], addr[:])
			// spec_dst is the host's own address, also for a group.
			if p.stack.InterfaceByAddr(to.Unmap()) == 0 && d.Interface != 1 {
				addr = p.stack.Addr().As4()
			}
			copy(b[4:8], addr[:])
		}
		if o.recvTTL {
			cb.addInt(syscall.IPPROTO_IP, syscall.IP_TTL, int(d.TTL))
		}
		if o.recvTOS {
			cb.add(syscall.IPPROTO_IP, syscall.IP_TOS, 1)[0] = d.TOS
		}
		if o.recvOrigDst {
			cb.addAddr(syscall.IPPROTO_IP, ipOrigDstAddr, syscall.AF_INET, d.To)
		}
	}
	return cb.put(m)
}

// put writes the messages to where m says. What there is no room for is cut, in
// the middle of a message if need be.
func (cb *controlBuf) put(m *syscall.Msghdr) syscall.Errno {
	full := cb.used
	if m.Control == nil {
		m.Controllen = 0
	}
	room := int(min(m.Controllen, uint64(full)))
	if room < full {
		m.Flags |= syscall.MSG_CTRUNC
		for at := 0; at < full; {
			h := (*syscall.Cmsghdr)(unsafe.Pointer(&cb.b[at]))
			next := at + cmsgAlign(int(h.Len))
			if at+int(h.Len) > room {
				if room-at < cmsgHeader {
					room = min(room, at)
				} else {
					h.Len = uint64(room - at)
				}
				break
			}
			at = next
		}
	}
	if room > 0 {
		if absurd(unsafe.Pointer(m.Control)) {
			return syscall.EFAULT
		}
		sched.CopyOut(unsafe.Pointer(m.Control), cb.b[:room])
	}
	m.Controllen = uint64(room)
	return 0
}

// putStreamControl writes what goes with bytes of a stream: how many are left
// (TCP_INQ), and when the last of those read came.
func (p *Process) putStreamControl(s *socket, m *syscall.Msghdr) syscall.Errno {
	var cb controlBuf
	if s.opts.stamp != 0 {
		if at := s.tcp.LastRead(); at != 0 {
			cb.addTime(s.opts.stamp, at, p)
		}
	}
	if s.opts.tcpInq {
		inq := s.tcp.Unread()
		if inq == 0 && s.tcp.PeerClosed() {
			inq = 1 // so that the program reads on, to the end
		}
		cb.addInt(syscall.IPPROTO_TCP, tcpInq, inq)
	}
	return cb.put(m)
}
