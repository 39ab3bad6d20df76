package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst/examples/walstore/client"
	"github.com/dstkit/dst/examples/walstore/store"
)

// Wrong arguments are refused with what to write instead, before anything listens.
func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		"":                               "want -dir",
		"-no-such-flag":                  "not defined",
		"-put x":                         "want key=value",
		"-dir /nowhere -node 3":          "a leader, 0, and two followers",
		"-dir /nowhere -nodes 127.0.0.1": "node 0 of 1",
	} {
		err := run(context.Background(), strings.Fields(args))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// cluster is a store on real sockets and files.
type cluster struct {
	t     *testing.T
	addrs []string
	dir   string
	nodes [3]*store.Node
	ends  [3]func()
}

// start starts a node, on the port that it had before.
func (c *cluster) start(id int) {
	c.t.Helper()
	ln, err := net.Listen("tcp", c.addrs[id])
	if err != nil {
		c.t.Fatal(err)
	}
	c.addrs[id] = ln.Addr().String()
	n, err := store.Open(store.Config{
		Nodes: c.addrs, ID: id, Listen: ln, Dir: filepath.Join(c.dir, fmt.Sprint(id)),
		SegmentSize: 4096, Keep: 2, Log: log.New(io.Discard, "", 0),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	c.nodes[id] = n
	c.ends[id] = func() {
		cancel()
		if err := <-ended; err != nil {
			c.t.Errorf("node %d ended with %v", id, err)
		}
	}
}

// The store on real sockets and files: puts and gets, a follower that is away for
// longer than the leader's log reaches back, and a restart of all.
func TestLoopback(t *testing.T) {
	c := &cluster{t: t, addrs: []string{"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"}, dir: t.TempDir()}
	for id := range c.nodes {
		c.start(id)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cl, puts := client.New(c.addrs[0]), uint64(0)
	write := func(n int) {
		t.Helper()
		for range n {
			puts++
			seq, err := cl.Put(ctx, fmt.Sprint("k", puts%5), strings.Repeat("x", 300)+fmt.Sprint(puts))
			if err != nil || seq != puts {
				t.Fatalf("put %d: %d, %v", puts, seq, err)
			}
		}
	}
	write(10)
	c.ends[2]()
	write(100)
	c.start(2)
	for c.nodes[2].State().Seq < puts {
		if ctx.Err() != nil {
			t.Fatal("the follower does not catch up")
		}
		time.Sleep(time.Millisecond)
	}
	if names, _ := filepath.Glob(filepath.Join(c.dir, "0", "*")); len(names) > 5 {
		t.Errorf("the leader keeps all segments: %q", names)
	}
	if _, err := client.New(c.addrs[1]).Put(ctx, "k", "v"); !errors.Is(err, client.ErrRefused) {
		t.Errorf("a follower took a put: %v", err)
	}
	if _, err := cl.Put(ctx, "k", strings.Repeat("x", 5000)); !errors.Is(err, client.ErrRefused) {
		t.Errorf("a put larger than a segment: %v", err)
	}
	for id := range c.nodes {
		c.ends[id]()
	}
	for id := range c.nodes {
		c.start(id)
	}
	cl.Close()
	if value, seq, err := cl.Get(ctx, "k0"); err != nil || seq != puts || !strings.HasSuffix(value, fmt.Sprint("x", puts)) {
		t.Errorf("after the restart: %.8q… of put %d, %v", value, seq, err)
	}
	if _, seq, err := cl.Get(ctx, "nothing"); err != nil || seq != 0 {
		t.Errorf("a key that is not there: put %d, %v", seq, err)
	}
	for id := range c.nodes {
		c.ends[id]()
	}
}
