package raft

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/dstkit/dst/examples/internal/outage"
)

// A storage is what a node keeps its log, vote and term in.
type storage int

const (
	file storage = iota // the wal of this package
	bolt                // a database of raft-boltdb
)

func (s storage) String() string { return [...]string{"file", "bolt"}[s] }

// open opens the stores in a folder, or makes them.
func (s storage) open(dir string, f flaw) (raft.LogStore, raft.StableStore, error) {
	if s == file {
		w, err := openWAL(dir, f)
		return w, w, err
	}
	b, err := openBolt(dir, f)
	if f == forgetsVote {
		return b, raft.NewInmemStore(), err
	}
	return b, b, err
}

// A flaw is a mistake of whoever uses the libraries. Each stands in the table of
// TestFlaws with the storages that it is tried with.
type flaw int

const (
	none            flaw = iota
	forgetsVote          // the stable store is in memory: term and vote are gone after a restart
	forgetsLast          // the log store has lost its last entry after a restart
	neverSyncs           // the stores do not sync their file
	trustsPage           // a database is opened with what a crashed process wrote and did not sync
	noDirSync            // the folder is not synced once the database is there
	trustsSnapshots      // raft.FileSnapshotStore as it is
	trustsInstalls       // a snapshot that comes late is installed over what is newer
	readsAny             // any node answers a read, by what it has
	readsState           // whoever holds itself for the leader does
	readsVerify          // whoever a majority holds for the leader does (VerifyLeader, and no barrier)
)

func (f flaw) String() string {
	return [...]string{"none", "forgetsVote", "forgetsLast", "neverSyncs", "trustsPage", "noDirSync", "trustsSnapshots", "trustsInstalls", "readsAny", "readsState", "readsVerify"}[f]
}

const (
	raftPort, kvPort = "8300", "7000"
	dir              = "/var/lib/raft"
)

// A node is a host's share of a replicated key-value store.
type node struct {
	*raft.Raft
	machine *machine
	flaw    flaw
}

// A request is to read a key or to put a value there. It is JSON, as is the reply.
type request struct {
	Put        bool
	Key, Value string
}

// A reply tells what came of a request.
type reply struct {
	Value   string
	Error   string
	Unknown bool // a put that failed may yet come about
}

// openNode starts a node on the host of that address, with what its storage has in its folder. If
// that is nothing and members are given, they are the cluster's first.
func openNode(id, host string, members []raft.Server, st storage, f flaw, o oracle) (*node, error) {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(id)
	c.Logger = hclog.NewNullLogger()
	c.ShutdownOnRemove = false
	c.SnapshotInterval, c.SnapshotThreshold, c.TrailingLogs = 3*time.Second, 16, 8
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := outage.Fsync("/var/lib"); err != nil {
		return nil, err
	}
	logs, stable, err := st.open(dir, f)
	if err != nil {
		return nil, err
	}
	snaps, err := openSnapshots(dir, f)
	if err != nil {
		return nil, err
	}
	tcp, err := raft.NewTCPTransport(net.JoinHostPort(host, raftPort), nil, 3, 2*time.Second, io.Discard)
	if err != nil {
		return nil, err
	}
	n := &node{machine: &machine{oracle: o, now: state{Values: map[string]string{}}}, flaw: f}
	var trans raft.Transport = tcp
	if f != trustsInstalls {
		g := newGuard(tcp)
		defer func() { g.start(n.Raft) }()
		trans = g
	}
	has, err := raft.HasExistingState(logs, stable, snaps)
	if err != nil {
		return nil, err
	}
	if !has && members != nil {
		if err := raft.BootstrapCluster(c, logs, stable, snaps, trans, raft.Configuration{Servers: members}); err != nil {
			return nil, err
		}
	}
	n.Raft, err = raft.NewRaft(c, n.machine, logs, stable, snaps, trans)
	return n, err
}

// serve answers clients.
func (n *node) serve(host string) error {
	l, err := net.Listen("tcp", net.JoinHostPort(host, kvPort))
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			in, out := json.NewDecoder(c), json.NewEncoder(c)
			for {
				var q request
				if in.Decode(&q) != nil || out.Encode(n.do(q)) != nil {
					return
				}
			}
		}()
	}
}

const applyTimeout = time.Second

// do carries out a request.
func (n *node) do(q request) reply {
	if q.Put {
		b, _ := json.Marshal(command{q.Key, q.Value})
		f := n.Apply(b, applyTimeout)
		err := f.Error()
		if err == nil {
			err, _ = f.Response().(error)
		}
		if err == nil {
			return reply{}
		}
		refused := errors.Is(err, raft.ErrNotLeader) || errors.Is(err, raft.ErrEnqueueTimeout) || errors.Is(err, raft.ErrLeadershipTransferInProgress)
		return reply{Error: err.Error(), Unknown: !refused}
	}
	var err error
	switch n.flaw {
	case readsAny:
	case readsState:
		if n.State() != raft.Leader {
			err = raft.ErrNotLeader
		}
	case readsVerify:
		err = n.VerifyLeader().Error()
	default:
		err = n.Barrier(applyTimeout).Error()
	}
	if err != nil {
		return reply{Error: err.Error()}
	}
	return reply{Value: n.machine.get(q.Key)}
}

// A client talks to one node after another until one does what it is asked.
type client struct {
	hosts []string
	next  int
	conn  net.Conn
	in    *json.Decoder
}

var errUnknown = errors.New("unknown: it may have come about, or yet come about")

// do has a request carried out, within a time. A put is sent again only where it was
// refused; the error is errUnknown where it was not, and there is no answer.
func (c *client) do(q request, within time.Duration) (value string, err error) {
	end := time.Now().Add(within)
	err = errors.New("nobody could be asked")
	for time.Now().Before(end) {
		if c.conn == nil {
			if c.conn, err = net.DialTimeout("tcp", net.JoinHostPort(c.hosts[c.next], kvPort), 200*time.Millisecond); err != nil {
				c.conn = nil // not an interface of a nil pointer
				c.turn()
				continue
			}
			c.in = json.NewDecoder(c.conn)
		}
		var r reply
		c.conn.SetDeadline(time.Now().Add(2 * time.Second))
		if err = json.NewEncoder(c.conn).Encode(q); err == nil {
			err = c.in.Decode(&r)
		}
		switch {
		case err == nil && r.Error == "":
			return r.Value, nil
		case err != nil || r.Unknown:
			c.turn()
			if q.Put {
				return "", errUnknown
			}
		default:
			err = errors.New(r.Error)
			c.turn()
		}
	}
	return "", err
}

// turn turns to the next node.
func (c *client) turn() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
	c.next = (c.next + 1) % len(c.hosts)
	time.Sleep(20 * time.Millisecond)
}
