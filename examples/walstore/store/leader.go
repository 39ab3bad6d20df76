package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/dstkit/dst/examples/walstore/wal"
	"github.com/dstkit/dst/examples/walstore/wire"
)

// leader is what a node has as the leader. The node's lock guards it.
type leader struct {
	n *Node

	work   sync.Cond // the queue or closed has changed
	grown  sync.Cond // tail, beat, conns or closed has changed
	agreed sync.Cond // the state or closed has changed

	start  uint64          // number of the last put in the log when it was opened
	next   uint64          // number of the next put
	seen   map[uint64]Done // last put of each client, agreed on or not
	queue  []wal.Record    // puts that the log does not have yet
	base   uint64          // number of the put before those in tail
	tail   []wal.Record    // puts in the log
	held   [nodes]uint64   // what each node has on disk
	conns  [nodes]net.Conn // to followers
	beat   int             // signs of life so far
	closed bool
}

// newLeader takes over what the log held after the snapshot: whether a majority
// has it is not known yet.
func newLeader(n *Node, records []wal.Record) (*leader, error) {
	l := &leader{n: n, base: n.state.Seq, tail: records, seen: map[uint64]Done{}}
	l.work.L, l.grown.L, l.agreed.L = &n.mu, &n.mu, &n.mu
	l.held[0] = l.base + uint64(len(records))
	l.start, l.next = l.held[0], l.held[0]+1
	all := n.state.clone()
	for _, r := range records {
		if err := all.apply(r); err != nil {
			return nil, err
		}
	}
	l.seen = all.Clients
	return l, nil
}

// commit writes what is queued to the log, again and again.
func (l *leader) commit(ctx context.Context) {
	stop := context.AfterFunc(ctx, l.close)
	defer stop()
	for {
		l.n.mu.Lock()
		for len(l.queue) == 0 && !l.closed {
			l.work.Wait()
		}
		batch := l.queue
		l.queue = nil
		closed := l.closed
		l.n.mu.Unlock()
		if closed {
			return
		}
		err := l.n.persist(batch, func() {
			l.n.mu.Lock()
			defer l.n.mu.Unlock()
			l.tail = append(l.tail, batch...)
			l.grown.Broadcast()
			l.holds(0, batch[len(batch)-1].Seq)
		})
		if err == nil {
			err = l.n.compact()
		}
		if err != nil {
			l.n.die(err)
			return
		}
	}
}

// close lets everybody go who waits.
func (l *leader) close() {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	l.closed = true
	l.work.Broadcast()
	l.grown.Broadcast()
	l.agreed.Broadcast()
}

// holds notes what a node has on disk, and carries out what a majority has.
func (l *leader) holds(id int, seq uint64) {
	l.held[id] = seq
	majority := min(l.held[0], max(l.held[1], l.held[2]))
	if majority <= l.n.state.Seq {
		return
	}
	for _, r := range l.tail[l.n.state.Seq-l.base : majority-l.base] {
		if err := l.n.state.apply(r); err != nil {
			panic(err) // it was made by put, or looked at by newLeader
		}
	}
	l.agreed.Broadcast()
}

// forget drops the puts that the snapshot stands for.
func (l *leader) forget(seq uint64) {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	l.tail = append([]wal.Record(nil), l.tail[seq-l.base:]...)
	l.base = seq
}

// heartbeats lets followers know that the leader is there.
func (l *leader) heartbeats(ctx context.Context) {
	t := time.NewTicker(heartbeat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			l.n.mu.Lock()
			l.beat++
			l.grown.Broadcast()
			l.n.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// serve answers the requests of a client, or feeds a follower.
func (n *Node) serve(conn net.Conn) {
	r := bufio.NewReader(conn)
	for {
		m, err := wire.Read(r)
		if err != nil {
			return
		}
		reply := &wire.Message{Kind: wire.Refused, Req: m.Req, Value: "not the leader"}
		switch {
		case n.leading == nil:
		case m.Kind == wire.Put:
			reply = n.leading.put(m)
		case m.Kind == wire.Get:
			reply = n.leading.get(m)
		case m.Kind == wire.Follow && m.ID > 0 && m.ID < nodes:
			n.leading.feed(conn, r, int(m.ID), m.Seq)
			return
		default:
			reply.Value = fmt.Sprintf("a message of kind %d is no request", m.Kind)
		}
		if reply == nil || wire.Write(conn, reply) != nil {
			return
		}
	}
}

// put answers once a majority has the put on disk; with nil if the node ends before.
func (l *leader) put(m *wire.Message) *wire.Message {
	refused := &wire.Message{Kind: wire.Refused, Req: m.Req}
	data := (&wire.Message{Kind: wire.Put, ID: m.ID, Req: m.Req, Key: m.Key, Value: m.Value}).Encode(nil)
	if wal.Size(len(data)) > l.n.cfg.SegmentSize {
		refused.Value = wal.ErrTooLarge.Error()
		return refused
	}
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	done := l.seen[m.ID]
	switch {
	case m.Req < done.Req:
		refused.Value = "a later request of the client came before"
		return refused
	case m.Req > done.Req:
		done = Done{m.Req, l.next}
		l.seen[m.ID] = done
		l.next++
		l.queue = append(l.queue, wal.Record{Seq: done.Seq, Data: data})
		l.work.Signal()
	}
	if !l.await(done.Seq) {
		return nil
	}
	return &wire.Message{Kind: wire.PutReply, Req: m.Req, Seq: done.Seq}
}

// get answers from what a majority has, and so waits until it has what the leader's
// log held at the start: some of that may have been acknowledged.
func (l *leader) get(m *wire.Message) *wire.Message {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	if !l.await(l.start) {
		return nil
	}
	it := l.n.state.Items[m.Key]
	return &wire.Message{Kind: wire.GetReply, Req: m.Req, Seq: it.Seq, Value: it.Value}
}

// await waits until a majority has a put; false if the node ends before.
func (l *leader) await(seq uint64) bool {
	for l.n.state.Seq < seq && !l.closed {
		l.agreed.Wait()
	}
	return l.n.state.Seq >= seq
}

// feed sends a follower what it does not have, and takes its answers, until the
// connection ends.
func (l *leader) feed(conn net.Conn, r *bufio.Reader, id int, last uint64) {
	l.n.mu.Lock()
	if last > l.held[0] {
		l.n.mu.Unlock()
		l.n.die(fmt.Errorf("store: node %d has puts up to %d, the leader up to %d only: it has lost some", id, last, l.held[0]))
		return
	}
	if old := l.conns[id]; old != nil {
		old.Close()
	}
	l.conns[id] = conn
	l.grown.Broadcast()
	l.holds(id, last)
	l.n.mu.Unlock()

	var sending sync.WaitGroup
	sending.Go(func() {
		defer conn.Close()
		l.send(conn, id, last)
	})
	for {
		m, err := wire.Read(r)
		if err != nil || m.Kind != wire.Held {
			break
		}
		l.n.mu.Lock()
		if l.conns[id] == conn {
			l.holds(id, m.Seq)
		}
		l.n.mu.Unlock()
	}
	l.n.mu.Lock()
	if l.conns[id] == conn {
		l.conns[id] = nil
		l.grown.Broadcast()
	}
	l.n.mu.Unlock()
	conn.Close()
	sending.Wait()
}

// send sends a follower what comes after last, as long as the connection is its.
func (l *leader) send(conn net.Conn, id int, last uint64) {
	beat := 0
	for {
		l.n.mu.Lock()
		for l.conns[id] == conn && !l.closed && last == l.held[0] && beat == l.beat {
			l.grown.Wait()
		}
		if l.conns[id] != conn || l.closed {
			l.n.mu.Unlock()
			return
		}
		beat = l.beat
		m := wire.Message{Kind: wire.Append, Seq: last}
		if last < l.base {
			last = l.n.state.Seq
			m = wire.Message{Kind: wire.State, Seq: last, Value: string(l.n.state.encode())}
		} else {
			for _, r := range l.tail[last-l.base:] {
				m.Records = append(m.Records, r.Data)
			}
			last += uint64(len(m.Records))
		}
		l.n.mu.Unlock()
		if err := wire.Write(conn, &m); err != nil {
			if !errors.Is(err, net.ErrClosed) {
				l.n.cfg.Log.Printf("store: to node %d: %v", id, err)
			}
			return
		}
	}
}
