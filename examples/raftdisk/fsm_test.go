package raftdisk

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"io"
	"maps"
	"sync"

	"github.com/hashicorp/raft"
)

// A state is what the machine that Raft replicates is in: keys and their values, and
// a chain of hashes over all commands that led there.
type state struct {
	Values map[string]string
	Index  uint64 // of the last command
	Chain  uint64
}

// A command is an entry of Raft's log.
type command struct{ Key, Value string }

// An oracle is told what becomes of machines: of each state that a command leads to, and
// of snapshots that are put in the place of what was there.
type oracle interface {
	reached(now state)
	restored(was, now state)
}

// A machine is the state machine of one host.
type machine struct {
	oracle oracle
	mu     sync.Mutex
	now    state
}

var _ raft.FSM = (*machine)(nil)

func (m *machine) Apply(l *raft.Log) any {
	var c command
	if err := json.Unmarshal(l.Data, &c); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Values[c.Key] = c.Value
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(l.Data, m.now.Chain))
	m.now.Index, m.now.Chain = l.Index, h.Sum64()
	m.oracle.reached(m.now)
	return nil
}

// get returns the value of a key.
func (m *machine) get(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now.Values[key]
}

// copy returns the state.
func (m *machine) copy() state {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.now
	s.Values = maps.Clone(s.Values)
	return s
}

func (m *machine) Snapshot() (raft.FSMSnapshot, error) { return m.copy(), nil }

// Persist and Release make a state a raft.FSMSnapshot.
func (s state) Persist(sink raft.SnapshotSink) error {
	if err := json.NewEncoder(sink).Encode(s); err != nil {
		sink.Cancel()
		return err
	}
	return sink.Close()
}

func (s state) Release() {}

func (m *machine) Restore(r io.ReadCloser) error {
	defer r.Close()
	s := state{Values: map[string]string{}}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return err
	}
	m.oracle.restored(m.now, s)
	m.now = s
	return nil
}
