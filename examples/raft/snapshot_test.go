package raft

import (
	"io"
	"path/filepath"

	"github.com/hashicorp/raft"

	"github.com/dstkit/dst/examples/internal/outage"
)

// snapshots is the library's store of snapshots in files, with the two syncs that it
// leaves out: of the folder that holds its own, and of each snapshot's. Raft deletes
// the log once a snapshot is closed, so the snapshot has to be durable by then.
type snapshots struct{ raft.SnapshotStore }

func openSnapshots(dir string, f flaw) (raft.SnapshotStore, error) {
	s, err := raft.NewFileSnapshotStore(dir, 2, io.Discard)
	if err != nil || f == trustsSnapshots {
		return s, err
	}
	return snapshots{s}, outage.Fsync(dir)
}

func (s snapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, ci uint64, t raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.SnapshotStore.Create(version, index, term, c, ci, t)
	return syncedSink{sink}, err
}

// A syncedSink syncs the folder of its snapshot, which has the names of the files.
type syncedSink struct{ raft.SnapshotSink }

func (s syncedSink) Close() error {
	if err := s.SnapshotSink.Close(); err != nil {
		return err
	}
	return outage.Fsync(filepath.Join(dir, "snapshots", s.ID()))
}
