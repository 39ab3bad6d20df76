// Package wire is what nodes and clients of the store say to each other over TCP:
// frames of a length (4 bytes, the lowest first) and a message.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind says what a message is.
type Kind uint8

const (
	Put      Kind = 1 + iota // client to leader: ID, Req, Key, Value
	PutReply                 // Req, and Seq once a majority has it
	Get                      // client to leader: Req, Key
	GetReply                 // Req, Seq (0 if there is none), Value
	Refused                  // the answer to a request that cannot be served: Req, Value says why
	Follow                   // follower to leader: ID, Seq is the last record that it has
	Append                   // leader to follower: Records, or none as a sign of life
	State                    // leader to follower: Value is the state after Seq
	Held                     // follower to leader: it has all up to Seq on disk
)

// A Message is one message; which fields count, its kind says.
type Message struct {
	Kind       Kind
	ID         uint64 // of the client or follower
	Req        uint64 // number of the client's request
	Seq        uint64
	Key, Value string
	Records    [][]byte // those that follow Seq
}

// MaxFrame bounds what a reader takes.
const MaxFrame = 16 << 20

// ErrMalformed is returned for what is no message.
var ErrMalformed = errors.New("malformed message")

// Encode appends the message without its length.
func (m *Message) Encode(b []byte) []byte {
	b = append(b, byte(m.Kind))
	for _, n := range []uint64{m.ID, m.Req, m.Seq} {
		b = binary.AppendUvarint(b, n)
	}
	b = appendBytes(appendBytes(b, m.Key), m.Value)
	b = binary.AppendUvarint(b, uint64(len(m.Records)))
	for _, r := range m.Records {
		b = appendBytes(b, r)
	}
	return b
}

func appendBytes[T string | []byte](b []byte, data T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

// Decode is the reverse of Encode. Records are parts of b.
func Decode(b []byte) (*Message, error) {
	if len(b) == 0 {
		return nil, ErrMalformed
	}
	d := decoder{b: b[1:]}
	m := &Message{Kind: Kind(b[0]), ID: d.number(), Req: d.number(), Seq: d.number(), Key: string(d.bytes()), Value: string(d.bytes())}
	for n := d.number(); n > 0 && !d.bad; n-- {
		m.Records = append(m.Records, d.bytes())
	}
	if d.bad || len(d.b) > 0 || m.Kind < Put || m.Kind > Held {
		return nil, ErrMalformed
	}
	return m, nil
}

type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	part := d.b[:n:n]
	d.b = d.b[n:]
	return part
}

// Write writes the message as one frame, in one call.
func Write(w io.Writer, m *Message) error {
	b := m.Encode(make([]byte, 4, 64+len(m.Key)+len(m.Value)))
	if len(b)-4 > MaxFrame {
		return fmt.Errorf("wire: a frame of %d bytes, at most %d are taken", len(b)-4, MaxFrame)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	_, err := w.Write(b)
	return err
}

// Read reads one frame.
func Read(r *bufio.Reader) (*Message, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > MaxFrame {
		return nil, ErrMalformed
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	return Decode(b)
}
