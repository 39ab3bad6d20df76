package raft

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/dstkit/dst/examples/internal/outage"
)

// A wal is a log store and a stable store in one file, to which records are
// appended. A record is its length and checksum, and JSON. It is never compacted.
type wal struct {
	*raft.InmemStore // what the file says
	flaw             flaw

	mu sync.Mutex
	f  *os.File
}

var (
	_ raft.LogStore    = (*wal)(nil)
	_ raft.StableStore = (*wal)(nil)
)

// A record is one change of the store: of a log, or of a key.
type record struct {
	Logs     []*raft.Log `json:",omitempty"`
	Min, Max uint64      `json:",omitempty"` // a range that is deleted
	Key      string      `json:",omitempty"`
	Value    []byte      `json:",omitempty"`
	Number   uint64      `json:",omitempty"`
	IsNumber bool        `json:",omitempty"`
}

const header = 8

// openWAL opens the store of a folder, or makes one. What was being written when the
// machine went down is cut off.
func openWAL(dir string, f flaw) (*wal, error) {
	path := filepath.Join(dir, "wal")
	_, err := os.Stat(path)
	fresh := errors.Is(err, os.ErrNotExist)
	s := &wal{InmemStore: raft.NewInmemStore(), flaw: f}
	if s.f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if fresh {
		if err := outage.Fsync(dir); err != nil {
			return nil, err
		}
	}
	b, err := io.ReadAll(s.f)
	if err != nil {
		return nil, err
	}
	end := int64(0)
	for {
		rest := b[end:]
		if len(rest) < header {
			break
		}
		n := int64(binary.LittleEndian.Uint32(rest))
		if n > int64(len(rest)-header) || crc32.ChecksumIEEE(rest[header:header+n]) != binary.LittleEndian.Uint32(rest[4:]) {
			break
		}
		var r record
		if err := json.Unmarshal(rest[header:header+n], &r); err != nil {
			return nil, err
		}
		s.play(&r)
		end += header + n
	}
	if f == forgetsLast {
		if last, _ := s.LastIndex(); last > 0 {
			s.InmemStore.DeleteRange(last, last)
		}
	}
	if err := s.f.Truncate(end); err != nil {
		return nil, err
	}
	_, err = s.f.Seek(end, io.SeekStart)
	return s, err
}

// play does to the memory what a record says.
func (s *wal) play(r *record) {
	switch {
	case r.Logs != nil:
		s.InmemStore.StoreLogs(r.Logs)
	case r.Max > 0:
		s.InmemStore.DeleteRange(r.Min, r.Max)
	case r.IsNumber:
		s.InmemStore.SetUint64([]byte(r.Key), r.Number)
	default:
		s.InmemStore.Set([]byte(r.Key), r.Value)
	}
}

// add makes a record durable, then plays it.
func (s *wal) add(r *record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flaw == forgetsVote && r.Key != "" {
		s.play(r)
		return nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	rec := binary.LittleEndian.AppendUint32(nil, uint32(len(b)))
	rec = binary.LittleEndian.AppendUint32(rec, crc32.ChecksumIEEE(b))
	if _, err := s.f.Write(append(rec, b...)); err != nil {
		return err
	}
	if s.flaw != neverSyncs {
		if err := s.f.Sync(); err != nil {
			return err
		}
	}
	s.play(r)
	return nil
}

func (s *wal) StoreLog(l *raft.Log) error        { return s.StoreLogs([]*raft.Log{l}) }
func (s *wal) StoreLogs(l []*raft.Log) error     { return s.add(&record{Logs: l}) }
func (s *wal) DeleteRange(min, max uint64) error { return s.add(&record{Min: min, Max: max}) }
func (s *wal) Set(key, value []byte) error       { return s.add(&record{Key: string(key), Value: value}) }
func (s *wal) SetUint64(key []byte, n uint64) error {
	return s.add(&record{Key: string(key), Number: n, IsNumber: true})
}
