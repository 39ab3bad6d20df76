package raftdisk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

// openLog opens the database that has a node's log, vote and term, or makes one: under
// another name, so that a loss of power leaves none or a whole one.
func openLog(f flaw) (*raftboltdb.BoltStore, error) {
	path := filepath.Join(dir, "raft.db")
	o := raftboltdb.Options{Path: path, NoSync: f == noSync || f == oneSync, BoltOptions: &bbolt.Options{Timeout: time.Second}}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && f != noDirSync {
		if err := create(o); err != nil {
			return nil, err
		}
	}
	if f != trustsPage && f != noSync {
		if err := fsync(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if f != noDirSync {
		if err := fsync(dir); err != nil {
			return nil, err
		}
	}
	s, err := raftboltdb.New(o)
	if f == oneSync && err == nil {
		go func() {
			for ; ; time.Sleep(time.Second) {
				s.Sync()
			}
		}()
	}
	return s, err
}

func create(o raftboltdb.Options) error {
	path := o.Path
	o.Path += ".new"
	if err := os.RemoveAll(o.Path); err != nil {
		return err
	}
	s, err := raftboltdb.New(o)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if err := fsync(o.Path); err != nil {
		return err
	}
	return os.Rename(o.Path, path)
}

func fsync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
