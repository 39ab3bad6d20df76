package reliable

import (
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

const (
	maxChunks   = 1 << 16     // in a snapshot: some 60 MB
	chunkWindow = 8           // sent for one Pull
	cutReuse    = time.Second // for how long a Pull for any snapshot gets the last one made
)

// cut is a snapshot that a node hands out, frozen while it goes out in pieces.
type cut struct {
	nonce      uint64 // incarnation it was made for
	epoch, seq uint64
	at         time.Time
	chunks     []wire.Message
}

func newCut(now time.Time, nonce, epoch uint64, s *store) *cut {
	c := &cut{nonce: nonce, epoch: epoch, seq: s.last, at: now}
	chunk, room := wire.Message{}, wire.MaxDatagram-wire.HeaderRoom
	flush := func() {
		c.chunks = append(c.chunks, chunk)
		chunk, room = wire.Message{}, wire.MaxDatagram-wire.HeaderRoom
	}
	entries, sessions := s.contents()
	for _, e := range entries {
		size := wire.EntryRoom(e)
		if size > room {
			flush()
		}
		chunk.Entries = append(chunk.Entries, e)
		room -= size
	}
	for _, t := range sessions {
		if wire.SessionRoom > room {
			flush()
		}
		chunk.Sessions = append(chunk.Sessions, t)
		room -= wire.SessionRoom
	}
	flush() // an empty snapshot is a chunk too
	for i := range c.chunks {
		m := &c.chunks[i]
		m.Kind, m.Nonce, m.Epoch, m.Seq = wire.Chunk, nonce, epoch, c.seq
		m.Index, m.Total = uint32(i), uint32(len(c.chunks))
	}
	return c
}

// serves tells whether c is what the Pull m asks for.
func (c *cut) serves(now time.Time, m *wire.Message) bool {
	if c == nil || c.nonce != m.Nonce || c.epoch < m.Epoch {
		return false
	}
	if m.Seq == 0 {
		return now.Sub(c.at) < cutReuse
	}
	return c.seq == m.Seq
}

// window returns the chunks to send for a Pull from index on.
func (c *cut) window(index uint32) []wire.Message {
	from := min(int64(index), int64(len(c.chunks)))
	return c.chunks[from:min(from+chunkWindow, int64(len(c.chunks)))]
}

// fetch is a snapshot that a node collects from another.
type fetch struct {
	from       int    // node asked
	epoch, seq uint64 // of the snapshot; until the first chunk, the least epoch to take
	total      uint32 // 0 until the first chunk
	chunks     map[uint32]*wire.Message
	first      uint32 // lowest chunk that is missing
	until      uint32 // end of the window asked for last
	retry      retry
	tries      int // Pulls since the last new chunk
}

// pull returns what to ask for next.
func (f *fetch) pull(now time.Time, nonce uint64) *wire.Message {
	f.retry.sent(now)
	f.tries++
	f.until = f.first + chunkWindow
	return &wire.Message{Kind: wire.Pull, Nonce: nonce, Epoch: f.epoch, Seq: f.seq, Index: f.first}
}

// add takes a chunk in. A chunk of a newer snapshot starts the collection again,
// one of an older is passed over. After a whole window the next Pull is due.
func (f *fetch) add(now time.Time, m *wire.Message) {
	if m.Total == 0 || m.Total > maxChunks || m.Index >= m.Total {
		return
	}
	newer := m.Epoch > f.epoch || m.Epoch == f.epoch && m.Seq > f.seq
	switch {
	case newer || f.total == 0 && m.Epoch == f.epoch && m.Seq == f.seq:
		f.epoch, f.seq, f.total = m.Epoch, m.Seq, m.Total
		f.chunks, f.first = make(map[uint32]*wire.Message), 0
		f.until = chunkWindow
	case m.Epoch != f.epoch || m.Seq != f.seq || m.Total != f.total:
		return
	}
	if f.chunks[m.Index] != nil {
		return
	}
	f.chunks[m.Index] = m
	f.tries, f.retry.wait = 0, 0 // chunks do get through: no more backing off
	if soon := now.Add(firstRetry); f.retry.at.After(soon) {
		f.retry.at = soon
	}
	for f.chunks[f.first] != nil {
		f.first++
	}
	if f.first >= f.until {
		f.retry = retry{at: now}
	}
}

func (f *fetch) complete() bool { return f.total > 0 && f.first == f.total }

// store returns what a complete snapshot holds.
func (f *fetch) store() *store {
	s := newStore()
	s.last = f.seq
	for _, m := range f.chunks {
		for _, e := range m.Entries {
			s.items[e.Key] = Item{e.Value, e.Seq, e.Epoch}
		}
		for _, t := range m.Sessions {
			s.sessions[t.Client] = t
		}
	}
	return s
}
