package simnet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// What follows reads captures by the book (the pcapng draft, RFC 791, 768, 9293, 792,
// 8200, 4443), and shares no code with what writes them.

// seen is one packet of a capture, parsed.
type seen struct {
	at         time.Duration // since the epoch
	iface      string
	in         bool
	src, dst   netip.Addr
	proto      byte
	ttl        byte
	total      int
	id         uint32
	frag       int // offset; -1 if it is no fragment
	more       bool
	sport      uint16
	dport      uint16
	seq, ack   uint32
	flags      byte
	window     uint16
	options    map[byte][]byte
	icmp       [2]byte
	payload    []byte // of UDP, TCP; of a fragment, all that IP carries
	unverified bool   // a fragment, whose checksum covers more
}

func (s seen) String() string {
	dir := "out"
	if s.in {
		dir = "in"
	}
	return fmt.Sprintf("%v %s %s %v:%d>%v:%d proto %d flags %#x frag %d %dB", s.at, s.iface, dir, s.src, s.sport, s.dst, s.dport, s.proto, s.flags, s.frag, len(s.payload))
}

// readCapture parses a file, and fails the test if anything does not fit.
func readCapture(t testing.TB, file []byte) (all []seen) {
	t.Helper()
	le := binary.LittleEndian
	var names []string
	for at := 0; at < len(file); {
		if len(file)-at < 12 {
			t.Fatalf("%d bytes after the last block", len(file)-at)
		}
		kind, size := le.Uint32(file[at:]), int(le.Uint32(file[at+4:]))
		if size%4 != 0 || size < 12 || at+size > len(file) || int(le.Uint32(file[at+size-4:])) != size {
			t.Fatalf("block %#x at %d: length %d", kind, at, size)
		}
		body := file[at+8 : at+size-4]
		if (at == 0) != (kind == 0x0a0d0d0a) {
			t.Fatalf("block %#x at %d", kind, at)
		}
		switch kind {
		case 0x0a0d0d0a:
			if le.Uint32(body) != 0x1a2b3c4d || le.Uint16(body[4:]) != 1 || le.Uint16(body[6:]) != 0 {
				t.Fatalf("section header % x", body)
			}
			options(t, body[16:])
		case 1:
			o := options(t, body[8:])
			if le.Uint16(body) != 101 || !bytes.Equal(o[9], []byte{9}) {
				t.Fatalf("interface % x", body)
			}
			names = append(names, string(o[2]))
		case 6:
			n, real := int(le.Uint32(body[12:])), int(le.Uint32(body[16:]))
			if n != real || int(le.Uint32(body)) >= len(names) {
				t.Fatalf("packet of %d bytes, captured %d", real, n)
			}
			o := options(t, body[20+(n+3)/4*4:])
			p := seen{iface: names[le.Uint32(body)], in: le.Uint32(o[2]) == 1}
			p.at = time.Duration(int64(uint64(le.Uint32(body[4:]))<<32|uint64(le.Uint32(body[8:]))) - sched.Epoch)
			p.parse(t, body[20:20+n])
			all = append(all, p)
		default:
			t.Fatalf("block of kind %#x", kind)
		}
		at += size
	}
	return all
}

func options(t testing.TB, b []byte) map[uint16][]byte {
	t.Helper()
	o := map[uint16][]byte{}
	for len(b) >= 4 {
		code, n := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[2:]))
		if code == 0 {
			if len(b) != 4 {
				t.Fatalf("% x after the last option", b)
			}
			return o
		}
		o[code] = b[4 : 4+n]
		b = b[4+(n+3)/4*4:]
	}
	t.Fatalf("options do not end: % x", b)
	return nil
}

// ones is the ones' complement sum that is 0xffff over what has a right checksum.
func ones(parts ...[]byte) uint16 {
	b := bytes.Join(parts, nil)
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	s := uint32(0)
	for i := 0; i < len(b); i += 2 {
		s += uint32(b[i])<<8 + uint32(b[i+1])
		if s > 0xffff {
			s -= 0xffff
		}
	}
	return uint16(s)
}

func (p *seen) parse(t testing.TB, b []byte) {
	t.Helper()
	be := binary.BigEndian
	p.total, p.frag = len(b), -1
	var body []byte
	switch b[0] >> 4 {
	case 4:
		if b[0] != 0x45 || int(be.Uint16(b[2:])) != len(b) || ones(b[:20]) != 0xffff {
			t.Fatalf("IPv4 header % x of %d bytes", b[:20], len(b))
		}
		p.id, p.ttl, p.proto = uint32(be.Uint16(b[4:])), b[8], b[9]
		if f := be.Uint16(b[6:]); f&0x3fff != 0 {
			p.frag, p.more = int(f&0x1fff)*8, f&0x2000 != 0
		}
		p.src, p.dst = netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
		body = b[20:]
	case 6:
		if int(be.Uint16(b[4:])) != len(b)-40 {
			t.Fatalf("IPv6 header % x of %d bytes", b[:40], len(b))
		}
		p.proto, p.ttl = b[6], b[7]
		p.src, p.dst = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
		body = b[40:]
		if p.proto == 44 {
			f := be.Uint16(body[2:])
			p.proto, p.frag, p.more, p.id = body[0], int(f&^7), f&1 != 0, be.Uint32(body[4:])
			body = body[8:]
		}
	default:
		t.Fatalf("IP version %d", b[0]>>4)
	}
	if p.frag >= 0 {
		if p.more && len(body)%8 != 0 {
			t.Fatalf("fragment of %d bytes", len(body))
		}
		p.payload, p.unverified = body, true
		return
	}
	p.transport(t, body)
}

// transport parses what IP carries.
func (p *seen) transport(t testing.TB, body []byte) {
	t.Helper()
	be := binary.BigEndian
	pseudo := append(p.src.AsSlice(), p.dst.AsSlice()...)
	pseudo = append(be.AppendUint32(pseudo, uint32(len(body))), 0, 0, 0, p.proto)
	if p.proto == 1 {
		pseudo = nil
	}
	if ones(pseudo, body) != 0xffff {
		t.Fatalf("checksum of % x", body)
	}
	switch p.proto {
	case 17:
		if int(be.Uint16(body[4:])) != len(body) || be.Uint16(body[6:]) == 0 {
			t.Fatalf("UDP header % x of %d bytes", body[:8], len(body))
		}
		p.sport, p.dport, p.payload = be.Uint16(body), be.Uint16(body[2:]), body[8:]
	case 6:
		p.sport, p.dport, p.seq, p.ack = be.Uint16(body), be.Uint16(body[2:]), be.Uint32(body[4:]), be.Uint32(body[8:])
		n := int(body[12]>>4) * 4
		p.flags, p.window, p.payload, p.options = body[13], be.Uint16(body[14:]), body[n:], map[byte][]byte{}
		for o := body[20:n]; len(o) > 0; {
			if o[0] == 1 {
				o = o[1:]
				continue
			}
			p.options[o[0]] = o[2:o[1]]
			o = o[o[1]:]
		}
	case 1, 58:
		p.icmp, p.payload = [2]byte(body), body[8:]
	default:
		t.Fatalf("protocol %d", p.proto)
	}
}

func (l *lan) capture(o CaptureOptions) (all func() []seen, file *bytes.Buffer) {
	file = &bytes.Buffer{}
	c := l.Capture(file, o)
	return func() []seen {
		l.Helper()
		if err := c.Stop(); err != nil {
			l.Fatal(err)
		}
		if err := c.Stop(); err != nil {
			l.Fatal(err)
		}
		return readCapture(l, file.Bytes())
	}, file
}

func TestCaptureTCP(t *testing.T) {
	for _, to := range []string{"10.0.0.2:80", "[fd00::2]:80"} {
		l := newLAN(t, 1, "a", "b")
		l.SetDefault(Link{Latency: Constant(5 * time.Millisecond)})
		read, _ := l.capture(CaptureOptions{})
		ls := l.listen("b", "[::]:80", 10)
		x := l.dial("a", to)
		l.wait(20 * time.Millisecond)
		y := l.accept(ls)
		text := strings.Repeat("0123456789", 1000)
		l.sends(x, text)
		l.wait(time.Second)
		l.gets(y, text, again)
		x.Close()
		l.wait(time.Second)
		y.Close()
		l.wait(time.Second)
		all := read()
		// Each packet left one host and arrived at the other 5 ms later, the same.
		out := map[string]seen{}
		var streams [2]bytes.Buffer
		var isn [2]uint32
		for _, p := range all {
			k := fmt.Sprint(p.src, p.seq, p.ack, p.flags, p.payload, p.window)
			if !p.in {
				out[k] = p
				continue
			}
			o, ok := out[k]
			if !ok || p.at-o.at != 5*time.Millisecond || p.iface == o.iface || o.src != p.src || o.ttl != 64 {
				t.Fatalf("%v, %v", o, p)
			}
			side := 0
			if p.iface == "a" {
				side = 1
			}
			if p.flags&2 != 0 {
				isn[side] = p.seq
				mss := 1460
				if p.src.Is6() {
					mss = 1440
				}
				if binary.BigEndian.Uint16(p.options[2]) != uint16(mss) || !bytes.Equal(p.options[3], []byte{7}) || len(p.options[8]) != 8 || p.options[4] != nil {
					t.Errorf("options %v", p.options)
				}
			} else if n := p.seq - isn[side] - 1; len(p.payload) > 0 && n != uint32(streams[side].Len()) {
				t.Fatalf("%v: relative seq %d", p, n)
			}
			if p.flags == 2 && (p.seq == 0 || p.ack != 0) {
				t.Errorf("%v: seq %d", p, p.seq)
			}
			if p.flags&2 == 0 && p.window != 0xffff>>7 && p.iface == "a" && len(p.payload) == 0 && int(p.window)<<7 > tcpRmem/2 {
				t.Errorf("%v: window %d", p, p.window)
			}
			if ts := p.options[8]; len(ts) != 8 || time.Duration(binary.BigEndian.Uint32(ts))*time.Millisecond == 0 {
				t.Errorf("%v: timestamps % x", p, ts)
			}
			streams[side].Write(p.payload)
		}
		if streams[0].String() != text || streams[1].Len() != 0 {
			t.Errorf("%d and %d bytes", streams[0].Len(), streams[1].Len())
		}
		if first, last := all[0], all[len(all)-1]; first.flags != 2 || last.flags != 16 || !strings.Contains(first.String(), "a out") {
			t.Errorf("%v … %v", first, last)
		}
		if c := l.Total(); len(all) != int(c.Sent+c.Delivered) {
			t.Errorf("%d packets, %+v", len(all), c)
		}
	}
}

// TestCaptureUDP: whole datagrams, fragments, refusals, broadcasts, within a host.
func TestCaptureUDP(t *testing.T) {
	for _, to := range []string{"10.0.0.2", "fd00::2"} {
		addr := netip.MustParseAddr(to)
		l := newLAN(t, 1, "a", "b", "c")
		server := l.bind("b", inet6any, 8)
		read, _ := l.capture(CaptureOptions{})
		u := l.udpTo("a", netip.AddrPortFrom(addr, 8))
		big := strings.Repeat("fragments!", 400)
		l.sendTo(u, "odd", netip.AddrPort{})
		l.sendTo(u, big, netip.AddrPort{})
		l.expect("b", server, "odd", big)
		closed := l.udpTo("a", netip.AddrPortFrom(addr, 99))
		l.sendTo(closed, "anyone?", netip.AddrPort{})
		all := read()
		var whole []byte
		stage := 0
		for _, p := range all {
			if p.iface != "b" || !p.in {
				continue
			}
			switch {
			case stage == 0 && string(p.payload) == "odd" && p.dport == 8 && p.proto == 17:
				stage = 1
			case p.frag >= 0:
				if p.frag != len(whole) || p.total > 1500 {
					t.Fatalf("%v at %d", p, len(whole))
				}
				if whole = append(whole, p.payload...); !p.more {
					p.transport(t, whole)
					if string(p.payload) != big {
						t.Error("the fragments are not the datagram")
					}
					stage = 2
				}
			case string(p.payload) == "anyone?" && stage == 2:
				stage = 3
			}
		}
		last := all[len(all)-1]
		want := [2]byte{3, 3}
		if !addr.Is4() {
			want = [2]byte{1, 4}
		}
		if stage != 3 || last.iface != "a" || !last.in || last.icmp != want || last.src != addr || !bytes.HasSuffix(last.payload, []byte("anyone?")) {
			t.Errorf("stage %d, %v, ICMP %v", stage, last, last.icmp)
		}
		// What it quotes is the packet that was sent.
		quoted := seen{}
		quoted.parse(t, last.payload)
		if quoted.dport != 99 || quoted.src != last.dst || string(quoted.payload) != "anyone?" {
			t.Errorf("quotes %v", quoted)
		}
		// Of a longer one, the beginning, and its whole length.
		read, _ = l.capture(CaptureOptions{Hosts: []string{"a"}})
		l.is("refused", closed.PendingError(), syscall.ECONNREFUSED)
		l.sendTo(closed, strings.Repeat("x", 1000), netip.AddrPort{})
		all = read()
		inner, quotes, most := all[len(all)-1].payload, 520, 576
		if !addr.Is4() {
			quotes, most = 1000, 1280
		}
		if n := binary.BigEndian.Uint16(inner[len(inner)-quotes-4:]); n != 1008 || all[len(all)-1].total > most {
			t.Errorf("quotes a datagram of %d bytes, in %d", n, all[len(all)-1].total)
		}
	}
	l := newLAN(t, 1, "a", "b", "c")
	read, _ := l.capture(CaptureOptions{})
	a := l.socks["a"]
	a.Broadcast = true
	l.sendTo(a, "all", ap("255.255.255.255:7"))
	l.send("a", "a", "self")
	story := ""
	for _, p := range read() {
		story += fmt.Sprint(p.iface, p.in, string(p.payload), "; ")
	}
	if story != "afalseall; btrueall; ctrueall; a lofalseself; " {
		t.Error(story)
	}
}

// TestCaptureChoice: hosts, filters, limits; and a NAT's two sides.
func TestCaptureChoice(t *testing.T) {
	l := newLAN(t, 1, "in", "out", "out2")
	g := l.NAT("home", NAT{}, "in")
	everything, _ := l.capture(CaptureOptions{})
	out, _ := l.capture(CaptureOptions{Hosts: []string{"out2"}})
	small, _ := l.capture(CaptureOptions{Filter: func(p *Packet) bool { return p.From == "home" && string(p.Payload) == "b" }})
	var file bytes.Buffer
	limited := l.Capture(&file, CaptureOptions{Limit: 2000})
	l.send("in", "out", "a")
	l.send("in", "out2", "b")
	l.send("out", "out2", "c")
	for range 10 {
		l.send("in", "out", strings.Repeat("x", 900))
	}
	story := ""
	for _, p := range everything()[:8] {
		story += fmt.Sprintf("%s %v %v>%v; ", p.iface, p.in, p.src, p.dst)
	}
	nat := g.Addr().String()
	if want := "in false 10.0.0.1>10.0.0.2; home lan true 10.0.0.1>10.0.0.2; home false NAT>10.0.0.2; out true NAT>10.0.0.2; " +
		"in false 10.0.0.1>10.0.0.3; home lan true 10.0.0.1>10.0.0.3; home false NAT>10.0.0.3; out2 true NAT>10.0.0.3; "; story != strings.ReplaceAll(want, "NAT", nat) {
		t.Error(story)
	}
	if all := out(); len(all) != 2 || string(all[0].payload) != "b" || string(all[1].payload) != "c" || all[0].ttl != 63 || all[1].ttl != 64 {
		t.Errorf("%v", all)
	}
	if all := small(); len(all) != 2 || all[0].iface != "home" || all[1].iface != "out2" {
		t.Errorf("%v", all)
	}
	if err := limited.Stop(); err == nil || !strings.Contains(err.Error(), "packets are missing, beyond the limit of 2000 bytes") {
		t.Error(err)
	}
	if n := len(readCapture(t, file.Bytes())); n < 5 || n > 20 {
		t.Errorf("%d packets", n)
	}
	bad := l.Capture(failing{}, CaptureOptions{})
	if err := bad.Stop(); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	l.Capture(failing{}, CaptureOptions{})
	if err := l.StopCaptures(); !errors.Is(err, syscall.ENOSPC) || len(l.captures) != 0 {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
