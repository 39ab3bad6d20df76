package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Config says where a log is.
type Config struct {
	Dir         string // its folder, made if it is not there; the one above must be
	SegmentSize int    // bytes
	Bug         Bug
}

// A Log is open for writing. It is for one goroutine at a time. After an error of
// one of its methods what is on disk is not known: close it, and open it again.
type Log struct {
	cfg      Config
	segments []segment // in order; the last is written to
	f        *os.File  // of the last
	off      int       // where its next record goes
	last     uint64    // number of the last record
	buf      []byte
	unsynced bool
}

type segment struct {
	number uint64
	last   uint64 // number of the last record in it, or before it
}

// Recovered is what a log held when it was opened: a state as it was given to
// Snapshot, or nil, and the records after it.
type Recovered struct {
	Snapshot []byte
	Seq      uint64 // number of the last record that the snapshot stands for
	Records  []Record
}

// ErrTooLarge is returned for a record that does not fit into a segment.
var ErrTooLarge = errors.New("record too large")

// Open opens the log in a folder, or makes one, and returns what is in it, all of
// which is durable.
func Open(cfg Config) (*Log, *Recovered, error) {
	if cfg.SegmentSize < overhead {
		return nil, nil, fmt.Errorf("wal: segments of %d bytes hold no record", cfg.SegmentSize)
	}
	l := &Log{cfg: cfg}
	if err := os.Mkdir(cfg.Dir, 0o755); err != nil && !os.IsExist(err) {
		return nil, nil, err
	}
	if err := syncDir(filepath.Dir(cfg.Dir)); err != nil {
		return nil, nil, err
	}
	r, err := l.recover()
	if err == nil {
		err = l.begin()
	}
	if err != nil {
		l.Close()
		return nil, nil, err
	}
	return l, r, nil
}

// begin makes a new segment, once the one before is durable.
func (l *Log) begin() error {
	if err := l.Sync(); err != nil {
		return err
	}
	number := uint64(1)
	if n := len(l.segments); n > 0 {
		number = l.segments[n-1].number + 1
	}
	f, err := l.create(segmentName(number), make([]byte, l.cfg.SegmentSize))
	if err != nil {
		return err
	}
	if l.f != nil {
		l.f.Close() // synced
	}
	l.f, l.off, l.unsynced = f, 0, false
	l.segments = append(l.segments, segment{number, l.last})
	return nil
}

// Append writes records, whose numbers follow the last one's. They are durable after
// Sync.
func (l *Log) Append(records ...Record) error {
	for _, r := range records {
		size := Size(len(r.Data))
		if size > l.cfg.SegmentSize {
			return ErrTooLarge
		}
		if r.Seq != l.last+1 {
			return fmt.Errorf("wal: record %d after record %d", r.Seq, l.last)
		}
		if l.off+len(l.buf)+size > l.cfg.SegmentSize {
			if err := l.flush(); err != nil {
				return err
			}
			if err := l.begin(); err != nil {
				return err
			}
		}
		l.buf = appendRecord(l.buf, r)
		l.last = r.Seq
		l.segments[len(l.segments)-1].last = r.Seq
	}
	return l.flush()
}

// flush writes what Append has gathered.
func (l *Log) flush() error {
	if len(l.buf) == 0 {
		return nil
	}
	if _, err := l.f.WriteAt(l.buf, int64(l.off)); err != nil {
		return err
	}
	l.off += len(l.buf)
	l.buf = l.buf[:0]
	l.unsynced = true
	return nil
}

// Sync makes all records durable.
func (l *Log) Sync() error {
	if !l.unsynced || l.cfg.Bug == NoSync {
		return nil
	}
	if err := datasync(l.f); err != nil {
		return err
	}
	l.unsynced = false
	return nil
}

// Last returns the number of the last record, or what the snapshot stands for.
func (l *Log) Last() uint64 { return l.last }

// Segments returns how many segments there are.
func (l *Log) Segments() int { return len(l.segments) }

// Close closes the log without syncing it.
func (l *Log) Close() error {
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}
