package wire

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for _, m := range []*Message{
		{Kind: Get, Key: "x"},
		{Kind: Put, Nonce: math.MaxUint64, Req: 7, Key: strings.Repeat("k", MaxKey), Value: strings.Repeat("v", MaxValue)},
		{Kind: Promise, From: 2, Status: Refused, Member: true, Epoch: 3, Seq: 9},
		{Kind: Chunk, Index: 1, Total: math.MaxUint32,
			Entries:  []Entry{{Seq: 1, Epoch: 2, Client: 3, Req: 4, Key: "a", Value: "b"}, {Key: "c"}},
			Sessions: []Session{{Client: 5, Req: 6, Seq: 7, Epoch: 8}}},
	} {
		b := m.AppendTo(nil)
		got, err := Decode(b)
		if err != nil {
			t.Fatalf("%v: %v", m.Kind, err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("got %+v, want %+v", got, m)
		}
	}
}

// A datagram that was cut or changed anywhere is refused, not misread.
func TestDecodeDamaged(t *testing.T) {
	m := &Message{Kind: Append, Epoch: 1, Entries: []Entry{{Seq: 1, Key: "key", Value: "value"}}}
	b := m.AppendTo(nil)
	for n := range b {
		if _, err := Decode(b[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("first %d of %d bytes: %v, want ErrMalformed", n, len(b), err)
		}
		c := append([]byte(nil), b...)
		c[n] ^= 0x10
		if _, err := Decode(c); !errors.Is(err, ErrMalformed) {
			t.Errorf("byte %d changed: %v, want ErrMalformed", n, err)
		}
	}
	if _, err := Decode(make([]byte, MaxDatagram+1)); !errors.Is(err, ErrMalformed) {
		t.Errorf("too long: %v", err)
	}
}

// The largest entry fits in a datagram by the rooms that senders reckon with.
func TestRoom(t *testing.T) {
	e := Entry{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64,
		strings.Repeat("k", MaxKey), strings.Repeat("v", MaxValue)}
	m := &Message{Kind: Chunk, Nonce: math.MaxUint64, Req: math.MaxUint64, Epoch: math.MaxUint64,
		Seq: math.MaxUint64, Floor: math.MaxUint64, Index: math.MaxUint32, Total: math.MaxUint32}
	if n := len(m.AppendTo(nil)); n > HeaderRoom {
		t.Errorf("header takes %d, HeaderRoom is %d", n, HeaderRoom)
	}
	m.Entries = []Entry{e}
	if n, room := len(m.AppendTo(nil)), HeaderRoom+EntryRoom(e); n > room || room > MaxDatagram {
		t.Errorf("entry takes %d, room is %d, limit %d", n, room, MaxDatagram)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&Message{Kind: Put, Key: "x", Value: "1"}).AppendTo(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			return
		}
		if _, err := Decode(m.AppendTo(nil)); err != nil {
			t.Errorf("%+v decodes but not again: %v", m, err)
		}
	})
}

func TestResolve(t *testing.T) {
	a, err := Resolve(context.Background(), "127.0.0.1:7000")
	if err != nil || a.String() != "127.0.0.1:7000" {
		t.Errorf("got %v, %v", a, err)
	}
	if _, err := Resolve(context.Background(), "127.0.0.1"); err == nil {
		t.Error("no error for an address without port")
	}
}
