package ledger

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// An Entry is one order as it was applied.
type Entry struct {
	Seq     int    `json:"seq"` // place in the order of all, from 1
	Key     string `json:"key"`
	Account string `json:"account"`
	Amount  int64  `json:"amount"`
	Balance int64  `json:"balance"` // of the account, afterwards
}

// A journal is a file of entries, a line each: the checksum of the rest in hex, a
// space, JSON.
type journal struct {
	f    *os.File
	flaw Flaw
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openJournal opens or makes the journal of a folder, and returns what is in it.
func openJournal(dir string, flaw Flaw) (*journal, []Entry, error) {
	name := filepath.Join(dir, "journal")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	j := &journal{f, flaw}
	entries, size, err := readEntries(f)
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = syncFolder(dir) // the file may be new
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return j, entries, nil
}

// readEntries returns the entries up to the first line that is damaged, and how
// many bytes they take.
func readEntries(r io.Reader) (entries []Entry, size int64, err error) {
	b := bufio.NewReader(r)
	for {
		line, err := b.ReadBytes('\n')
		if err == io.EOF {
			return entries, size, nil // what has no newline was cut short
		}
		if err != nil {
			return nil, 0, err
		}
		e, err := parseEntry(line)
		if err != nil || e.Seq != len(entries)+1 {
			return entries, size, nil
		}
		entries = append(entries, e)
		size += int64(len(line))
	}
}

var errDamaged = errors.New("damaged line")

func parseEntry(line []byte) (e Entry, err error) {
	const sum = 9 // hex digits and the space
	if len(line) <= sum {
		return e, errDamaged
	}
	data := line[sum : len(line)-1]
	if string(line[:sum]) != checksum(data) {
		return e, errDamaged
	}
	return e, json.Unmarshal(data, &e)
}

func checksum(data []byte) string { return fmt.Sprintf("%08x ", crc32.Checksum(data, castagnoli)) }

// add puts an entry on disk.
func (j *journal) add(e Entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	line := append([]byte(checksum(data)), data...)
	if _, err := j.f.Write(append(line, '\n')); err != nil {
		return err
	}
	if j.flaw == AckBeforeSync {
		return nil
	}
	return j.f.Sync()
}

// makeFolder makes a folder and those above it, durably: a folder's name is on
// disk when the one above it was synced.
func makeFolder(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		if err := syncFolder(up); err != nil {
			return err
		}
		if up == filepath.Dir(up) {
			return nil
		}
	}
}

// syncFolder makes new and renamed files of a folder durable (fsync(2)).
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
