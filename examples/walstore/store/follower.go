package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/dstkit/dst/examples/walstore/wal"
	"github.com/dstkit/dst/examples/walstore/wire"
)

// errDisk marks the errors after which a node cannot go on.
var errDisk = errors.New("store: log")

// follow dials the leader and takes what it sends, again and again.
func (n *Node) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := n.followOnce(ctx)
		if errors.Is(err, errDisk) {
			n.die(err)
			return
		}
		if ctx.Err() == nil {
			n.cfg.Log.Printf("store: leader: %v", err)
		}
		select {
		case <-time.After(redial):
		case <-ctx.Done():
		}
	}
}

// followOnce is one connection to the leader.
func (n *Node) followOnce(ctx context.Context) error {
	d := net.Dialer{Timeout: dialTime}
	conn, err := d.DialContext(ctx, "tcp", n.cfg.Nodes[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := wire.Write(conn, &wire.Message{Kind: wire.Follow, ID: uint64(n.cfg.ID), Seq: n.log.Last()}); err != nil {
		return err
	}
	r := bufio.NewReader(conn)
	for {
		conn.SetReadDeadline(time.Now().Add(silence))
		m, err := wire.Read(r)
		if err != nil {
			return err
		}
		switch {
		case m.Kind == wire.Append && m.Seq == n.log.Last():
			err = n.take(conn, m)
		case m.Kind == wire.State:
			err = n.takeState(conn, m)
		default:
			return fmt.Errorf("a message of kind %d, after %d, where %d is the last put", m.Kind, m.Seq, n.log.Last())
		}
		if err != nil {
			return err
		}
	}
}

// take puts what the leader sent on disk, and says so.
func (n *Node) take(conn net.Conn, m *wire.Message) (err error) {
	if len(m.Records) == 0 {
		return nil // a sign of life
	}
	records := make([]wal.Record, len(m.Records))
	for i, data := range m.Records {
		records[i] = wal.Record{Seq: m.Seq + uint64(i) + 1, Data: data}
	}
	disk := n.persist(records, func() {
		n.mu.Lock()
		for _, r := range records {
			err = errors.Join(err, n.state.apply(r))
		}
		n.mu.Unlock()
		if err == nil {
			err = wire.Write(conn, &wire.Message{Kind: wire.Held, Seq: n.log.Last()})
		}
	})
	if disk == nil {
		disk = n.compact()
	}
	if disk != nil {
		return fmt.Errorf("%w: %w", errDisk, disk)
	}
	return err
}

// takeState takes a state instead of the puts that led to it.
func (n *Node) takeState(conn net.Conn, m *wire.Message) error {
	state, err := decodeState([]byte(m.Value))
	if err != nil {
		return err
	}
	if err := n.log.Reset(m.Seq, []byte(m.Value)); err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	n.mu.Lock()
	n.state, n.snapped = state, m.Seq
	n.mu.Unlock()
	return wire.Write(conn, &wire.Message{Kind: wire.Held, Seq: m.Seq})
}
