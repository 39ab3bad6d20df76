// Package client asks the key-value store, of either version.
package client

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

// How long a client waits for an answer before it asks again: the first time,
// and at most, after doubling each time.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = time.Second
)

// Version is where a value stands in the order of all puts. The naive store has
// none: its versions are zero.
type Version struct {
	Seq, Epoch uint64
}

// ErrTooLarge is returned for a key or value beyond the limits of package wire.
var ErrTooLarge = errors.New("key or value too large")

// ErrNotLeader is returned for a put to a node that is not the leader.
var ErrNotLeader = errors.New("not the leader")

// Client asks one store. It has one request under way at a time; further calls
// wait for their turn. A put is carried out at most once however often it has to
// be sent, because it bears the client's random name and the request's number.
type Client struct {
	leader string
	name   uint64

	turn  chan struct{} // holds one token: whose call it is
	req   uint64        // number of the last request
	conns map[string]net.Conn
	buf   [wire.MaxDatagram + 1]byte

	once sync.Once
}

// New returns a client which sends its puts to leader, a "host:port". It does not
// need the leader to be up.
func New(leader string) *Client {
	var b [8]byte
	rand.Read(b[:]) // never fails
	c := &Client{
		leader: leader,
		name:   binary.BigEndian.Uint64(b[:]),
		turn:   make(chan struct{}, 1),
		conns:  make(map[string]net.Conn),
	}
	c.turn <- struct{}{}
	return c
}

// Put sets key to value. It asks until it has an answer or ctx is done; after an
// error from ctx the put may have been carried out or not, or may yet be.
// Without a deadline, and with no leader, it asks for ever.
func (c *Client) Put(ctx context.Context, key, value string) (Version, error) {
	if len(key) > wire.MaxKey || len(value) > wire.MaxValue {
		return Version{}, ErrTooLarge
	}
	m, err := c.ask(ctx, c.leader, wire.Message{Kind: wire.Put, Key: key, Value: value})
	if err != nil {
		return Version{}, fmt.Errorf("put %q: %w", key, err)
	}
	return Version{m.Seq, m.Epoch}, nil
}

// Get returns the value that node, a "host:port", has for key. A follower's may
// be older than the leader's.
func (c *Client) Get(ctx context.Context, node, key string) (value string, v Version, ok bool, err error) {
	if len(key) > wire.MaxKey {
		return "", Version{}, false, ErrTooLarge
	}
	m, err := c.ask(ctx, node, wire.Message{Kind: wire.Get, Key: key})
	if err != nil {
		return "", Version{}, false, fmt.Errorf("get %q: %w", key, err)
	}
	return m.Value, Version{m.Seq, m.Epoch}, m.Status == wire.OK, nil
}

// Close closes the client's sockets, after the call under way, if any.
func (c *Client) Close() {
	c.once.Do(func() {
		<-c.turn // never given back: later calls end with their context
		for _, conn := range c.conns {
			conn.Close()
		}
	})
}

// ask sends one request, again and again, until its answer is there.
func (c *Client) ask(ctx context.Context, node string, m wire.Message) (*wire.Message, error) {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.req++
	m.Nonce, m.Req = c.name, c.req
	datagram := m.AppendTo(nil)

	var last error
	for retry := firstRetry; ; retry = min(2*retry, lastRetry) {
		next := time.Now().Add(retry)
		answer, err := c.try(ctx, node, datagram, &m, next)
		if err == nil {
			switch answer.Status {
			case wire.OK, wire.NotFound:
				return answer, nil
			case wire.NotLeader:
				return nil, ErrNotLeader
			}
			err = errors.New(answer.Status.String()) // not ready, busy: ask again
		}
		if ctx.Err() == nil {
			last = err
			sleep(ctx, time.Until(next))
		}
		if ctx.Err() != nil {
			if last == nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("%w (%v)", ctx.Err(), last)
		}
	}
}

// try sends the datagram once and waits for its answer until next.
func (c *Client) try(ctx context.Context, node string, datagram []byte, m *wire.Message, next time.Time) (*wire.Message, error) {
	conn := c.conns[node]
	if conn == nil {
		d := net.Dialer{Deadline: next}
		var err error
		if conn, err = d.DialContext(ctx, "udp", node); err != nil {
			return nil, err
		}
		c.conns[node] = conn
	}
	conn.SetDeadline(next)
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	answer, err := c.exchange(conn, datagram, m)
	if err != nil && !isTimeout(err) {
		// Refused: nothing listens there now. The next try dials, and so
		// resolves the name, afresh.
		conn.Close()
		delete(c.conns, node)
	}
	return answer, err
}

func (c *Client) exchange(conn net.Conn, datagram []byte, m *wire.Message) (*wire.Message, error) {
	if _, err := conn.Write(datagram); err != nil {
		return nil, err
	}
	for { // ends at the connection's deadline
		n, err := conn.Read(c.buf[:])
		if err != nil {
			return nil, err
		}
		a, err := wire.Decode(c.buf[:n])
		if err == nil && a.Kind == m.Kind+1 && a.Nonce == m.Nonce && a.Req == m.Req {
			return a, nil
		}
		// Late answers to earlier tries are passed over.
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
