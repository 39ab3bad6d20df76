package naive

import (
	"context"
	"io"
	"log"
	"testing"
	"time"

	"github.com/dstkit/dst/examples/udpservice/client"
)

// start runs a leader and two followers on loopback until the test ends. The
// followers listen first, so that the leader can be told their ports.
func start(t *testing.T) []*Node {
	t.Helper()
	nodes := make([]*Node, 3)
	names := []string{"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"}
	for _, id := range []int{2, 1, 0} {
		n, err := Listen(Config{Nodes: names, ID: id, Log: log.New(io.Discard, "", 0)})
		if err != nil {
			t.Fatal(err)
		}
		nodes[id], names[id] = n, n.Addr().String()
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, len(nodes))
	for _, n := range nodes {
		go func() { ended <- n.Run(ctx) }()
	}
	t.Cleanup(func() {
		cancel()
		for range nodes {
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("Run does not end with its context")
			}
		}
	})
	return nodes
}

func TestPutGet(t *testing.T) {
	nodes := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c := client.New(nodes[0].Addr().String())
	defer c.Close()
	for _, value := range []string{"1", "2"} {
		if _, err := c.Put(ctx, "x", value); err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range nodes {
		for { // a follower hears of it a little later
			value, _, ok, err := c.Get(ctx, n.Addr().String(), "x")
			if err != nil {
				t.Fatalf("node %d: %v", i, err)
			}
			if ok && value == "2" {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	if _, _, ok, err := c.Get(ctx, nodes[1].Addr().String(), "y"); ok || err != nil {
		t.Errorf("a key that nobody put: %v, %v", ok, err)
	}
	if got := nodes[2].State()["x"]; got != "2" {
		t.Errorf("State: x = %q", got)
	}
}

func TestPutToFollower(t *testing.T) {
	nodes := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c := client.New(nodes[1].Addr().String())
	defer c.Close()
	if _, err := c.Put(ctx, "x", "1"); err == nil {
		t.Error("a follower took a put")
	}
}

// A client whose node is away keeps asking until its deadline, and says so.
func TestNobodyThere(t *testing.T) {
	n, err := Listen(Config{Nodes: []string{"127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	n.conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 250*time.Millisecond)
	defer cancel()
	c := client.New(n.Addr().String())
	defer c.Close()
	if _, err := c.Put(ctx, "x", "1"); ctx.Err() == nil || err == nil {
		t.Errorf("Put ended before its deadline: %v", err)
	}
}
