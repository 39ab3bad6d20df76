package store

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"sync"
	"time"

	"github.com/dstkit/dst/examples/walstore/wal"
)

// Config says which node of which store this is.
type Config struct {
	Nodes  []string     // "host:port" of the leader and the two followers
	ID     int          // this node's place in Nodes
	Listen net.Listener // nil: one at Nodes[ID]

	Dir         string // of the log
	SegmentSize int    // of the log, 1 MB if 0; a put has to fit into it
	Keep        int    // segments before a snapshot is made; 4 if 0

	Bug wal.Bug     // something done wrong on purpose
	Log *log.Logger // log.Default() if nil
}

const (
	nodes     = 3
	heartbeat = 500 * time.Millisecond // between signs of life of the leader
	silence   = 3 * heartbeat          // a follower dials anew after it
	redial    = 50 * time.Millisecond
	dialTime  = time.Second
)

// Node is one replica.
type Node struct {
	cfg Config
	ln  net.Listener
	log *wal.Log
	die context.CancelCauseFunc // ends Run

	mu      sync.Mutex // guards what follows; not held while waiting for disk or network
	state   *State     // at the leader what a majority holds, at a follower what it holds
	leading *leader    // nil at a follower
	snapped uint64     // what the last snapshot stands for; of the goroutine that writes the log
}

// Open recovers the node's log, and listens.
func Open(cfg Config) (*Node, error) {
	if len(cfg.Nodes) != nodes || cfg.ID < 0 || cfg.ID >= nodes {
		return nil, fmt.Errorf("store: node %d of %d; a store has a leader, 0, and two followers", cfg.ID, len(cfg.Nodes))
	}
	if cfg.Keep == 0 {
		cfg.Keep = 4
	}
	if cfg.SegmentSize == 0 {
		cfg.SegmentSize = 1 << 20
	}
	if cfg.Log == nil {
		cfg.Log = log.Default()
	}
	l, found, err := wal.Open(wal.Config{Dir: cfg.Dir, SegmentSize: cfg.SegmentSize, Bug: cfg.Bug})
	if err != nil {
		return nil, err
	}
	n := &Node{cfg: cfg, log: l, ln: cfg.Listen, state: newState(), snapped: found.Seq}
	if found.Snapshot != nil {
		n.state, err = decodeState(found.Snapshot)
	}
	if err == nil {
		if cfg.ID == 0 {
			n.leading, err = newLeader(n, found.Records)
		} else {
			for _, r := range found.Records {
				err = errors.Join(err, n.state.apply(r))
			}
		}
	}
	if err == nil && n.ln == nil {
		n.ln, err = net.Listen("tcp", cfg.Nodes[cfg.ID])
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return n, nil
}

// State returns what the node holds: at the leader, what a majority does.
func (n *Node) State() State {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state.clone()
}

// Held returns what the node holds, whether a majority does or not.
func (n *Node) Held() State {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.state.clone()
	if n.leading != nil {
		for _, r := range n.leading.tail[s.Seq-n.leading.base:] {
			s.apply(r) // was applied before, to look at it
		}
	}
	return s
}

// Run serves until ctx is done, and returns nil then, or until the node cannot go
// on.
func (n *Node) Run(ctx context.Context) error {
	ctx, n.die = context.WithCancelCause(ctx)
	defer n.die(nil)
	stop := context.AfterFunc(ctx, func() { n.ln.Close() })
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { n.accept(ctx, &running) })
	if n.leading != nil {
		running.Go(func() { n.leading.heartbeats(ctx) })
		running.Go(func() { n.leading.commit(ctx) })
	} else {
		running.Go(func() { n.follow(ctx) })
	}
	running.Wait()
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return errors.Join(err, n.log.Close())
}

// accept takes connections, each of which n serves in a goroutine.
func (n *Node) accept(ctx context.Context, running *sync.WaitGroup) {
	for {
		conn, err := n.ln.Accept()
		if err != nil {
			if ctx.Err() == nil {
				n.die(err)
			}
			return
		}
		running.Go(func() {
			defer conn.Close()
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			defer stop()
			n.serve(conn)
		})
	}
}

// persist puts records on disk, and calls held once they are there.
func (n *Node) persist(records []wal.Record, held func()) error {
	if err := n.log.Append(records...); err != nil {
		return err
	}
	if n.cfg.Bug == EarlyAck {
		held()
		return n.log.Sync()
	}
	if err := n.log.Sync(); err != nil {
		return err
	}
	held()
	return nil
}

// compact makes a snapshot once the log has many segments.
func (n *Node) compact() error {
	if n.log.Segments() <= n.cfg.Keep {
		return nil
	}
	n.mu.Lock()
	seq := n.state.Seq
	if seq == n.snapped { // nothing new to put into one
		n.mu.Unlock()
		return nil
	}
	state := n.state.encode()
	n.mu.Unlock()
	n.snapped = seq
	if err := n.log.Snapshot(seq, state); err != nil {
		return err
	}
	if n.leading != nil {
		n.leading.forget(seq)
	}
	return nil
}
