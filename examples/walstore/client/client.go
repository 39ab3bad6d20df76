// Package client asks the store.
package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/dstkit/dst/examples/walstore/wire"
)

const (
	try   = time.Second           // for an answer, before the client asks anew
	pause = 50 * time.Millisecond // before it dials again
)

// ErrRefused is returned for what the store does not do; asking again would not help.
var ErrRefused = errors.New("refused")

// Client asks the leader of one store. It is for one goroutine at a time.
type Client struct {
	leader string
	name   uint64
	req    uint64 // number of the last request
	conn   net.Conn
	r      *bufio.Reader
}

// New returns a client of the store whose leader is at a "host:port".
func New(leader string) *Client {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return &Client{leader: leader, name: binary.LittleEndian.Uint64(b[:])}
}

// Put sets key to value and returns the number of the put, once it is safe. It asks
// until it has an answer or ctx is done; after an error from ctx the put may have been
// carried out or not, or may yet be, but never twice.
func (c *Client) Put(ctx context.Context, key, value string) (seq uint64, err error) {
	m, err := c.ask(ctx, &wire.Message{Kind: wire.Put, Key: key, Value: value})
	if err != nil {
		return 0, fmt.Errorf("put %q: %w", key, err)
	}
	return m.Seq, nil
}

// Get returns the value of a key and the number of its put, which is 0 if there
// is none.
func (c *Client) Get(ctx context.Context, key string) (value string, seq uint64, err error) {
	m, err := c.ask(ctx, &wire.Message{Kind: wire.Get, Key: key})
	if err != nil {
		return "", 0, fmt.Errorf("get %q: %w", key, err)
	}
	return m.Value, m.Seq, nil
}

// Close closes the connection.
func (c *Client) Close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// ask sends one request until its answer is there.
func (c *Client) ask(ctx context.Context, m *wire.Message) (*wire.Message, error) {
	c.req++
	m.ID, m.Req = c.name, c.req
	for {
		answer, err := c.once(ctx, m)
		switch {
		case err == nil && answer.Kind == wire.Refused:
			return nil, fmt.Errorf("%w: %s", ErrRefused, answer.Value)
		case err == nil:
			return answer, nil
		}
		c.Close()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (%v)", ctx.Err(), err)
		}
	}
}

// once sends the request and waits for its answer for a while.
func (c *Client) once(ctx context.Context, m *wire.Message) (*wire.Message, error) {
	if c.conn == nil {
		d := net.Dialer{Timeout: try}
		conn, err := d.DialContext(ctx, "tcp", c.leader)
		if err != nil {
			return nil, err
		}
		c.conn, c.r = conn, bufio.NewReader(conn)
	}
	conn := c.conn
	conn.SetDeadline(time.Now().Add(try))
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := wire.Write(conn, m); err != nil {
		return nil, err
	}
	answer, err := wire.Read(c.r)
	if err == nil && answer.Req != m.Req {
		err = fmt.Errorf("an answer to request %d, not %d", answer.Req, m.Req)
	}
	return answer, err
}
