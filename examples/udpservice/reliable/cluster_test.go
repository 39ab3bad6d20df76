package reliable

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"testing"
	"time"

	"github.com/dstkit/dst/examples/udpservice/client"
)

// cluster is a store on real sockets: three nodes with a relay before each pair
// of them, and one before each node for clients.
type cluster struct {
	t      *testing.T
	relays [nodes][nodes]*relay // from, to; from == to: for clients
	nodes  [nodes]*running      // nil while down
}

type running struct {
	*Node
	cancel context.CancelFunc
	ended  chan error
}

func newCluster(t *testing.T) *cluster {
	t.Parallel() // they wait, most of the time
	c := &cluster{t: t}
	for from := range nodes {
		for to := range nodes {
			c.relays[from][to] = newRelay(t, uint64(from*nodes+to))
		}
	}
	for id := range nodes {
		c.start(id)
	}
	t.Cleanup(func() {
		for id, n := range c.nodes {
			if n != nil {
				c.kill(id)
			}
		}
	})
	return c
}

func (c *cluster) start(id int) {
	cfg := Config{ID: id, Listen: "127.0.0.1:0", Log: log.New(io.Discard, "", 0)}
	for to := range nodes {
		cfg.Nodes = append(cfg.Nodes, c.relays[id][to].name())
	}
	n, err := Listen(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	for from := range nodes {
		c.relays[from][id].set(func(r *relay) { r.to = n.Addr().(*net.UDPAddr).AddrPort() })
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{n, cancel, make(chan error, 1)}
	go func() { r.ended <- n.Run(ctx) }()
	c.nodes[id] = r
}

// kill ends a node; its memory is gone. To the others it makes no difference that
// it ends in an orderly way, as it says nothing about it.
func (c *cluster) kill(id int) {
	c.t.Helper()
	n := c.nodes[id]
	c.nodes[id] = nil
	n.cancel()
	select {
	case err := <-n.ended:
		if err != nil {
			c.t.Errorf("node %d: Run: %v", id, err)
		}
	case <-time.After(5 * time.Second):
		c.t.Fatalf("node %d: Run does not end with its context", id)
	}
}

// block cuts or mends all that goes to and from a node, but for its clients.
func (c *cluster) block(id int, on bool) {
	for other := range nodes {
		if other != id {
			c.relays[id][other].set(func(r *relay) { r.blocked = on })
			c.relays[other][id].set(func(r *relay) { r.blocked = on })
		}
	}
}

func (c *cluster) faulty(on bool) {
	for from := range nodes {
		for to := range nodes {
			c.relays[from][to].set(func(r *relay) { r.faulty = on })
		}
	}
}

// client returns a client whose deadline is the test's.
func (c *cluster) client() (*client.Client, context.Context) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	cl := client.New(c.at(leaderID))
	c.t.Cleanup(func() {
		cancel()
		cl.Close()
	})
	return cl, ctx
}

// at returns where clients reach a node.
func (c *cluster) at(id int) string { return c.relays[id][id].name() }

func (c *cluster) put(ctx context.Context, cl *client.Client, key, value string) client.Version {
	c.t.Helper()
	v, err := cl.Put(ctx, key, value)
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}

// wait waits until cond holds, and fails the test if that takes too long.
func (c *cluster) wait(what string, cond func() bool) {
	c.t.Helper()
	for end := time.Now().Add(15 * time.Second); !cond(); {
		if time.Now().After(end) {
			c.t.Fatalf("%s: not in time", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func (c *cluster) ready(ids ...int) {
	c.t.Helper()
	for _, id := range ids {
		c.wait(fmt.Sprintf("node %d ready", id), c.nodes[id].Ready)
	}
}

// agree waits until all nodes hold the same.
func (c *cluster) agree() {
	c.t.Helper()
	c.wait("replicas agree", func() bool {
		want := fmt.Sprint(c.nodes[0].State())
		return fmt.Sprint(c.nodes[1].State()) == want && fmt.Sprint(c.nodes[2].State()) == want
	})
}
