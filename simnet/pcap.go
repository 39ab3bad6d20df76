package simnet

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/dstkit/dst/sched"
)

// A Capture collects packets as tcpdump does on the interfaces of hosts: what a
// host sends when it hands it to the link, what it receives when that arrives.
// It is written in the format pcapng, for Wireshark, tshark and tcpdump, with an
// interface for each host and virtual time in nanoseconds. Capturing draws nothing
// and changes nothing.
//
// The packets are raw IP (LINKTYPE_RAW), with the headers that the model's packets
// stand for: checksums, lengths, fragments. Of TCP, sequence numbers are the low 32
// bits of the model's; each segment has the timestamps option, in milliseconds, whose
// 12 bytes the links do not count; windows are scaled by 128; a perfect link shows
// segments larger than its MTU, as segmentation offload does. A datagram that was
// damaged and delivered has a checksum that fits.
type Capture struct {
	n     *Network
	o     CaptureOptions
	hosts map[*Stack]bool // nil is all
	w     io.Writer
	buf   []byte
	ifs   map[captureIf]uint32 // their numbers in the file
	lost  int                  // packets beyond the limit
	done  bool
	pkts  ipPackets
}

// CaptureOptions say what to capture. The zero value is all of it.
type CaptureOptions struct {
	Hosts  []string           // on the interfaces of these hosts or NATs; nil is all, those to come too
	Filter func(*Packet) bool // those for which it returns true; like a rule, it runs in kernel context
	Limit  int                // bytes that are kept until they are written; 0 is 256 MB
}

// captureIf is an interface of a capture: where a packet was seen.
type captureIf struct {
	host int
	side string // "", " lo", or " lan", the inner side of a NAT
}

const defaultCapture = 256 << 20

// Capture begins to collect packets. They are kept in memory, and written to w by
// [Capture.Stop], or at the end of the run.
func (n *Network) Capture(w io.Writer, o CaptureOptions) *Capture {
	sched.Enter()
	defer sched.Leave()
	if o.Limit < 0 {
		panic(fmt.Sprintf("simnet: Capture: Limit is %d, must not be negative", o.Limit))
	}
	if o.Limit == 0 {
		o.Limit = defaultCapture
	}
	c := &Capture{n: n, o: o, w: w, ifs: map[captureIf]uint32{}}
	if o.Hosts != nil {
		c.hosts = map[*Stack]bool{}
		for _, name := range o.Hosts {
			c.hosts[n.host("Capture", name)] = true
		}
	}
	c.header()
	n.captures = append(n.captures, c)
	return c
}

// Stop ends the capture and writes it. The error is that of the writer, or tells
// that packets are missing, beyond Limit. Stopping twice is harmless.
func (c *Capture) Stop() error {
	buf, lost, first := c.end()
	if !first {
		return nil
	}
	if _, err := c.w.Write(buf); err != nil {
		return fmt.Errorf("simnet: capture: %w", err)
	}
	if lost > 0 {
		return fmt.Errorf("simnet: capture: %d packets are missing, beyond the limit of %d bytes; choose hosts, a filter, or a larger Limit", lost, c.o.Limit)
	}
	return nil
}

func (c *Capture) end() (buf []byte, lost int, first bool) {
	sched.Enter()
	defer sched.Leave()
	if c.done {
		return nil, 0, false
	}
	c.done = true
	var rest []*Capture
	for _, o := range c.n.captures {
		if o != c {
			rest = append(rest, o)
		}
	}
	c.n.captures = rest
	buf, c.buf = c.buf, nil
	return buf, c.lost, true
}

// StopCaptures ends all captures, at the end of a run. It returns the first error.
func (n *Network) StopCaptures() (err error) {
	for len(n.captures) > 0 {
		if e := n.captures[0].Stop(); err == nil {
			err = e
		}
	}
	return err
}

// note takes a packet if it was seen on an interface.
func (c *Capture) note(what Verb, from, to *Stack, p *Datagram) {
	switch what {
	case Sent:
		if !p.again { // a broadcast is sent once
			c.packet(from, to, p, from, c.side(from, to), false)
		}
	case Delivered:
		c.packet(from, to, p, to, c.side(to, from), true)
	case Local:
		if p.cast == unicast || p.Interface == lo {
			c.packet(from, to, p, from, " lo", false)
		}
	}
}

// side tells which of its interfaces a node has towards another.
func (c *Capture) side(s, other *Stack) string {
	if s.gateway != nil && other.behind == s {
		return " lan"
	}
	return ""
}

func (c *Capture) packet(from, to *Stack, p *Datagram, at *Stack, side string, in bool) {
	if c.hosts != nil && !c.hosts[at] {
		return
	}
	if c.o.Filter != nil && !c.o.Filter(c.n.view(from, to, p)) {
		return
	}
	if len(c.buf)+len(p.Payload)+512 > c.o.Limit {
		c.lost++
		return
	}
	mtu := loopbackMTU
	if p.path != nil {
		mtu = p.path.link.mtu()
	}
	number := c.iface(at, side)
	for _, ip := range c.pkts.render(p, mtu) {
		c.enhanced(number, ip, in)
	}
}

// The blocks of pcapng (draft-ietf-opsawg-pcapng).
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockEnhanced  = 6
	byteOrder      = 0x1a2b3c4d
	linkRaw        = 101 // LINKTYPE_RAW
)

var le = binary.LittleEndian

// begin begins a block, and end ends it: its length stands on both sides.
func (c *Capture) begin(kind uint32) (start int) {
	start = len(c.buf)
	c.buf = le.AppendUint32(c.buf, kind)
	c.buf = le.AppendUint32(c.buf, 0)
	return start
}

func (c *Capture) finish(start int) {
	size := uint32(len(c.buf) - start + 4)
	le.PutUint32(c.buf[start+4:], size)
	c.buf = le.AppendUint32(c.buf, size)
}

// option adds an option, padded to four bytes.
func (c *Capture) option(code uint16, value []byte) {
	c.buf = le.AppendUint16(c.buf, code)
	c.buf = le.AppendUint16(c.buf, uint16(len(value)))
	c.padded(value)
}

func (c *Capture) padded(data []byte) {
	c.buf = append(c.buf, data...)
	c.buf = append(c.buf, make([]byte, -len(data)&3)...)
}

func (c *Capture) header() {
	start := c.begin(blockSection)
	c.buf = le.AppendUint32(c.buf, byteOrder)
	c.buf = le.AppendUint32(c.buf, 1)          // version 1.0
	c.buf = le.AppendUint64(c.buf, ^uint64(0)) // length not known
	c.option(4, []byte("dst"))                 // shb_userappl
	c.option(1, fmt.Appendf(nil, "seed %d", c.n.w.Seed()))
	c.option(0, nil)
	c.finish(start)
}

// iface returns the number of an interface, and describes it at its first packet.
func (c *Capture) iface(at *Stack, side string) uint32 {
	k := captureIf{at.index, side}
	if number, ok := c.ifs[k]; ok {
		return number
	}
	number := uint32(len(c.ifs))
	c.ifs[k] = number
	start := c.begin(blockInterface)
	c.buf = le.AppendUint16(c.buf, linkRaw)
	c.buf = le.AppendUint16(c.buf, 0)
	c.buf = le.AppendUint32(c.buf, 0) // no limit to a packet's length
	c.option(2, []byte(at.name+side)) // if_name
	c.option(9, []byte{9})            // if_tsresol: nanoseconds
	c.option(0, nil)
	c.finish(start)
	return number
}

func (c *Capture) enhanced(number uint32, ip []byte, in bool) {
	start := c.begin(blockEnhanced)
	now := uint64(c.n.w.Now())
	c.buf = le.AppendUint32(c.buf, number)
	c.buf = le.AppendUint32(c.buf, uint32(now>>32))
	c.buf = le.AppendUint32(c.buf, uint32(now))
	c.buf = le.AppendUint32(c.buf, uint32(len(ip)))
	c.buf = le.AppendUint32(c.buf, uint32(len(ip)))
	c.padded(ip)
	direction := []byte{2, 0, 0, 0} // outbound
	if in {
		direction[0] = 1
	}
	c.option(2, direction) // epb_flags
	c.option(0, nil)
	c.finish(start)
}
