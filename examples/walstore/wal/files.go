package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const snapshotName = "snapshot"

func segmentName(number uint64) string { return fmt.Sprintf("%08d.wal", number) }

// list returns the numbers of the segments in the folder, in order, and removes
// what was not finished.
func (l *Log) list() (numbers []uint64, err error) {
	entries, err := os.ReadDir(l.cfg.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		var n uint64
		switch name := e.Name(); {
		case strings.HasSuffix(name, ".tmp"):
			if err := os.Remove(l.path(name)); err != nil {
				return nil, err
			}
		case name == snapshotName:
		default:
			if _, err := fmt.Sscanf(name, "%d.wal", &n); err != nil || name != segmentName(n) {
				return nil, fmt.Errorf("wal: %s is no file of a log; the folder must be the log's own", l.path(name))
			}
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func (l *Log) path(name string) string { return filepath.Join(l.cfg.Dir, name) }

// create makes a file with this content, durably and in one step: after a loss of
// power either all of it is there under its name, or nothing. The file stays
// open.
func (l *Log) create(name string, content []byte) (*os.File, error) {
	tmp := l.path(name + ".tmp")
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(content); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(tmp, l.path(name))
	}
	if err == nil && l.cfg.Bug != DirNotSynced {
		err = syncDir(l.cfg.Dir)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// syncDir makes new and renamed files of a folder durable; see fsync(2).
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
