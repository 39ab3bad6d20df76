package wal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func record(seq uint64) Record {
	return Record{seq, bytes.Repeat([]byte(fmt.Sprint(seq, ";")), 20)}
}

func open(t *testing.T, cfg Config) (*Log, *Recovered) {
	t.Helper()
	l, r, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, r
}

// write appends the records from the log's last to last, and syncs.
func write(t *testing.T, l *Log, last uint64) {
	t.Helper()
	for l.Last() < last {
		if err := l.Append(record(l.Last() + 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
}

// same compares what was recovered: a snapshot that stands for the records up to
// snapshot, and those from there to last.
func same(t *testing.T, r *Recovered, snapshot, last uint64) {
	t.Helper()
	if r.Seq != snapshot || (r.Snapshot != nil) != (snapshot > 0) || len(r.Records) != int(last-snapshot) {
		t.Fatalf("a snapshot of %d and %d records, want one of %d and all up to %d", r.Seq, len(r.Records), snapshot, last)
	}
	for i, rec := range r.Records {
		if want := record(snapshot + uint64(i) + 1); rec.Seq != want.Seq || !bytes.Equal(rec.Data, want.Data) {
			t.Errorf("record %d is %d, %q", want.Seq, rec.Seq, rec.Data)
		}
	}
}

func TestReopen(t *testing.T) {
	cfg := Config{Dir: filepath.Join(t.TempDir(), "log"), SegmentSize: 256}
	for last := uint64(0); last < 30; last += 5 {
		l, r := open(t, cfg)
		same(t, r, 0, last)
		write(t, l, last+5)
		l.Close()
	}
	if err := os.WriteFile(filepath.Join(cfg.Dir, "00000099.wal.tmp"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l, r := open(t, cfg)
	same(t, r, 0, 30)
	if names, _ := filepath.Glob(filepath.Join(cfg.Dir, "*.tmp")); len(names) > 0 {
		t.Errorf("%q are left", names)
	}
	if err := l.Append(record(32)); err == nil {
		t.Error("a gap was accepted")
	}
	if err := l.Append(Record{31, make([]byte, 256)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large record: %v", err)
	}
}

func TestSnapshot(t *testing.T) {
	cfg := Config{Dir: filepath.Join(t.TempDir(), "log"), SegmentSize: 256}
	l, _ := open(t, cfg)
	write(t, l, 20)
	before := l.Segments()
	if err := l.Snapshot(15, []byte("state")); err != nil {
		t.Fatal(err)
	}
	if after := l.Segments(); after >= before || after < 2 {
		t.Errorf("%d segments became %d", before, after)
	}
	write(t, l, 22)
	l.Close()
	l, r := open(t, cfg)
	same(t, r, 15, 22)

	if err := l.Reset(40, []byte("other")); err != nil {
		t.Fatal(err)
	}
	write(t, l, 41)
	l.Close()
	_, r = open(t, cfg)
	same(t, r, 40, 41)
	if string(r.Snapshot) != "other" {
		t.Errorf("the snapshot is %q", r.Snapshot)
	}
}

// Any damage to the last record ends the log before it, for good: what is written after
// that is there at the next start, and what lay behind is not.
func TestDamagedTail(t *testing.T) {
	size := Size(len(record(1).Data))
	for at := 0; at < 2*size; at += 5 {
		cfg := Config{Dir: filepath.Join(t.TempDir(), "log"), SegmentSize: 512}
		l, _ := open(t, cfg)
		write(t, l, 4)
		l.Close()
		damage(t, filepath.Join(cfg.Dir, segmentName(1)), 2*size+at)
		l, r := open(t, cfg)
		same(t, r, 0, uint64(2+at/size))
		write(t, l, 6)
		l.Close()
		_, r = open(t, cfg)
		same(t, r, 0, 6)
	}
}

// damage changes one byte of a file.
func damage(t *testing.T, name string, at int) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0x40
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// What a loss of power cannot have done is not mended.
func TestCorrupt(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"record":   {func(t *testing.T, dir string) { damage(t, filepath.Join(dir, segmentName(4)), 20) }, "damaged record"},
		"segment":  {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, segmentName(4))) }, "comes after record"},
		"snapshot": {func(t *testing.T, dir string) { damage(t, filepath.Join(dir, snapshotName), 20) }, "snapshot: damaged"},
		"stranger": {func(t *testing.T, dir string) { os.WriteFile(filepath.Join(dir, "notes"), nil, 0o644) }, "the log's own"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Dir: filepath.Join(t.TempDir(), "log"), SegmentSize: 256}
			l, _ := open(t, cfg)
			write(t, l, 20)
			if err := l.Snapshot(4, nil); err != nil {
				t.Fatal(err)
			}
			l.Close()
			test.spoil(t, cfg.Dir)
			if _, _, err := Open(cfg); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
