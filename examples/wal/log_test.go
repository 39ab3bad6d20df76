package wal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidwall/wal"

	"github.com/dstkit/dst/examples/internal/outage"
)

// A care is what a user of the library adds to it.
type care int

const (
	none    care = iota // the library as it is
	folder              // its folder is synced where it changed
	tail                // also, when it is opened: what a crash left of a truncation is mended, a torn record at the end is cut off, the rest synced
	checked             // also, entries have a checksum, and what does not fit it is cut off
	keeps               // also, nothing is truncated
	noSync              // as checked, with Options.NoSync: broken on purpose
	numCares
)

func (c care) String() string {
	return [...]string{"none", "folder", "tail", "checked", "keeps", "noSync"}[c]
}

const dir = "/var/lib/log"

// A journal is the library's log, and the care of its user.
type journal struct {
	*wal.Log
	care care
}

func open(c care) (*journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if c >= folder {
		if err := outage.Fsync("/var/lib"); err != nil {
			return nil, err
		}
	}
	if c >= tail {
		if err := mendTruncation(); err != nil {
			return nil, err
		}
		if err := cutTail(c >= checked); err != nil {
			return nil, err
		}
	}
	l, err := wal.Open(dir, &wal.Options{SegmentSize: 2000, NoSync: c == noSync})
	if err != nil {
		return nil, err
	}
	j := &journal{l, c}
	return j, j.syncDir()
}

// syncDir makes durable what files there are.
func (j *journal) syncDir() error {
	if j.care < folder {
		return nil
	}
	return outage.Fsync(dir)
}

// append adds an entry, or several.
func (j *journal) append(from uint64, entries []string) error {
	var b wal.Batch
	for i, e := range entries {
		b.Write(from+uint64(i), []byte(e))
	}
	if err := j.WriteBatch(&b); err != nil {
		return err
	}
	return j.syncDir() // there may be a new segment
}

func (j *journal) truncate(front bool, index uint64) error {
	do := j.TruncateBack
	if front {
		do = j.TruncateFront
	}
	if err := do(index); err != nil {
		return err
	}
	return j.syncDir()
}

// all returns what is in the log, and the index of the first.
func (j *journal) all() (first uint64, entries []string, err error) {
	first, err = j.FirstIndex()
	if err != nil {
		return 0, nil, err
	}
	last, err := j.LastIndex()
	if err != nil {
		return 0, nil, err
	}
	if last+1 < first || last-first > 1<<20 && last+1 != first {
		return 0, nil, fmt.Errorf("it goes from %d to %d", first, last)
	}
	for i := first; last > 0 && i <= last; i++ {
		b, err := j.Read(i)
		if err != nil {
			return 0, nil, fmt.Errorf("entry %d of %d to %d: %w", i, first, last, err)
		}
		entries = append(entries, string(b))
	}
	return max(first, 1), entries, nil
}

// segments returns the names of the log's files in order.
func segments() (names []string, err error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if len(e.Name()) >= 20 {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// cutTail cuts a record off that the last segment has a part of only, and syncs what is
// left. Records have their length, and no checksum: without that of entries this finds
// what is too short, and nothing else.
func cutTail(check bool) error {
	names, err := segments()
	if err != nil || len(names) == 0 {
		return err
	}
	path := filepath.Join(dir, names[len(names)-1])
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if end := whole(b, check); end < len(b) {
		if err := os.Truncate(path, int64(end)); err != nil {
			return err
		}
	}
	return outage.Fsync(path)
}

// whole returns how many bytes of a segment are whole records.
func whole(b []byte, check bool) (end int) {
	for {
		n, size := 0, uint64(0)
		for shift := 0; ; n++ {
			if end+n == len(b) || n == 10 {
				return end
			}
			size |= uint64(b[end+n]&0x7f) << shift
			if shift += 7; b[end+n] < 0x80 {
				n++
				break
			}
		}
		if size > uint64(len(b)-end-n) {
			return end
		}
		if check && !valid(string(b[end+n:end+n+int(size)])) {
			return end
		}
		end += n + int(size)
	}
}

// mendTruncation ends what truncations left half done, as the library means to, and in
// the cases that it does not know of too: the segment that the new one replaces is there
// under the same name, or removals and the renaming came to the disk in another order.
func mendTruncation() error {
	names, err := segments()
	if errors.Is(err, os.ErrNotExist) || err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		index, _ := strconv.ParseUint(name[:20], 10, 64)
		remove := func(gone func(uint64) bool) error {
			for _, other := range names {
				i, _ := strconv.ParseUint(other[:20], 10, 64)
				if other != name && gone(i) {
					if err := os.Remove(filepath.Join(dir, other)); err != nil {
						return err
					}
				}
			}
			return outage.Fsync(dir)
		}
		switch {
		case strings.HasSuffix(name, ".START"):
			if err := remove(func(i uint64) bool { return i < index }); err != nil {
				return err
			}
			if err := os.Rename(path, strings.TrimSuffix(path, ".START")); err != nil {
				return err
			}
			return outage.Fsync(dir)
		case strings.HasSuffix(name, ".END"):
			if err := remove(func(i uint64) bool { return i >= index }); err != nil {
				return err
			}
			if err := os.Rename(path, strings.TrimSuffix(path, ".END")); err != nil {
				return err
			}
			return outage.Fsync(dir)
		}
	}
	return nil
}

// An entry begins with a checksum of the rest.
func sealed(text string) string {
	return fmt.Sprintf("%08x%s", crc32.ChecksumIEEE([]byte(text)), text)
}

func valid(entry string) bool { return len(entry) >= 8 && sealed(entry[8:]) == entry }
