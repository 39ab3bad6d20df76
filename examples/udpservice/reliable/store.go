package reliable

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

// maxSessions is for how many clients a node remembers the last request.
const maxSessions = 1024

// Item is the value of a key, with its place in the order of all puts.
type Item struct {
	Value string
	Seq   uint64
	Epoch uint64 // incarnation of the leader that took the put
}

// store is the replicated state: what all puts up to last have left. The node's
// goroutine alone changes it and reads it without lock; others read items, under mu.
type store struct {
	mu       sync.Mutex // held for changing items, and by other goroutines for reading
	items    map[string]Item
	changes  atomic.Uint64
	sessions map[uint64]wire.Session // by client
	last     uint64
}

func newStore() *store {
	return &store{items: make(map[string]Item), sessions: make(map[uint64]wire.Session)}
}

// apply carries out the next put.
func (s *store) apply(e wire.Entry) {
	if e.Seq != s.last+1 {
		panic(fmt.Sprintf("reliable: put %d applied after %d", e.Seq, s.last))
	}
	s.mu.Lock()
	s.items[e.Key] = Item{e.Value, e.Seq, e.Epoch}
	s.mu.Unlock()
	s.last = e.Seq
	s.sessions[e.Client] = wire.Session{Client: e.Client, Req: e.Req, Seq: e.Seq, Epoch: e.Epoch}
	if len(s.sessions) > maxSessions {
		oldest := s.sessions[e.Client]
		for _, t := range s.sessions {
			if t.Seq < oldest.Seq {
				oldest = t
			}
		}
		delete(s.sessions, oldest.Client)
	}
	s.changes.Add(1)
}

// replace puts another store's content in s's place, and takes it over.
func (s *store) replace(by *store) {
	s.mu.Lock()
	s.items = by.items
	s.mu.Unlock()
	s.sessions, s.last = by.sessions, by.last
	s.changes.Add(1)
}

func (s *store) clone() *store {
	return &store{items: maps.Clone(s.items), sessions: maps.Clone(s.sessions), last: s.last}
}

// contents lists the store's content, in an order that depends on it alone: two
// snapshots at one sequence number are the same, chunk by chunk.
func (s *store) contents() ([]wire.Entry, []wire.Session) {
	entries := make([]wire.Entry, 0, len(s.items))
	for key, it := range s.items {
		entries = append(entries, wire.Entry{Seq: it.Seq, Epoch: it.Epoch, Key: key, Value: it.Value})
	}
	slices.SortFunc(entries, func(a, b wire.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	sessions := slices.SortedFunc(maps.Values(s.sessions), func(a, b wire.Session) int { return cmp.Compare(a.Seq, b.Seq) })
	return entries, sessions
}

// state is contents for other goroutines.
func (s *store) state() map[string]Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.items)
}
