package reliable

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

func TestPutLog(t *testing.T) {
	l := putLog{floor: 10}
	for seq := uint64(11); seq <= 11+3*keepPuts; seq++ {
		l.append(wire.Entry{Seq: seq})
	}
	commit := l.last() - 5
	l.trim(commit)
	if l.floor != commit-keepPuts {
		t.Errorf("floor is %d after trim(%d)", l.floor, commit)
	}
	for _, after := range []uint64{l.floor, commit, l.last() - 1} {
		if got := l.after(after); len(got) == 0 || got[0].Seq != after+1 {
			t.Errorf("after(%d) begins with %v", after, got[:min(1, len(got))])
		}
	}
	if l.after(l.floor-1) != nil || len(l.after(l.last())) != 0 || l.after(l.last()+1) != nil {
		t.Error("after goes beyond the log")
	}
}

// A snapshot comes out as it went in, whatever order its chunks arrive in, among
// those of others.
func TestSnapshot(t *testing.T) {
	s := newStore()
	for i := uint64(1); i <= 500; i++ {
		s.apply(wire.Entry{Seq: i, Epoch: 2, Client: i % 70, Req: i, Key: fmt.Sprint("k", i%90), Value: fmt.Sprint(i)})
	}
	now := time.Unix(1000, 0)
	old := newCut(now, 1, 2, s)
	s.apply(wire.Entry{Seq: 501, Epoch: 3, Client: 1, Req: 501, Key: "k0", Value: "new"})
	c := newCut(now, 1, 3, s)
	if len(c.chunks) <= chunkWindow {
		t.Fatalf("%d chunks are too few to test anything", len(c.chunks))
	}
	chunks := append(slices.Clone(old.chunks), c.chunks...)
	chunks = append(chunks, c.chunks[:3]...) // duplicates
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		r.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] })
		f := fetch{}
		for range 2 { // chunks that came before the first of the newer snapshot come again
			for i := range chunks {
				m, err := wire.Decode(chunks[i].AppendTo(nil))
				if err != nil {
					t.Fatal(err)
				}
				if !f.complete() || f.seq != s.last {
					f.add(now, m)
				}
			}
		}
		if !f.complete() {
			t.Fatalf("seed %d: not complete", seed)
		}
		if got := f.store(); !maps.Equal(got.items, s.items) || !maps.Equal(got.sessions, s.sessions) || got.last != s.last {
			t.Fatalf("seed %d: got %d keys up to put %d, want %d up to %d", seed, len(got.items), got.last, len(s.items), s.last)
		}
	}
}

// Of too many clients, those that have been silent for longest are forgotten.
func TestSessionsBounded(t *testing.T) {
	s := newStore()
	for i := uint64(1); i <= maxSessions+10; i++ {
		s.apply(wire.Entry{Seq: i, Client: i, Req: 1, Key: "x"})
	}
	if len(s.sessions) != maxSessions || s.sessions[10].Req != 0 || s.sessions[11].Req != 1 {
		t.Errorf("%d sessions; 10: %v, 11: %v", len(s.sessions), s.sessions[10], s.sessions[11])
	}
}

// chunkFor is a whole snapshot of one key.
func chunkFor(n *Node, epoch, seq uint64) *wire.Message {
	return &wire.Message{Kind: wire.Chunk, Nonce: n.nonce, Epoch: epoch, Seq: seq, Total: 1,
		Entries: []wire.Entry{{Seq: seq, Epoch: epoch, Key: "x", Value: fmt.Sprint(seq)}}}
}

// A fresh follower takes only a snapshot that was made for itself, and a member
// none that is older than what it has.
func TestFollowerSnapshots(t *testing.T) {
	w := newWorld(t, 1)
	n := w.nodes[1]
	say := func(m *wire.Message) {
		if err := n.handle(w.now, m, address(leaderID)); err != nil {
			t.Fatal(err)
		}
	}
	other := chunkFor(n, 1, 5)
	other.Nonce++
	say(other)
	if n.Ready() {
		t.Fatal("it took a snapshot made for its earlier incarnation")
	}
	say(&wire.Message{Kind: wire.Prepare, Nonce: 9, Epoch: 2})
	say(chunkFor(n, 1, 5))
	if n.Ready() {
		t.Fatal("it took a snapshot of an epoch that it has promised to drop")
	}
	say(chunkFor(n, 2, 5))
	if !n.Ready() || n.State()["x"].Seq != 5 {
		t.Fatalf("it did not take its snapshot: %v", n.State())
	}
	// It falls behind the log, but the puts arrive before the snapshot.
	say(&wire.Message{Kind: wire.Append, Epoch: 2, Floor: 8})
	say(&wire.Message{Kind: wire.Append, Epoch: 2, Floor: 8, Entries: []wire.Entry{{Seq: 6, Key: "x", Value: "6"}, {Seq: 7, Key: "x", Value: "7"}}})
	say(chunkFor(n, 2, 6))
	if it := n.State()["x"]; it.Seq != 7 {
		t.Errorf("an older snapshot replaced the state: %v", it)
	}
}
