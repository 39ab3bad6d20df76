package wire

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// ErrMalformed is returned for a datagram that is not a message.
var ErrMalformed = errors.New("wire: malformed datagram")

const (
	magic      = 0xd5
	headerSize = 1 + 4 // magic, checksum of what follows
)

// What senders reckon with when they fill a datagram: HeaderRoom is what a
// message without key, value and lists takes at most, SessionRoom what a session
// does. EntryRoom is the same for an entry.
const (
	HeaderRoom  = headerSize + 4 + 9*binary.MaxVarintLen64
	SessionRoom = 4 * binary.MaxVarintLen64
)

// EntryRoom returns how many bytes e takes at most.
func EntryRoom(e Entry) int {
	return 6*binary.MaxVarintLen64 + len(e.Key) + len(e.Value)
}

// AppendTo appends m's datagram to b.
func (m *Message) AppendTo(b []byte) []byte {
	start := len(b)
	b = append(b, magic, 0, 0, 0, 0)
	member := byte(0)
	if m.Member {
		member = 1
	}
	b = append(b, byte(m.Kind), m.From, byte(m.Status), member)
	for _, v := range [...]uint64{m.Nonce, m.Req, m.Epoch, m.Seq, m.Floor, uint64(m.Index), uint64(m.Total)} {
		b = binary.AppendUvarint(b, v)
	}
	b = appendString(b, m.Key)
	b = appendString(b, m.Value)
	b = binary.AppendUvarint(b, uint64(len(m.Entries)))
	for _, e := range m.Entries {
		for _, v := range [...]uint64{e.Seq, e.Epoch, e.Client, e.Req} {
			b = binary.AppendUvarint(b, v)
		}
		b = appendString(b, e.Key)
		b = appendString(b, e.Value)
	}
	b = binary.AppendUvarint(b, uint64(len(m.Sessions)))
	for _, s := range m.Sessions {
		for _, v := range [...]uint64{s.Client, s.Req, s.Seq, s.Epoch} {
			b = binary.AppendUvarint(b, v)
		}
	}
	body := b[start+headerSize:]
	binary.BigEndian.PutUint32(b[start+1:], crc32.ChecksumIEEE(body))
	return b
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// Decode reads one datagram. The message shares no memory with b.
func Decode(b []byte) (*Message, error) {
	if len(b) < headerSize+4 || len(b) > MaxDatagram || b[0] != magic {
		return nil, ErrMalformed
	}
	if crc32.ChecksumIEEE(b[headerSize:]) != binary.BigEndian.Uint32(b[1:]) {
		return nil, ErrMalformed
	}
	d := decoder{b: b[headerSize:]}
	m := &Message{
		Kind:   Kind(d.byte()),
		From:   d.byte(),
		Status: Status(d.byte()),
		Member: d.byte() == 1,
		Nonce:  d.uint(), Req: d.uint(), Epoch: d.uint(), Seq: d.uint(), Floor: d.uint(),
		Index: uint32(d.uint()), Total: uint32(d.uint()),
		Key: d.string(MaxKey), Value: d.string(MaxValue),
	}
	for n := d.count(); n > 0; n-- {
		m.Entries = append(m.Entries, Entry{
			Seq: d.uint(), Epoch: d.uint(), Client: d.uint(), Req: d.uint(),
			Key: d.string(MaxKey), Value: d.string(MaxValue),
		})
	}
	for n := d.count(); n > 0; n-- {
		m.Sessions = append(m.Sessions, Session{Client: d.uint(), Req: d.uint(), Seq: d.uint(), Epoch: d.uint()})
	}
	if d.bad || len(d.b) != 0 || m.Kind == 0 || m.Kind >= kinds || m.Status >= statuses {
		return nil, ErrMalformed
	}
	return m, nil
}

// decoder takes fields off b. After the first that is not there, bad is set and
// all that follow are zero, so that callers check once, at the end.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) string(limit int) string {
	n := d.uint()
	if n > uint64(limit) || n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

// count reads the length of a list. Each element takes a byte at least, so a
// longer list than what is left is malformed: no datagram makes Decode allocate
// more than its own size asks for.
func (d *decoder) count() uint64 {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return 0
	}
	return n
}
