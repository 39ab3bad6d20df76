package wal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// recover reads what is on disk, and clears what a loss of power left behind
// the last good record.
func (l *Log) recover() (*Recovered, error) {
	numbers, err := l.list()
	if err != nil {
		return nil, err
	}
	r, first, err := l.readSnapshot()
	if err != nil {
		return nil, err
	}
	l.last = r.Seq
	ended := false
	for i, number := range numbers {
		if number < first { // the snapshot stands for it
			if err := os.Remove(l.path(segmentName(number))); err != nil {
				return nil, err
			}
			continue
		}
		if !ended {
			ended, err = l.readSegment(number, i == len(numbers)-1, r)
		}
		if err != nil {
			return nil, fmt.Errorf("wal: %s: %w", l.path(segmentName(number)), err)
		}
		l.segments = append(l.segments, segment{number, l.last})
	}
	return r, nil
}

// readSegment adds a segment's records to r. It reports whether the log has ended
// there.
func (l *Log) readSegment(number uint64, last bool, r *Recovered) (ended bool, err error) {
	b, err := os.ReadFile(l.path(segmentName(number)))
	if err != nil {
		return false, err
	}
	end := 0
	for {
		rec, size, err := parseRecord(b[end:], l.cfg.Bug)
		if errors.Is(err, errDamaged) && l.cfg.Bug == StopsEarly {
			return true, nil
		}
		if errors.Is(err, errDamaged) && !last {
			return false, fmt.Errorf("at %d: %w; a loss of power does not do that, restore the node from another", end, err)
		}
		if err != nil {
			break
		}
		end += size
		if rec.Seq <= r.Seq { // in the snapshot
			continue
		}
		if rec.Seq != l.last+1 {
			return false, fmt.Errorf("record %d comes after record %d", rec.Seq, l.last)
		}
		r.Records = append(r.Records, rec)
		l.last = rec.Seq
	}
	if !last {
		return false, nil
	}
	return true, l.clear(number, b, end)
}

// clear puts zeroes behind the last good record of a segment and syncs it: what
// was read may be in the page cache only, if it was not the power that went.
func (l *Log) clear(number uint64, b []byte, end int) error {
	f, err := os.OpenFile(l.path(segmentName(number)), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	tail := b[end:]
	if zeroes := make([]byte, len(tail)); !bytes.Equal(tail, zeroes) {
		if _, err := f.WriteAt(zeroes, int64(end)); err != nil {
			return err
		}
	}
	if l.cfg.Bug == NoSync {
		return nil
	}
	return datasync(f)
}
