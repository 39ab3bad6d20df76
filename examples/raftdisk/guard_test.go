package raftdisk

import (
	"io"

	"github.com/hashicorp/raft"
)

// A guard is a transport that does not let a node go back: a snapshot no newer than
// what it has applied is answered as if it were installed, since all that is in it is
// there. Raft itself would install it.
type guard struct {
	*raft.NetworkTransport
	rpcs chan raft.RPC
}

func newGuard(t *raft.NetworkTransport) *guard { return &guard{t, make(chan raft.RPC)} }

// start lets a node receive. It is none if the node could not be made.
func (g *guard) start(node *raft.Raft) {
	if node == nil {
		return
	}
	go func() {
		for rpc := range g.NetworkTransport.Consumer() {
			if q, ok := rpc.Command.(*raft.InstallSnapshotRequest); ok {
				g.install(rpc, q, node)
			} else {
				g.rpcs <- rpc
			}
		}
	}()
}

// Consumer returns what comes, for a node.
func (g *guard) Consumer() <-chan raft.RPC { return g.rpcs }

// install passes a snapshot on and waits until it is installed, since only then it
// is known whether the next is newer.
func (g *guard) install(rpc raft.RPC, q *raft.InstallSnapshotRequest, node *raft.Raft) {
	if q.LastLogIndex <= node.AppliedIndex() {
		io.Copy(io.Discard, rpc.Reader)
		rpc.Respond(&raft.InstallSnapshotResponse{Term: node.CurrentTerm(), Success: true}, nil)
		return
	}
	to, from := rpc.RespChan, make(chan raft.RPCResponse, 1)
	rpc.RespChan = from
	g.rpcs <- rpc
	to <- <-from
}
