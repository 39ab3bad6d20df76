package raft

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"github.com/dstkit/dst/examples/internal/outage"
)

// openBolt opens the database that has a node's log, vote and term, or makes one: under
// another name, so that a loss of power leaves none or a whole one.
func openBolt(dir string, f flaw) (*raftboltdb.BoltStore, error) {
	path := filepath.Join(dir, "raft.db")
	o := raftboltdb.Options{Path: path, BoltOptions: &bbolt.Options{Timeout: time.Second}}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && f != noDirSync {
		if err := create(o); err != nil {
			return nil, err
		}
	}
	if f != trustsPage {
		if err := outage.Fsync(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if f != noDirSync {
		if err := outage.Fsync(dir); err != nil {
			return nil, err
		}
	}
	if err := verify(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return raftboltdb.New(o)
}

// verify touches all pages of a database, here, where a fault is a panic that can be
// recovered from: in one of Raft's goroutines it would end the test.
func verify(path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bbolt.Tx) (err error) {
		if err := tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error { return nil })
		}); err != nil {
			return err
		}
		for e := range tx.Check() {
			err = e
		}
		return err
	})
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
	if err := outage.Fsync(o.Path); err != nil {
		return err
	}
	return os.Rename(o.Path, path)
}
