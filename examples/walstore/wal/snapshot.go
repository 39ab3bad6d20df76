package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// Snapshot puts state, which is what the records up to seq amount to, in
// their place. Those that come after seq stay.
func (l *Log) Snapshot(seq uint64, state []byte) error {
	old := 0
	for old < len(l.segments)-1 && l.segments[old].last <= seq {
		old++
	}
	return l.writeSnapshot(seq, state, old)
}

// Reset puts state, which is what the records up to seq amount to, in the place
// of all that the log has. The next record is seq+1.
func (l *Log) Reset(seq uint64, state []byte) error {
	l.last = seq
	if err := l.begin(); err != nil {
		return err
	}
	return l.writeSnapshot(seq, state, len(l.segments)-1)
}

// writeSnapshot writes the snapshot, and removes the segments before the old-th.
func (l *Log) writeSnapshot(seq uint64, state []byte, old int) error {
	b := binary.LittleEndian.AppendUint64(nil, l.segments[old].number)
	f, err := l.create(snapshotName, appendRecord(nil, Record{seq, append(b, state...)}))
	if err != nil {
		return err
	}
	f.Close() // synced
	for _, s := range l.segments[:old] {
		if err := os.Remove(l.path(segmentName(s.number))); err != nil {
			return err
		}
	}
	l.segments = append(l.segments[:0], l.segments[old:]...)
	return nil
}

// readSnapshot returns the snapshot, if there is one, and the number of the first
// segment that counts.
func (l *Log) readSnapshot() (r *Recovered, first uint64, err error) {
	b, err := os.ReadFile(l.path(snapshotName))
	if errors.Is(err, os.ErrNotExist) {
		return &Recovered{}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	rec, _, err := parseRecord(b, l.cfg.Bug)
	if err == nil && len(rec.Data) < 8 {
		err = errDamaged
	}
	if err != nil {
		return nil, 0, fmt.Errorf("wal: %s: %w; restore the node from another", l.path(snapshotName), err)
	}
	return &Recovered{Snapshot: rec.Data[8:], Seq: rec.Seq}, binary.LittleEndian.Uint64(rec.Data), nil
}
