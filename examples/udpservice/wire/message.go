package wire

import "fmt"

// Limits of what a message may carry. An entry of the longest key and value
// fits in one datagram with room for every header.
const (
	MaxDatagram = 1200 // bytes; below any path's MTU, so that IP never fragments
	MaxKey      = 128  // bytes
	MaxValue    = 512  // bytes
)

// Kind says what a message is, and with it which of its fields mean anything.
type Kind uint8

const (
	Put      Kind = iota + 1 // client to leader: Nonce (client), Req (from 1), Key, Value
	PutReply                 // Nonce, Req, Status; once done: Epoch, Seq
	Get                      // client to any node: Nonce, Req, Key
	GetReply                 // Nonce, Req, Status; if found: Epoch, Seq, Value

	Apply // naive leader to follower: Key, Value

	Prepare // reliable leader to follower: Nonce (incarnation), Epoch
	Promise // answer: Nonce, Epoch, Status (OK or Refused), Member, Seq
	Append  // leader to follower: Epoch, Floor, Entries
	Ack     // answer: Epoch, Seq
	Pull    // ask for a snapshot: Nonce, Epoch, Seq (its number, 0 for any), Index
	Chunk   // a piece of one: Nonce, Epoch, Seq, Index, Total, Entries, Sessions
	kinds
)

var kindNames = [kinds]string{
	Put: "put", PutReply: "put-reply", Get: "get", GetReply: "get-reply", Apply: "apply",
	Prepare: "prepare", Promise: "promise", Append: "append", Ack: "ack", Pull: "pull", Chunk: "chunk",
}

func (k Kind) String() string {
	if k == 0 || k >= kinds {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Status is how a request went.
type Status uint8

const (
	OK        Status = iota
	NotFound         // no such key
	NotLeader        // only the leader takes puts
	NotReady         // the node has not caught up or recovered yet: try again
	Busy             // too many puts wait for a follower: try again
	Refused          // the follower has promised itself to another epoch
	statuses
)

var statusNames = [statuses]string{"ok", "not found", "not the leader", "not ready", "busy", "refused"}

func (s Status) String() string {
	if s >= statuses {
		return fmt.Sprintf("status(%d)", uint8(s))
	}
	return statusNames[s]
}

// Entry is one put: where it stands in the one order of all puts, who asked for
// it, and what it wrote.
type Entry struct {
	Seq, Epoch  uint64
	Client, Req uint64
	Key, Value  string
}

// Session is the last request of one client that was carried out.
type Session struct {
	Client, Req, Seq, Epoch uint64
}

// Message is one datagram. A field that its Kind does not use is zero and takes
// one byte.
type Message struct {
	Kind     Kind
	From     uint8 // number of the sending node, in messages between nodes
	Status   Status
	Member   bool   // the follower remembers all that it ever acknowledged
	Nonce    uint64 // a client, or one incarnation of a node
	Req      uint64 // number of a client's request
	Epoch    uint64 // incarnation of the leader
	Seq      uint64 // place in the order of puts
	Floor    uint64 // the leader's log begins after it
	Index    uint32 // number of a chunk
	Total    uint32 // chunks in a snapshot
	Key      string
	Value    string
	Entries  []Entry
	Sessions []Session
}
