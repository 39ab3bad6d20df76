package reliable

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

const (
	nodes        = 3           // in a store
	leaderID     = 0           // who leads it
	writeTimeout = time.Second // a send that takes longer is dropped
	maxErrors    = 100         // failed reads in a row before Run gives up
)

// ErrSuperseded is returned by a leader's Run when a follower has promised itself
// to a later epoch: another process leads the store now.
var ErrSuperseded = errors.New("reliable: superseded by another leader")

// Config says which node of which store this is.
type Config struct {
	Nodes  []string    // "host:port" of the three nodes; the first is the leader
	ID     int         // this node's place in Nodes
	Listen string      // where to listen; Nodes[ID] if empty
	Log    *log.Logger // log.Default() if nil
}

// Node is one replica. Its fields belong to the goroutine in Run, but for what is
// marked as shared.
type Node struct {
	cfg   Config
	conn  *net.UDPConn
	nonce uint64       // this incarnation
	peers [nodes]*peer // by ID; nil for the node itself
	role  role
	store *store      // shared in part
	ready atomic.Bool // shared
	out   []byte      // datagram being sent
	write func(datagram []byte, to netip.AddrPort) error
}

// role is what a node does as leader or follower.
type role interface {
	// handle takes a message. An error ends Run.
	handle(now time.Time, m *wire.Message, from netip.AddrPort) error
	// tick does what is due, and returns when to call it again at the latest;
	// zero is never.
	tick(now time.Time) time.Time
}

var (
	_ role = (*leader)(nil)
	_ role = (*follower)(nil)
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
	if len(cfg.Nodes) != nodes || cfg.ID < 0 || cfg.ID >= nodes {
		return nil, fmt.Errorf("reliable: no node %d among %d: a store has %d", cfg.ID, len(cfg.Nodes), nodes)
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
	var b [8]byte
	rand.Read(b[:]) // never fails
	n := newNode(cfg, binary.BigEndian.Uint64(b[:]))
	n.conn = conn
	n.write = func(datagram []byte, to netip.AddrPort) error {
		conn.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, err := conn.WriteToUDPAddrPort(datagram, to)
		return err
	}
	return n, nil
}

// newNode returns a node without a socket.
func newNode(cfg Config, nonce uint64) *Node {
	n := &Node{cfg: cfg, nonce: nonce, store: newStore()}
	for id, name := range cfg.Nodes {
		if id != cfg.ID {
			n.peers[id] = &peer{name: name}
		}
	}
	if cfg.ID == leaderID {
		n.role = newLeader(n)
	} else {
		n.role = newFollower(n)
	}
	return n
}

// Addr returns where the node listens.
func (n *Node) Addr() net.Addr { return n.conn.LocalAddr() }

// Ready tells whether the node answers requests: the leader has recovered, the
// follower has caught up. A node that is ready stays so until it restarts.
func (n *Node) Ready() bool { return n.ready.Load() }

// State returns what the node holds, by key.
func (n *Node) State() map[string]Item { return n.store.state() }

// Changes returns a number that grows with each change of State.
func (n *Node) Changes() uint64 { return n.store.changes.Load() }

// Run serves until ctx is done, and returns nil then. It closes the socket.
func (n *Node) Run(ctx context.Context) error {
	defer n.conn.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, p := range n.peers {
		if p != nil {
			wg.Go(func() { p.resolve(ctx, n.logf) })
		}
	}
	// The deadline in the past ends a Read that waits, and one that begins later:
	// the loop looks at ctx after it sets a deadline of its own.
	stop := context.AfterFunc(ctx, func() { n.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()

	buf := make([]byte, wire.MaxDatagram+1)
	for failed := 0; ; {
		n.conn.SetReadDeadline(n.role.tick(time.Now()))
		if ctx.Err() != nil {
			return nil
		}
		size, from, err := n.conn.ReadFromUDPAddrPort(buf)
		switch {
		case err == nil:
			failed = 0
		case errors.Is(err, os.ErrDeadlineExceeded):
			continue
		case errors.Is(err, net.ErrClosed) || failed == maxErrors:
			return err
		default:
			failed++
			n.logf("read: %v", err)
			time.Sleep(10 * time.Millisecond)
			continue
		}
		m, err := wire.Decode(buf[:size])
		if err != nil {
			continue
		}
		if err := n.handle(time.Now(), m, from); err != nil {
			return err
		}
	}
}

func (n *Node) handle(now time.Time, m *wire.Message, from netip.AddrPort) error {
	switch m.Kind {
	case wire.Get:
		n.get(m, from)
		return nil
	case wire.Prepare, wire.Promise, wire.Append, wire.Ack, wire.Pull, wire.Chunk:
		if int(m.From) >= nodes || int(m.From) == n.cfg.ID {
			return nil // no node of this store
		}
	}
	return n.role.handle(now, m, from)
}

func (n *Node) get(m *wire.Message, from netip.AddrPort) {
	reply := wire.Message{Kind: wire.GetReply, Nonce: m.Nonce, Req: m.Req}
	if !n.Ready() {
		reply.Status = wire.NotReady
	} else if it, ok := n.store.items[m.Key]; ok {
		reply.Value, reply.Seq, reply.Epoch = it.Value, it.Seq, it.Epoch
	} else {
		reply.Status = wire.NotFound
	}
	n.send(from, &reply)
}

// send sends a message, or drops it: whoever needs it asks again.
func (n *Node) send(to netip.AddrPort, m *wire.Message) {
	n.out = m.AppendTo(n.out[:0])
	if err := n.write(n.out, to); err != nil && !errors.Is(err, net.ErrClosed) {
		n.logf("send %v to %v: %v", m.Kind, to, err)
	}
}

// tell sends a message to another node.
func (n *Node) tell(id int, m *wire.Message) {
	m.From = uint8(n.cfg.ID)
	if addr := n.peers[id].addr.Load(); addr != nil {
		n.send(*addr, m)
	}
}

func (n *Node) logf(format string, args ...any) {
	n.cfg.Log.Printf("node %d: "+format, append([]any{n.cfg.ID}, args...)...)
}
