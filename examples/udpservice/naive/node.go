package naive

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

// Config says which node of which store this is.
type Config struct {
	Nodes  []string    // "host:port" of every node; the first is the leader
	ID     int         // this node's place in Nodes
	Listen string      // where to listen; Nodes[ID] if empty
	Log    *log.Logger // log.Default() if nil
}

// Node is one replica.
type Node struct {
	cfg   Config
	conn  *net.UDPConn
	peers []netip.AddrPort // of the followers, at the leader

	mu      sync.Mutex // guards data; never held across a system call
	data    map[string]string
	changes atomic.Uint64
}

const (
	resolveRetry = 200 * time.Millisecond // between tries to resolve a follower's name
	writeTimeout = time.Second            // a send that takes longer is dropped
	maxErrors    = 100                    // failed reads in a row before Run gives up
)

// Run listens and serves until ctx is done.
func Run(ctx context.Context, cfg Config) error {
	n, err := Listen(cfg)
	if err != nil {
		return err
	}
	return n.Run(ctx)
}

// Listen opens the node's socket.
func Listen(cfg Config) (*Node, error) {
	if cfg.ID < 0 || cfg.ID >= len(cfg.Nodes) {
		return nil, fmt.Errorf("naive: no node %d among %d", cfg.ID, len(cfg.Nodes))
	}
	if cfg.Listen == "" {
		cfg.Listen = cfg.Nodes[cfg.ID]
	}
	if cfg.Log == nil {
		cfg.Log = log.Default()
	}
	addr, err := net.ResolveUDPAddr("udp", cfg.Listen)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", addr)
	if err != nil {
		return nil, err
	}
	return &Node{cfg: cfg, conn: conn, data: make(map[string]string)}, nil
}

// Addr returns where the node listens.
func (n *Node) Addr() net.Addr { return n.conn.LocalAddr() }

// State returns what the node holds.
func (n *Node) State() map[string]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.data)
}

// Changes returns a number that grows with each change of State.
func (n *Node) Changes() uint64 { return n.changes.Load() }

// Run serves until ctx is done, and returns nil then. It closes the socket.
func (n *Node) Run(ctx context.Context) error {
	defer n.conn.Close()
	stop := context.AfterFunc(ctx, func() { n.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if n.cfg.ID == 0 {
		if err := n.resolve(ctx); err != nil {
			return nil // ctx is done
		}
	}
	buf := make([]byte, wire.MaxDatagram+1)
	for failed := 0; ; {
		size, from, err := n.conn.ReadFromUDPAddrPort(buf)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			failed = 0
		case errors.Is(err, net.ErrClosed) || failed == maxErrors:
			return err
		default:
			failed++
			n.cfg.Log.Printf("naive: read: %v", err)
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if m, err := wire.Decode(buf[:size]); err == nil {
			n.handle(m, from)
		}
	}
}

// resolve finds the followers' addresses, once.
func (n *Node) resolve(ctx context.Context) error {
	for _, name := range n.cfg.Nodes[1:] {
		for { // until the name resolves or ctx is done
			addr, err := wire.Resolve(ctx, name)
			if err == nil {
				n.peers = append(n.peers, addr)
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			n.cfg.Log.Printf("naive: %v", err)
			select {
			case <-time.After(resolveRetry):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

func (n *Node) handle(m *wire.Message, from netip.AddrPort) {
	switch m.Kind {
	case wire.Put:
		reply := wire.Message{Kind: wire.PutReply, Nonce: m.Nonce, Req: m.Req}
		if n.cfg.ID != 0 {
			reply.Status = wire.NotLeader
		} else {
			n.set(m.Key, m.Value)
			for _, peer := range n.peers {
				n.send(peer, &wire.Message{Kind: wire.Apply, Key: m.Key, Value: m.Value})
			}
		}
		n.send(from, &reply)
	case wire.Apply:
		n.set(m.Key, m.Value)
	case wire.Get:
		reply := wire.Message{Kind: wire.GetReply, Nonce: m.Nonce, Req: m.Req}
		n.mu.Lock()
		value, ok := n.data[m.Key]
		n.mu.Unlock()
		if reply.Value = value; !ok {
			reply.Status = wire.NotFound
		}
		n.send(from, &reply)
	}
}

func (n *Node) set(key, value string) {
	n.mu.Lock()
	n.data[key] = value
	n.mu.Unlock()
	n.changes.Add(1)
}

func (n *Node) send(to netip.AddrPort, m *wire.Message) {
	n.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := n.conn.WriteToUDPAddrPort(m.AppendTo(nil), to); err != nil {
		n.cfg.Log.Printf("naive: send %v: %v", m.Kind, err)
	}
}
