// Package store is a replicated key-value store on write-ahead logs: a fixed
// leader and two followers.
//
// The leader numbers the puts, writes them to its log, syncs it, and sends them to
// the followers over TCP. A follower writes them to its own log, syncs it, and
// says how far it has come. A put is acknowledged once the leader and one follower hold it
// on disk, so that it survives the loss of power of all three, and of any one
// disk but the leader's.
//
// The leader's log is never behind: what a follower has was durable at the leader
// before. So whoever restarts goes on from what its log holds, and a follower that is
// ahead is a sign of lost data: the leader stops with an error then. A follower
// that is further behind than the leader's last snapshot is handed the state.
//
// A put bears the client's random name and the request's number, which are in
// the log too: a put that is sent again is not carried out again, also after a restart.
//
// Gets are answered by the leader, from what a majority holds.
package store

import "github.com/dstkit/dst/examples/walstore/wal"

// EarlyAck is one more [wal.Bug], the store's own: a node counts as holding what
// it has written, before it is synced.
const EarlyAck wal.Bug = "early-ack"
