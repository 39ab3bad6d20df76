package store

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dstkit/dst/examples/walstore/wal"
	"github.com/dstkit/dst/examples/walstore/wire"
)

// A State is what the puts up to Seq amount to.
type State struct {
	Seq     uint64
	Items   map[string]Item
	Clients map[uint64]Done
}

// An Item is the value of a key, and the number of its put.
type Item struct {
	Value string
	Seq   uint64
}

// Done is the last put of a client: the number of its request, and of the put.
type Done struct{ Req, Seq uint64 }

func newState() *State {
	return &State{Items: map[string]Item{}, Clients: map[uint64]Done{}}
}

// apply carries out the put that a record holds.
func (s *State) apply(r wal.Record) error {
	m, err := wire.Decode(r.Data)
	if err != nil || m.Kind != wire.Put {
		return fmt.Errorf("store: record %d holds no put: %v", r.Seq, err)
	}
	s.Seq = r.Seq
	s.Items[m.Key] = Item{m.Value, r.Seq}
	s.Clients[m.ID] = Done{m.Req, r.Seq}
	return nil
}

// clone copies the state.
func (s *State) clone() State {
	return State{s.Seq, maps.Clone(s.Items), maps.Clone(s.Clients)}
}

// encode is the state as snapshots have it: a put for each key, and an empty one for each
// client.
func (s *State) encode() []byte {
	all := wire.Message{Kind: wire.State, Seq: s.Seq}
	for _, key := range slices.Sorted(maps.Keys(s.Items)) {
		put := wire.Message{Kind: wire.Put, Key: key, Value: s.Items[key].Value, Seq: s.Items[key].Seq}
		all.Records = append(all.Records, put.Encode(nil))
	}
	for _, id := range slices.Sorted(maps.Keys(s.Clients)) {
		done := wire.Message{Kind: wire.PutReply, ID: id, Req: s.Clients[id].Req, Seq: s.Clients[id].Seq}
		all.Records = append(all.Records, done.Encode(nil))
	}
	return all.Encode(nil)
}

// decodeState is the reverse of encode.
func decodeState(b []byte) (*State, error) {
	all, err := wire.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("store: snapshot: %w", err)
	}
	s := newState()
	s.Seq = all.Seq
	for _, r := range all.Records {
		m, err := wire.Decode(r)
		if err != nil {
			return nil, fmt.Errorf("store: snapshot: %w", err)
		}
		if m.Kind == wire.Put {
			s.Items[m.Key] = Item{m.Value, m.Seq}
		} else {
			s.Clients[m.ID] = Done{m.Req, m.Seq}
		}
	}
	return s, nil
}
