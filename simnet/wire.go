package simnet

import (
	"encoding/binary"
	"net/netip"
)

// ipPackets renders packets as they are on a wire. Its memory is used again.
type ipPackets struct {
	body []byte   // what IP carries
	all  []byte   // IP packets, one after the other
	list [][]byte // each of them
}

var be = binary.BigEndian

// Protocol numbers (IANA), in IPv4's protocol and IPv6's next header.
const (
	ipICMP     = 1
	ipTCP      = 6
	ipUDP      = 17
	ipFragment = 44
	ipICMPv6   = 58
)

const windowScale = 7

// render returns the IP packets that a packet makes where the MTU is that. They are
// valid until the next call. A segment is never cut: its sender has seen to that.
func (w *ipPackets) render(p *Datagram, mtu int) [][]byte {
	src, dst := p.src.Addr(), p.dst.Addr()
	w.body = w.body[:0]
	number := byte(ipUDP)
	switch p.proto {
	case protoTCP:
		number = ipTCP
		w.body = appendTCP(w.body, &p.seg, p.src, p.dst, p.Payload, len(p.Payload))
	case protoICMP:
		src, dst = dst, src
		if number = ipICMP; !src.Is4() {
			number = ipICMPv6
		}
		w.body = appendUnreachable(w.body, p, src, dst)
	default:
		w.body = appendUDP(w.body, p.src, p.dst, p.Payload, len(p.Payload))
	}
	w.all, w.list = w.all[:0], w.list[:0]
	h := ipFields{src: src, dst: dst, number: number, ttl: p.TTL, tos: p.TOS}
	if p.path != nil {
		h.id = uint32(p.order)
	}
	if p.proto == protoTCP || len(w.body)+ipHeader(dst) <= mtu {
		w.packet(h, w.body, len(w.body))
		return w.list
	}
	h.fragment = true
	room := mtu - ipHeader(dst)
	if !dst.Is4() {
		room -= fragHeader
	}
	room = max(8, room&^7)
	for at := 0; at < len(w.body); at += room {
		h.offset = at
		h.more = at+room < len(w.body)
		part := w.body[at:min(at+room, len(w.body))]
		w.packet(h, part, len(part))
	}
	return w.list
}

func (w *ipPackets) packet(h ipFields, body []byte, size int) {
	start := len(w.all)
	w.all = append(h.append(w.all, size), body...)
	w.list = append(w.list, w.all[start:])
}

// ipFields are those of an IP header.
type ipFields struct {
	src, dst       netip.Addr
	number         byte
	ttl, tos       uint8
	id             uint32
	fragment, more bool
	offset         int
}

// append adds the header of a packet that carries size bytes.
func (h *ipFields) append(b []byte, size int) []byte {
	if !h.src.Is4() {
		next := h.number
		if h.fragment {
			next = ipFragment
			size += fragHeader
		}
		b = be.AppendUint32(b, 6<<28|uint32(h.tos)<<20)
		b = be.AppendUint16(b, uint16(size))
		b = append(b, next, h.ttl)
		s, d := h.src.As16(), h.dst.As16()
		b = append(append(b, s[:]...), d[:]...)
		if h.fragment {
			b = append(b, h.number, 0)
			b = be.AppendUint16(b, h.flagged(uint16(h.offset), 1))
			b = be.AppendUint32(b, h.id)
		}
		return b
	}
	start := len(b)
	b = append(b, 0x45, h.tos)
	b = be.AppendUint16(b, uint16(size+ipv4Header))
	b = be.AppendUint16(b, uint16(h.id))
	switch {
	case h.fragment:
		b = be.AppendUint16(b, h.flagged(uint16(h.offset/8), 0x2000))
	default:
		b = be.AppendUint16(b, 0x4000) // DF: Linux discovers the path's MTU
	}
	b = append(b, h.ttl, h.number, 0, 0)
	s, d := h.src.As4(), h.dst.As4()
	b = append(append(b, s[:]...), d[:]...)
	be.PutUint16(b[start+10:], checksum(0, b[start:]))
	return b
}

func (h *ipFields) flagged(offset, more uint16) uint16 {
	if h.more {
		offset |= more
	}
	return offset
}

// appendUDP adds a UDP header and payload, which may be the beginning of size bytes:
// then there is no checksum.
func appendUDP(b []byte, src, dst netip.AddrPort, payload []byte, size int) []byte {
	start := len(b)
	b = be.AppendUint16(b, src.Port())
	b = be.AppendUint16(b, dst.Port())
	b = be.AppendUint16(b, uint16(size+udpHeader))
	b = be.AppendUint16(b, 0)
	b = append(b, payload...)
	if size == len(payload) {
		sum := checksum(pseudo(src.Addr(), dst.Addr(), ipUDP, len(b)-start), b[start:])
		if sum == 0 {
			sum = 0xffff // 0 is for none
		}
		be.PutUint16(b[start+6:], sum)
	}
	return b
}

// appendTCP adds a TCP header with options, and the payload, as appendUDP does.
func appendTCP(b []byte, g *segment, src, dst netip.AddrPort, payload []byte, size int) []byte {
	start := len(b)
	b = be.AppendUint16(b, src.Port())
	b = be.AppendUint16(b, dst.Port())
	b = be.AppendUint32(b, uint32(g.seq))
	ack := uint32(0)
	if g.flags&flagACK != 0 {
		ack = uint32(g.ack)
	}
	b = be.AppendUint32(b, ack)
	var f byte
	for _, x := range [...]struct {
		flag flags
		bit  byte
	}{{flagFIN, 1}, {flagSYN, 2}, {flagRST, 4}, {flagACK, 16}} {
		if g.flags&x.flag != 0 {
			f |= x.bit
		}
	}
	if size > 0 {
		f |= 8 // PSH
	}
	wnd := g.wnd
	if g.flags&flagSYN == 0 {
		wnd >>= windowScale
	}
	b = append(b, 0, f)
	b = be.AppendUint16(b, uint16(min(max(wnd, 0), 0xffff)))
	b = append(b, 0, 0, 0, 0)
	if g.flags&flagSYN != 0 {
		b = append(b, 2, 4)
		b = be.AppendUint16(b, uint16(min(g.mss, 0xffff)))
		b = append(b, 1, 3, 3, windowScale)
	}
	if g.ts != 0 {
		b = append(b, 1, 1, 8, 10)
		b = be.AppendUint32(b, uint32(g.ts/1e6))
		b = be.AppendUint32(b, uint32(g.echo/1e6))
	}
	b[start+12] = byte((len(b) - start) / 4 << 4)
	b = append(b, payload...)
	if size == len(payload) {
		be.PutUint16(b[start+16:], checksum(pseudo(src.Addr(), dst.Addr(), ipTCP, len(b)-start), b[start:]))
	}
	return b
}

// appendUnreachable adds an ICMP error (RFC 792, RFC 4443) with the beginning of the
// packet that it answers.
func appendUnreachable(b []byte, p *Datagram, src, dst netip.Addr) []byte {
	start := len(b)
	typ, code := p.quote.why.code(src.Is4())
	b = append(b, typ, code, 0, 0)
	b = be.AppendUint32(b, uint32(p.quote.mtu)) // for IPv4 its upper half is 0
	var inner []byte
	h := ipFields{src: p.src.Addr(), dst: p.dst.Addr(), ttl: defaultTTL, number: ipUDP}
	if p.quote.proto == protoTCP {
		h.number = ipTCP
		inner = appendTCP(nil, &p.seg, p.src, p.dst, p.Payload, p.quote.size)
	} else {
		inner = appendUDP(nil, p.src, p.dst, p.Payload, p.quote.size)
	}
	b = h.append(b, len(inner)-len(p.Payload)+p.quote.size)
	b = append(b, inner...)
	sum := uint32(0)
	if !src.Is4() {
		sum = pseudo(src, dst, ipICMPv6, len(b)-start)
	}
	be.PutUint16(b[start+2:], checksum(sum, b[start:]))
	return b
}

// pseudo sums up the pseudo header that checksums cover as well.
func pseudo(src, dst netip.Addr, number byte, size int) uint32 {
	sum := uint32(number) + uint32(size>>16) + uint32(size&0xffff)
	for _, a := range [...]netip.Addr{src, dst} {
		b := a.AsSlice()
		for i := 0; i < len(b); i += 2 {
			sum += uint32(be.Uint16(b[i:]))
		}
	}
	return sum
}

// checksum is the Internet checksum (RFC 1071) of b and what was summed up before.
func checksum(sum uint32, b []byte) uint16 {
	s := uint64(sum)
	for ; len(b) >= 2; b = b[2:] {
		s += uint64(be.Uint16(b))
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}
