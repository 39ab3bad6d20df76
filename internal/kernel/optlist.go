//go:build linux && (amd64 || arm64)

package kernel

import (
	"math"
	"syscall"
)

// An optRule is an option that is kept, to be read back, and does nothing: it
// has no effect on a network such as this one, or Linux promises none.
type optRule struct {
	level, name int
	on          optSockets
	form        optForm
	def         int32
	min, max    int32  // of an optNumber; others are refused with EINVAL
	missing     string // what it would do on Linux, if that is reported when a program asks for it
}

// optSockets are the sockets that have an option.
type optSockets uint8

const (
	onUDP optSockets = 1 << iota
	onTCP
	only6 // of IPv6
	onIP  = onUDP | onTCP
	on6   = onIP | only6
)

// optForm is what values an option takes.
type optForm uint8

const (
	optBool   optForm = iota // any value but 0 counts as 1
	optStrict                // 0 and 1
	optNumber                // from min to max
	optFixed                 // it is only read: setting is ENOPROTOOPT
	optOthers                // it is for sockets of other kinds: EOPNOTSUPP
)

const (
	anyMin, anyMax = math.MinInt32, math.MaxInt32
	solIP          = syscall.IPPROTO_IP
	solIPv6        = syscall.IPPROTO_IPV6
	solTCP         = syscall.IPPROTO_TCP
	solSock        = syscall.SOL_SOCKET
)

// optRules are found by level and name; their values were found by asking
// Linux, which the tests do again.
var optRules = []optRule{
	{level: solSock, name: syscall.SO_DEBUG, on: onIP},
	{level: solSock, name: syscall.SO_DONTROUTE, on: onIP}, // there is nothing but the segment
	{level: solSock, name: syscall.SO_OOBINLINE, on: onUDP},
	{level: solSock, name: syscall.SO_NO_CHECK, on: onTCP},
	{level: solSock, name: syscall.SO_PRIORITY, on: onIP, form: optNumber, min: anyMin, max: anyMax},
	{level: solSock, name: syscall.SO_MARK, on: onIP, form: optNumber, min: anyMin, max: anyMax}, // no rule looks at it
	{level: solSock, name: soWifiStatus, on: onIP},
	{level: solSock, name: soNoFCS, on: onIP},
	{level: solSock, name: soLockFilter, on: onIP},
	{level: solSock, name: soSelectErrQueue, on: onIP},
	{level: solSock, name: soBusyPoll, on: onIP, form: optNumber, max: anyMax},
	{level: solSock, name: soMaxPacingRate, on: onIP, form: optNumber, def: -1, min: anyMin, max: anyMax, missing: "SO_MAX_PACING_RATE is kept and has no effect"},
	{level: solSock, name: soIncomingCPU, on: onIP, form: optNumber, def: -1, min: anyMin, max: anyMax},
	{level: solSock, name: soPreferBusyPoll, on: onIP},
	{level: solSock, name: soTxRehash, on: onTCP, form: optStrict, def: 1},
	{level: solSock, name: soRcvMark, on: onIP},
	{level: solSock, name: syscall.SO_SNDLOWAT, on: onIP, form: optFixed, def: 1},
	{level: solSock, name: soIncomingNAPI, on: onIP, form: optFixed},
	{level: solSock, name: syscall.SO_PASSCRED, on: onIP, form: optOthers},
	{level: solSock, name: soTxRehash, on: onUDP, form: optOthers},

	{level: solIP, name: syscall.IP_RECVOPTS, on: onIP}, // no datagram has any
	{level: solIP, name: syscall.IP_RETOPTS, on: onIP},
	{level: solIP, name: syscall.IP_PASSSEC, on: onIP},
	{level: solIP, name: ipRecvFragSize, on: onTCP, form: optFixed},
	{level: solIP, name: ipCheckSum, on: onIP, missing: "IP_CHECKSUM is kept and has no effect"},
	{level: solIP, name: ipRecvFragSize, on: onUDP, missing: "IP_RECVFRAGSIZE is kept and has no effect"},
	{level: solIP, name: ipRecvErr4884, on: onIP, form: optStrict},
	{level: solIP, name: syscall.IP_MULTICAST_LOOP, on: onTCP, def: 1},
	{level: solIP, name: ipProtocol, on: onIP, form: optFixed},
	{level: solIP, name: syscall.IP_HDRINCL, on: onIP, form: optFixed},
	{level: solIP, name: ipNoDefrag, on: onIP, form: optFixed},

	{level: solIPv6, name: ip6RouterAlertIsolate, on: on6},
	{level: solIPv6, name: ip6RecvErr4884, on: on6, form: optStrict},
	{level: solIPv6, name: syscall.IPV6_RECVHOPOPTS, on: on6}, // no datagram has an extension header
	{level: solIPv6, name: syscall.IPV6_RECVRTHDR, on: on6},
	{level: solIPv6, name: syscall.IPV6_RECVDSTOPTS, on: on6},
	{level: solIPv6, name: syscall.IPV6_MULTICAST_LOOP, on: onTCP | only6, form: optStrict, def: 1},
	{level: solIPv6, name: ip6MulticastAll, on: onTCP | only6, def: 1},
	{level: solIPv6, name: syscall.IPV6_MULTICAST_HOPS, on: onTCP | only6, form: optFixed, def: 1},
	{level: solIPv6, name: syscall.IPV6_MULTICAST_IF, on: onTCP | only6, form: optFixed},
	{level: solIPv6, name: ip6RecvPathMTU, on: on6},
	{level: solIPv6, name: ip6AutoFlow, on: on6, def: 1},
	{level: solIPv6, name: ip6RecvFragSize, on: on6, missing: "IPV6_RECVFRAGSIZE is kept and has no effect"},

	{level: solTCP, name: tcpThinLinear, on: onTCP, form: optStrict},
	{level: solTCP, name: tcpFastOpenConnect, on: onTCP, form: optStrict}, // without a cookie it changes nothing …
	{level: solTCP, name: tcpFastOpenNoCookie, on: onTCP, form: optStrict},
	{level: solTCP, name: tcpFastOpen, on: onTCP, form: optNumber, max: anyMax}, // … and a server gives none, by default
	{level: solTCP, name: tcpTxDelay, on: onTCP, form: optNumber, max: 1<<30 - 1, missing: "TCP_TX_DELAY is kept and has no effect"},

	{level: solUDP, name: udpNoCheck6Tx, on: onUDP},
	{level: solUDP, name: udpNoCheck6Rx, on: onUDP},
	{level: solUDP, name: udpLiteSendCover, on: onUDP, form: optFixed},
	{level: solUDP, name: udpLiteRecvCover, on: onUDP, form: optFixed},
}

// ruleOf returns the rule of an option on a socket, or nil.
func (s *socket) ruleOf(level, name int) *optRule {
	kind := onUDP
	if s.tcp != nil {
		kind = onTCP
	} else if s.udp == nil {
		return nil
	}
	for i := range optRules {
		r := &optRules[i]
		if r.level == level && r.name == name && r.on&kind != 0 && (r.on&only6 == 0 || s.family == syscall.AF_INET6) {
			return r
		}
	}
	return nil
}

// keepOption sets an option that has a rule, or says that there is none such.
func (p *Process) keepOption(c *Call, f *file, level, name int, v *optval) syscall.Errno {
	r := f.sock.ruleOf(level, name)
	if r == nil {
		return p.noOption(c, f, level, name)
	}
	n := v.n
	switch r.form {
	case optFixed:
		return syscall.ENOPROTOOPT
	case optOthers:
		return syscall.EOPNOTSUPP
	case optBool:
		n = b2i(n != 0)
	case optStrict:
		if n != 0 && n != 1 {
			return syscall.EINVAL
		}
	case optNumber:
		if n < r.min || n > r.max {
			return syscall.EINVAL
		}
	}
	if r.missing != "" && n != r.def {
		p.unsupported(c.Trap, uint64(uint32(level))<<32|uint64(uint32(name)), r.missing)
	}
	f.sock.opts.keep(level, name, n)
	return 0
}

// keptOption reads an option that has a rule.
func (s *socket) keptOption(level, name int) (v int32, errno syscall.Errno, ok bool) {
	r := s.ruleOf(level, name)
	switch {
	case r == nil:
		return 0, 0, false
	case r.form == optOthers:
		return 0, syscall.EOPNOTSUPP, true
	}
	return s.opts.look(level, name, r.def), 0, true
}
