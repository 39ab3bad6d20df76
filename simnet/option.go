package simnet

import "syscall"

// SetV6Only sets IPV6_V6ONLY: EINVAL once bound, ENOPROTOOPT on AF_INET.
func (u *UDP) SetV6Only(on bool) syscall.Errno {
	switch {
	case !u.v6:
		return syscall.ENOPROTOOPT
	case u.port != 0:
		return syscall.EINVAL
	}
	u.v6only = on
	return 0
}

// V6Only returns IPV6_V6ONLY.
func (u *UDP) V6Only() bool { return u.v6only }

const (
	minRcvBuf = 2304 // SOCK_MIN_RCVBUF
	minSndBuf = 4608 // SOCK_MIN_SNDBUF
)

// bufSize is what becomes of a buffer size that a program asks for: capped,
// doubled to leave room for bookkeeping, and never below a minimum. A negative
// one counts as huge.
func bufSize(bytes, limit, floor int, force bool) int {
	const most = (1<<31 - 1) / 2
	switch {
	case force:
		bytes = max(0, min(bytes, most))
	case bytes < 0 || bytes > limit:
		bytes = min(limit, most)
	}
	return max(2*bytes, floor)
}

// SetRcvBuf sets SO_RCVBUF: Linux caps the value (unless force, which is
// SO_RCVBUFFORCE), doubles it, and has a minimum.
func (u *UDP) SetRcvBuf(bytes int, force bool) {
	u.rcvbuf = bufSize(bytes, u.s.n.RmemMax, minRcvBuf, force)
}

// RcvBuf returns SO_RCVBUF, the doubled value.
func (u *UDP) RcvBuf() int { return u.rcvbuf }

// SetSndBuf sets SO_SNDBUF (SO_SNDBUFFORCE), as SetRcvBuf does. Nothing waits
// in the send buffer, so that it only can be asked for.
func (u *UDP) SetSndBuf(bytes int, force bool) {
	u.sndbuf = bufSize(bytes, u.s.n.WmemMax, minSndBuf, force)
}

// SndBuf returns SO_SNDBUF, the doubled value.
func (u *UDP) SndBuf() int { return u.sndbuf }

// set sets an option whose value lies between low and 255, or is -1 for its
// default.
func set(option *int, value, low, def int) syscall.Errno {
	switch {
	case value == -1:
		value = def
	case value < low || value > 255:
		return syscall.EINVAL
	}
	*option = value
	return 0
}

// orTTL returns an option's value, or the default TTL.
func orTTL(option int) int {
	if option < 0 {
		return defaultTTL
	}
	return option
}

// SetTTL sets IP_TTL: 1 to 255, or -1 for the default; EINVAL otherwise.
func (u *UDP) SetTTL(ttl int) syscall.Errno { return set(&u.ttl, ttl, 1, -1) }

// TTL returns IP_TTL.
func (u *UDP) TTL() int { return orTTL(u.ttl) }

// SetHopLimit sets IPV6_UNICAST_HOPS: 0 to 255, or -1 for the default.
func (u *UDP) SetHopLimit(hops int) syscall.Errno { return set(&u.hops, hops, 0, -1) }

// HopLimit returns IPV6_UNICAST_HOPS.
func (u *UDP) HopLimit() int { return orTTL(u.hops) }

// SetTOS sets IP_TOS. Linux looks at the low eight bits only.
func (u *UDP) SetTOS(tos int) syscall.Errno {
	u.tos = tos & 0xff
	return 0
}

// TOS returns IP_TOS.
func (u *UDP) TOS() int { return u.tos }

// SetTrafficClass sets IPV6_TCLASS: 0 to 255, or -1 for the default.
func (u *UDP) SetTrafficClass(class int) syscall.Errno { return set(&u.class, class, 0, 0) }

// TrafficClass returns IPV6_TCLASS.
func (u *UDP) TrafficClass() int { return max(0, u.class) }

// SetMulticastTTL sets IP_MULTICAST_TTL: 0 to 255, or -1 for the default (1).
// With 0 nothing leaves the host.
func (u *UDP) SetMulticastTTL(ttl int) syscall.Errno { return set(&u.mcTTL, ttl, 0, 1) }

// MulticastTTL returns IP_MULTICAST_TTL.
func (u *UDP) MulticastTTL() int { return u.mcTTL }

// SetMulticastHops sets IPV6_MULTICAST_HOPS, as SetMulticastTTL.
func (u *UDP) SetMulticastHops(hops int) syscall.Errno { return set(&u.mcHops, hops, 0, 1) }

// MulticastHops returns IPV6_MULTICAST_HOPS.
func (u *UDP) MulticastHops() int { return u.mcHops }

// SetMulticastInterface sets IP_MULTICAST_IF by interface number, 0 for any.
// For its forms with an address see [Stack.InterfaceByAddr].
func (u *UDP) SetMulticastInterface(ifindex int) syscall.Errno {
	if ifindex != 0 && ifindex != lo && ifindex != eth0 {
		return syscall.EADDRNOTAVAIL
	}
	u.mcIf = ifindex
	u.forget()
	return 0
}

// MulticastInterface returns the interface set, or 0.
func (u *UDP) MulticastInterface() int { return u.mcIf }

// SetMulticastInterface6 sets IPV6_MULTICAST_IF.
func (u *UDP) SetMulticastInterface6(ifindex int) syscall.Errno {
	if ifindex != 0 && ifindex != lo && ifindex != eth0 {
		return syscall.ENODEV
	}
	u.mcIf6 = ifindex
	u.forget()
	return 0
}

// MulticastInterface6 returns IPV6_MULTICAST_IF.
func (u *UDP) MulticastInterface6() int { return u.mcIf6 }

// SetDevice sets SO_BINDTODEVICE by interface number, 0 for any: what comes
// and goes takes that interface.
func (u *UDP) SetDevice(ifindex int) {
	u.device = ifindex
	u.forget()
}

// Device returns the interface of SO_BINDTODEVICE, or 0.
func (u *UDP) Device() int { return u.device }

// SetUnicastInterface sets IP_UNICAST_IF or IPV6_UNICAST_IF by interface
// number, 0 for any: what is sent to one host leaves by it.
func (u *UDP) SetUnicastInterface(ifindex int) {
	u.unicastIf = ifindex
	u.forget()
}

// RcvMem is what the receive queue is charged (SO_MEMINFO).
func (u *UDP) RcvMem() int { return u.rmem }

// SetMTUDiscover sets IP_MTU_DISCOVER or IPV6_MTU_DISCOVER, whether it is
// IP_PMTUDISC_DO or IP_PMTUDISC_PROBE.
func (u *UDP) SetMTUDiscover(do, probe bool) { u.DontFragment, u.Probe = do || probe, probe }
