package reliable

import (
	"container/heap"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

// world runs three nodes without sockets, under a clock and a network that belong
// to one test: thousands of schedules in a second.
type world struct {
	t     *testing.T
	rand  *rand.Rand
	now   time.Time
	queue datagrams
	order int
	nodes [nodes]*Node                  // nil while down
	cut   [nodes + 1][nodes + 1]bool    // from, to; the last is the clients
	wakes [nodes]time.Time              // when to tick each node
	calm  bool                          // no more faults
	seen  [nodes]map[string]Item        // last state of each incarnation
	at    map[string]uint64             // value -> sequence number
	acked map[string]Item               // newest acknowledged, by key
	tried map[string]bool               // values that clients have put
	reqs  [2]struct{ req, done uint64 } // two clients
	last  [2]wire.Message
}

type datagram struct {
	at       time.Time
	order    int
	from, to int
	b        []byte
}

type datagrams []datagram

func (q datagrams) Len() int { return len(q) }
func (q datagrams) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].order < q[j].order
}
func (q datagrams) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *datagrams) Push(x any)   { *q = append(*q, x.(datagram)) }
func (q *datagrams) Pop() any {
	d := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return d
}

// address stands for a node, or for a client: those of the clients are the ones
// after the nodes'.
func address(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(i+1))
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1000, 0),
		at: map[string]uint64{}, acked: map[string]Item{}, tried: map[string]bool{}}
	for id := range nodes {
		w.boot(id)
	}
	return w
}

func (w *world) boot(id int) {
	cfg := Config{Nodes: []string{"a:1", "b:2", "c:3"}, ID: id, Log: log.New(io.Discard, "", 0)}
	n := newNode(cfg, w.rand.Uint64())
	for i, p := range n.peers {
		if p != nil {
			a := address(i)
			p.addr.Store(&a)
		}
	}
	n.write = func(b []byte, to netip.AddrPort) error {
		w.post(id, int(to.Port())-1, b)
		return nil
	}
	w.nodes[id], w.seen[id], w.wakes[id] = n, map[string]Item{}, w.now
}

// post sends a datagram, with whatever happens to it on the way.
func (w *world) post(from, to int, b []byte) {
	if len(b) > wire.MaxDatagram {
		w.t.Fatalf("a datagram of %d bytes", len(b))
	}
	if w.cut[min(from, nodes)][min(to, nodes)] {
		return
	}
	copies := 1
	if !w.calm {
		switch r := w.rand.Float64(); {
		case r < 0.15:
			return
		case r < 0.30:
			copies = 2
		}
	}
	for range copies {
		delay := time.Duration(w.rand.IntN(30)) * time.Millisecond
		if !w.calm && w.rand.IntN(20) == 0 {
			delay = time.Duration(w.rand.IntN(5000)) * time.Millisecond // from another age
		}
		w.order++
		heap.Push(&w.queue, datagram{w.now.Add(delay), w.order, from, to, append([]byte(nil), b...)})
	}
}

// run lets d pass.
func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	for range 100_000 {
		next, who := end, -1
		for id, n := range w.nodes {
			if n != nil && !w.wakes[id].IsZero() && w.wakes[id].Before(next) {
				next, who = w.wakes[id], id
			}
		}
		if len(w.queue) > 0 && w.queue[0].at.Before(next) {
			d := heap.Pop(&w.queue).(datagram)
			if d.at.After(w.now) {
				w.now = d.at
			}
			w.deliver(d)
			who = d.to
		} else if who < 0 {
			w.now = end
			return
		} else if next.After(w.now) {
			w.now = next
		}
		if who < nodes && w.nodes[who] != nil {
			w.wakes[who] = w.nodes[who].role.tick(w.now)
			w.check(who)
		}
	}
	w.t.Fatal("the nodes chatter without end")
}

func (w *world) deliver(d datagram) {
	m, err := wire.Decode(d.b)
	if err != nil {
		w.t.Fatal(err)
	}
	if d.to >= nodes {
		w.answer(d.to-nodes, m)
		return
	}
	if n := w.nodes[d.to]; n != nil {
		if err := n.handle(w.now, m, address(d.from)); err != nil {
			w.t.Fatalf("node %d: %v", d.to, err)
		}
	}
}

// put has a client put a new value, or send the last put again.
func (w *world) put(client int) {
	c := &w.reqs[client]
	if c.req == c.done || w.rand.IntN(10) == 0 { // sometimes gives up the last
		c.req++
		value := fmt.Sprintf("c%d-%d", client, c.req)
		w.tried[value] = true
		w.last[client] = wire.Message{Kind: wire.Put, Nonce: uint64(client + 1), Req: c.req,
			Key: string(rune('p' + w.rand.IntN(3))), Value: value}
	}
	w.post(nodes+client, leaderID, w.last[client].AppendTo(nil))
}

func (w *world) answer(client int, m *wire.Message) {
	c, last := &w.reqs[client], w.last[client]
	if m.Kind != wire.PutReply || m.Status != wire.OK || m.Req != c.req {
		return
	}
	c.done = m.Req
	if w.acked[last.Key].Seq < m.Seq {
		w.acked[last.Key] = Item{last.Value, m.Seq, m.Epoch}
	}
}

// check is the oracle: at a replica, no key goes back or away, no value is one
// that nobody put, and no put was carried out twice.
func (w *world) check(id int) {
	now := w.nodes[id].State()
	for key, was := range w.seen[id] {
		if now[key].Seq < was.Seq || now[key].Seq == was.Seq && now[key] != was {
			w.t.Fatalf("node %d: %s went from %v to %v", id, key, was, now[key])
		}
	}
	for key, it := range now {
		if !w.tried[it.Value] {
			w.t.Fatalf("node %d: %s is %v, which nobody put", id, key, it)
		}
		if seq, ok := w.at[it.Value]; ok && seq != it.Seq {
			w.t.Fatalf("node %d: %q was put at %d and at %d", id, it.Value, seq, it.Seq)
		}
		w.at[it.Value] = it.Seq
	}
	w.seen[id] = now
}

func (w *world) allReady() bool {
	for _, n := range w.nodes {
		if n == nil || !n.Ready() {
			return false
		}
	}
	return true
}

// heal ends all faults and checks that the replicas agree on all that was
// acknowledged.
func (w *world) heal() {
	w.calm, w.cut = true, [nodes + 1][nodes + 1]bool{}
	for id, n := range w.nodes {
		if n == nil {
			w.boot(id)
		}
	}
	w.run(20 * time.Second)
	if !w.allReady() {
		w.t.Fatal("not all are ready in the end")
	}
	for id, n := range w.nodes {
		if got, want := fmt.Sprint(n.State()), fmt.Sprint(w.nodes[0].State()); got != want {
			w.t.Fatalf("node %d has %s, node 0 %s", id, got, want)
		}
	}
	for key, it := range w.acked {
		if now := w.nodes[0].State()[key]; now.Seq < it.Seq || now.Seq == it.Seq && now != it {
			w.t.Fatalf("%s is %v in the end, but %v was acknowledged", key, now, it)
		}
	}
}

// Whatever the network does, and whichever one node at a time loses its memory.
func TestSchedules(t *testing.T) {
	crashes, acks, epochs := 0, 0, uint64(0)
	seeds := uint64(300)
	if testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			for range 150 {
				w.put(w.rand.IntN(2))
				w.run(time.Duration(w.rand.IntN(100)) * time.Millisecond)
				switch w.rand.IntN(12) {
				case 0, 1:
					w.cut[w.rand.IntN(nodes+1)][w.rand.IntN(nodes+1)] = true
				case 2, 3:
					w.cut = [nodes + 1][nodes + 1]bool{}
				case 4, 5, 6:
					if w.allReady() {
						crashes++
						w.nodes[w.rand.IntN(nodes)] = nil
					}
				default:
					for id, n := range w.nodes {
						if n == nil {
							w.boot(id)
						}
					}
				}
			}
			w.heal()
			acks += int(w.reqs[0].done + w.reqs[1].done)
			epochs += w.nodes[0].role.(*leader).epoch
		})
	}
	t.Logf("%d crashes, %d requests, %d epochs", crashes, acks, epochs)
	if crashes == 0 || acks == 0 || epochs == 0 {
		t.Error("the schedules test nothing")
	}
}
