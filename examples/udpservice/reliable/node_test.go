package reliable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst/examples/udpservice/client"
	"github.com/dstkit/dst/examples/udpservice/wire"
)

func TestPutGet(t *testing.T) {
	c := newCluster(t)
	cl, ctx := c.client()
	v := c.put(ctx, cl, "x", "1")
	if w := c.put(ctx, cl, "x", "2"); w.Seq != v.Seq+1 {
		t.Errorf("puts have numbers %d and %d", v.Seq, w.Seq)
	}
	c.ready(0, 1, 2)
	c.agree()
	for id := range nodes {
		if value, _, ok, err := cl.Get(ctx, c.at(id), "x"); value != "2" || !ok || err != nil {
			t.Errorf("node %d: x = %q, %v, %v", id, value, ok, err)
		}
	}
	if _, _, ok, err := cl.Get(ctx, c.at(1), "y"); ok || err != nil {
		t.Errorf("a key that nobody put: %v, %v", ok, err)
	}
	follower := client.New(c.at(1))
	defer follower.Close()
	if _, err := follower.Put(ctx, "x", "3"); !errors.Is(err, client.ErrNotLeader) {
		t.Errorf("put to a follower: %v", err)
	}
}

// A put is acknowledged as long as one follower can be reached, and not without.
func TestMajority(t *testing.T) {
	c := newCluster(t)
	cl, ctx := c.client()
	c.ready(0, 1, 2)
	c.block(2, true)
	c.put(ctx, cl, "x", "1")
	c.block(1, true)
	short, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
	defer cancel()
	if _, err := cl.Put(short, "x", "2"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("put without followers: %v", err)
	}
	if value, _, _, err := cl.Get(ctx, c.at(0), "x"); value != "1" || err != nil {
		t.Errorf("the leader shows %q, %v, which no follower has", value, err)
	}
	c.block(1, false)
	c.block(2, false)
	c.wait("the put that waited", func() bool { return c.nodes[2].State()["x"].Value == "2" })
	c.agree()
}

// Several clients at once on a network that loses a fifth of all datagrams.
func TestLossyNetwork(t *testing.T) {
	c := newCluster(t)
	c.faulty(true)
	var wg sync.WaitGroup
	const clients, puts = 4, 10
	for i := range clients {
		// Each has a relay of its own to the leader, as answers go to the last sender.
		r := newRelay(t, uint64(100+i))
		r.set(func(r *relay) { r.to, r.faulty = c.relays[0][0].to, true })
		cl := client.New(r.name())
		defer cl.Close()
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			for j := range puts {
				if _, err := cl.Put(ctx, fmt.Sprint("k", j), fmt.Sprint("c", i, "-", j)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	c.faulty(false)
	c.agree()
	seqs := map[uint64]bool{}
	for key, it := range c.nodes[1].State() {
		if seqs[it.Seq] || it.Seq == 0 || it.Seq > clients*puts {
			t.Errorf("%s is %v: %d puts were made", key, it, clients*puts)
		}
		seqs[it.Seq] = true
	}
	if len(seqs) != puts {
		t.Errorf("%d keys, want %d", len(seqs), puts)
	}
}

// A put that arrives again, when its key has a newer value, changes nothing; also
// not at the leader's next incarnation.
func TestPutAgain(t *testing.T) {
	c := newCluster(t)
	cl, ctx := c.client()
	first := &wire.Message{Kind: wire.Put, Nonce: 77, Req: 1, Key: "x", Value: "old"}
	c.ready(0, 1, 2)
	c.relays[0][0].say(first)
	c.wait("first put", func() bool { return c.nodes[0].State()["x"].Value == "old" })
	v := c.put(ctx, cl, "x", "new")
	for range 3 {
		c.relays[0][0].say(first)
	}
	if w := c.put(ctx, cl, "y", "1"); w.Seq != v.Seq+1 {
		t.Errorf("the repeated put took a place: %d then %d", v.Seq, w.Seq)
	}
	c.kill(0)
	c.start(0)
	c.ready(0)
	c.relays[0][0].say(first)
	if w := c.put(ctx, cl, "y", "2"); w.Seq != v.Seq+2 || w.Epoch <= v.Epoch {
		t.Errorf("after recovery a put is %v, was %v", w, v)
	}
	if it := c.nodes[0].State()["x"]; it.Value != "new" {
		t.Errorf("x = %v", it)
	}
}

// A restarted follower catches up, also on more than fits in one window of chunks,
// and over a bad network.
func TestFollowerRestart(t *testing.T) {
	c := newCluster(t)
	cl, ctx := c.client()
	value := strings.Repeat("v", wire.MaxValue)
	for i := range 60 {
		c.put(ctx, cl, fmt.Sprint("k", i), value)
	}
	c.ready(1, 2)
	c.kill(2)
	c.put(ctx, cl, "meanwhile", "1")
	c.faulty(true)
	c.start(2)
	c.ready(2)
	if got, want := len(c.nodes[2].State()), 61; got != want {
		t.Errorf("it has %d keys, want %d", got, want)
	}
	c.faulty(false)
	c.agree()
}

// A follower that is further behind than the leader's log reaches gets a snapshot.
func TestFollowerBehindLog(t *testing.T) {
	c := newCluster(t)
	cl, ctx := c.client()
	c.ready(0, 1, 2)
	c.put(ctx, cl, "x", "first")
	c.agree()
	c.block(2, true)
	for i := range 2*keepPuts + 10 {
		c.put(ctx, cl, fmt.Sprint("k", i%10), fmt.Sprint(i))
	}
	c.block(2, false)
	c.agree()
}

// A restarted leader finds the put that only one follower has, and waits for that
// one, however long it is cut off.
func TestLeaderRestart(t *testing.T) {
	c := newCluster(t)
	cl, ctx := c.client()
	c.ready(0, 1, 2)
	for i := range 30 {
		c.put(ctx, cl, fmt.Sprint("k", i), strings.Repeat("v", wire.MaxValue))
	}
	c.block(2, true)
	last := c.put(ctx, cl, "x", "on 0 and 1 only")
	c.block(1, true)
	c.kill(0)
	c.block(2, false)
	c.start(0)
	time.Sleep(100 * time.Millisecond)
	if c.nodes[0].Ready() {
		t.Fatal("the leader serves without having heard from the follower that has the last put")
	}
	c.block(1, false)
	c.ready(0)
	if it := c.nodes[0].State()["x"]; it.Value != "on 0 and 1 only" {
		t.Errorf("acknowledged put is lost: %v", it)
	}
	if v := c.put(ctx, cl, "x", "2"); v.Seq != last.Seq+1 || v.Epoch <= last.Epoch {
		t.Errorf("next put is %v after %v", v, last)
	}
	c.agree()
}

// What a dead leader sent, and a dead follower acknowledged, does no harm later.
func TestOldDatagrams(t *testing.T) {
	c := newCluster(t)
	cl, ctx := c.client()
	c.put(ctx, cl, "x", "1")
	c.ready(0, 1, 2)
	c.kill(0)
	c.start(0)
	c.ready(0)
	v := c.put(ctx, cl, "x", "2")
	c.agree()
	old := []wire.Entry{{Seq: v.Seq + 1, Epoch: v.Epoch - 1, Client: 5, Req: 5, Key: "x", Value: "never acknowledged"}}
	c.relays[0][1].say(&wire.Message{Kind: wire.Append, From: 0, Epoch: v.Epoch - 1, Entries: old})
	c.relays[1][0].say(&wire.Message{Kind: wire.Ack, From: 1, Epoch: v.Epoch - 1, Seq: v.Seq + 5})
	c.relays[1][0].say(&wire.Message{Kind: wire.Ack, From: 1, Epoch: v.Epoch, Seq: v.Seq + 5})
	c.relays[0][1].say(&wire.Message{Kind: wire.Prepare, From: 0, Epoch: v.Epoch, Nonce: 5})
	c.relays[0][1].say(&wire.Message{Kind: wire.Chunk, From: 0, Epoch: v.Epoch + 9, Nonce: 5, Seq: 99, Total: 1, Entries: old})
	c.put(ctx, cl, "y", "1")
	c.agree()
	if it := c.nodes[1].State()["x"]; it.Value != "2" {
		t.Errorf("x = %v", it)
	}
}

// Two nodes without memory are beyond the fault assumption: the store does not
// serve what may be less than it acknowledged. All three start empty.
func TestTwoForget(t *testing.T) {
	c := newCluster(t)
	cl, ctx := c.client()
	c.put(ctx, cl, "x", "1")
	c.ready(0, 1, 2)
	c.kill(0)
	c.kill(1)
	c.start(1)
	c.start(0)
	time.Sleep(200 * time.Millisecond)
	if c.nodes[0].Ready() || c.nodes[1].Ready() {
		t.Fatal("the store serves though two nodes forgot")
	}
	if !c.nodes[2].Ready() {
		t.Error("the node that remembers does not answer")
	}
	c.kill(2)
	c.start(2)
	c.ready(0, 1, 2)
	c.put(ctx, cl, "x", "2")
	c.agree()
}

// A leader that is told of a later epoch than its own gives up.
func TestSuperseded(t *testing.T) {
	c := newCluster(t)
	c.ready(0, 1, 2)
	c.relays[1][0].say(&wire.Message{Kind: wire.Ack, From: 1, Epoch: 99})
	select {
	case err := <-c.nodes[0].ended:
		if !errors.Is(err, ErrSuperseded) {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the leader goes on")
	}
	c.nodes[0].cancel()
	c.nodes[0] = nil
}

func TestConfig(t *testing.T) {
	three := []string{"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"}
	for _, cfg := range []Config{
		{},
		{Nodes: three[:2]},
		{Nodes: three, ID: 3},
		{Nodes: three, ID: -1},
		{Nodes: three, Listen: "127.0.0.1:no-such-service"},
	} {
		if n, err := Listen(cfg); err == nil {
			n.conn.Close()
			t.Errorf("Listen(%+v): no error", cfg)
		}
	}
}
