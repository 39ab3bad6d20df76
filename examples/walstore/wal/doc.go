// Package wal is a write-ahead log: numbered records in segments, each record
// with a checksum, and a snapshot that takes the place of the oldest ones.
//
// # Files
//
//	00000007.wal   a segment: records one after the other, then zeroes to its end
//	snapshot       what the records up to some number amount to
//	*.tmp          either of them while it is made; removed at the next start
//
// A segment is filled with zeroes, synced, renamed to its name, and its folder
// synced, all before the first record goes into it. From then on records are
// written in place: no block is allocated and no size changes, so that a
// commit needs fdatasync(2) only, one wait for the disk and not two. The price is
// that the folder has to be synced: fdatasync of a file does not make a rename
// durable, and on file systems that promise no more than POSIX neither does fsync.
//
// A record is
//
//	checksum  4 bytes  CRC-32C of all that follows
//	length    4 bytes  of all that follows; 0 is the end of the segment
//	number    8 bytes
//	data
//
// with the lowest byte first.
//
// # What survives
//
// Records are durable once [Log.Sync] has returned. A loss of power may leave any
// of the sectors that were written since: a record whose first sector is there and
// whose second is not, or one that is whole behind one that is not. So [Open]
// takes the records up to the first one that is damaged, clears all that lies behind,
// syncs, and begins a new segment. A damaged record in another segment than the last was
// not left by a loss of power, since a segment is synced before the next one is made: that
// is an error, as is a gap in the numbers.
//
// [Log.Snapshot] writes the snapshot under another name, syncs it, renames it,
// syncs the folder, and only then removes the segments that it stands for.
package wal

// A Bug is something done wrong on purpose, so that tests can show that they
// would notice.
type Bug string

const (
	NoBug        Bug = ""
	NoSync       Bug = "no-sync"        // Sync does nothing
	TornAccepted Bug = "torn-accepted"  // a record's checksum is not looked at, its length is trusted
	DirNotSynced Bug = "dir-not-synced" // after a rename the folder is not synced
	StopsEarly   Bug = "stops-early"    // recovery takes the first damaged record for the end of the log, and leaves it there
)
