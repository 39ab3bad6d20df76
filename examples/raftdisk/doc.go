// Package raftdisk tests two real libraries together: the consensus of
// github.com/hashicorp/raft, with its log in a database of
// github.com/hashicorp/raft-boltdb (go.etcd.io/bbolt), unmodified, on hosts that
// lose their power, one, some or all at a time, at any moment. There is nothing here but
// tests; the README tells what they found. Package raft, next to this, is about the
// network.
//
// It is a module of its own, so that nobody who uses the toolkit depends on them.
package raftdisk
