package reliable

import (
	"net/netip"
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

// maxPending is how many puts may wait for a follower at a time.
const maxPending = 256

// leader orders the puts. It recovers first (recovery.go), then serves.
type leader struct {
	*Node
	phase    phase
	epoch    uint64
	recovery recovery

	// From here on: while serving.
	log        putLog
	progress   [nodes]progress   // by follower
	cuts       [nodes]*cut       // snapshots that followers read
	unanswered map[uint64]waiter // clients whose put is not committed, by name
}

// phase is how far a leader is.
type phase uint8

const (
	preparing phase = iota // collects promises
	pulling                // reads a follower's state
	serving
)

// progress is what the leader knows of a follower.
type progress struct {
	match uint64 // the follower has all puts up to this one
	retry retry  // when to send it those that follow; unused if there are none
}

// waiter is a client's put that is not committed yet.
type waiter struct {
	req uint64
	to  netip.AddrPort // where the client asked from last
}

func newLeader(n *Node) *leader {
	return &leader{Node: n, epoch: 1, unanswered: make(map[uint64]waiter)}
}

// followers returns the IDs of the nodes that follow.
func (l *leader) followers() [nodes - 1]int { return [...]int{1, 2} }

func (l *leader) tick(now time.Time) time.Time {
	if l.phase != serving {
		return l.recover(now)
	}
	var next time.Time
	for _, id := range l.followers() {
		p := &l.progress[id]
		if p.match == l.log.last() {
			continue
		}
		if p.retry.due(now) {
			l.append(now, id)
		}
		next = earliest(next, p.retry.at)
	}
	return next
}

func (l *leader) handle(now time.Time, m *wire.Message, from netip.AddrPort) error {
	switch m.Kind {
	case wire.Put:
		l.put(now, m, from)
	case wire.Promise:
		l.promise(now, m)
	case wire.Chunk:
		l.chunk(now, m)
	case wire.Pull:
		l.pull(now, m)
	case wire.Ack:
		return l.ack(now, m)
	}
	return nil
}

// serve begins the epoch from what the store holds. A follower holds that too,
// which makes it a majority's: it is committed.
func (l *leader) serve() {
	l.phase = serving
	l.recovery = recovery{}
	l.log.floor = l.store.last
	l.ready.Store(true)
	l.logf("leads from put %d in epoch %d", l.store.last, l.epoch)
}

// put gives a new put its place and sends it out. One that is known is answered
// if it is done, and waits otherwise.
func (l *leader) put(now time.Time, m *wire.Message, from netip.AddrPort) {
	reply := wire.Message{Kind: wire.PutReply, Nonce: m.Nonce, Req: m.Req}
	if m.Req == 0 {
		return // no client of ours
	}
	done, waits := l.store.sessions[m.Nonce], l.unanswered[m.Nonce]
	switch {
	case l.phase != serving:
		reply.Status = wire.NotReady
	case m.Req < done.Req || m.Req < waits.req:
		return // its client has gone on to a later request
	case m.Req == done.Req:
		reply.Seq, reply.Epoch = done.Seq, done.Epoch
	case m.Req == waits.req:
		l.unanswered[m.Nonce] = waiter{m.Req, from}
		return
	case l.log.last()-l.store.last >= maxPending:
		reply.Status = wire.Busy
	default:
		l.log.append(wire.Entry{Seq: l.log.last() + 1, Epoch: l.epoch,
			Client: m.Nonce, Req: m.Req, Key: m.Key, Value: m.Value})
		l.unanswered[m.Nonce] = waiter{m.Req, from}
		for _, id := range l.followers() {
			l.progress[id].retry = retry{}
			l.append(now, id)
		}
		return
	}
	l.send(from, &reply)
}

// append sends a follower the puts after those that it has acknowledged, as many
// as fit. If the log does not reach back, the message only says so, in Floor.
func (l *leader) append(now time.Time, id int) {
	p := &l.progress[id]
	m := wire.Message{Kind: wire.Append, Epoch: l.epoch, Floor: l.log.floor}
	room := wire.MaxDatagram - wire.HeaderRoom
	for _, e := range l.log.after(p.match) {
		if room -= wire.EntryRoom(e); room < 0 {
			break
		}
		m.Entries = append(m.Entries, e)
	}
	p.retry.sent(now)
	l.tell(id, &m)
}

// ack moves a follower's progress on, and with it what is committed.
func (l *leader) ack(now time.Time, m *wire.Message) error {
	if l.phase != serving {
		return nil // to an earlier incarnation
	}
	if m.Epoch > l.epoch {
		l.logf("follower %d is in epoch %d, this leader in %d", m.From, m.Epoch, l.epoch)
		return ErrSuperseded
	}
	p := &l.progress[m.From]
	if m.Epoch != l.epoch || m.Seq <= p.match || m.Seq > l.log.last() {
		return nil // late, or nothing new
	}
	p.match, p.retry = m.Seq, retry{}
	if c := l.cuts[m.From]; c != nil && c.seq <= m.Seq {
		l.cuts[m.From] = nil
	}
	if m.Seq > l.store.last {
		l.commit(m.Seq)
	}
	if p.match < l.log.last() {
		l.append(now, int(m.From))
	}
	return nil
}

// commit applies the puts up to seq, which a follower holds, and answers those
// who wait for them.
func (l *leader) commit(seq uint64) {
	for _, e := range l.log.after(l.store.last)[:seq-l.store.last] {
		l.store.apply(e)
		w, ok := l.unanswered[e.Client]
		if !ok || w.req != e.Req {
			continue
		}
		delete(l.unanswered, e.Client)
		l.send(w.to, &wire.Message{Kind: wire.PutReply, Nonce: e.Client, Req: e.Req, Seq: e.Seq, Epoch: e.Epoch})
	}
	l.log.trim(l.store.last)
}

// pull lets a follower read a snapshot: of all that the leader has, also of what
// is not committed. See the package documentation for why.
func (l *leader) pull(now time.Time, m *wire.Message) {
	if l.phase != serving {
		return
	}
	c := &l.cuts[m.From]
	if !(*c).serves(now, m) {
		all := l.store.clone()
		for _, e := range l.log.after(l.store.last) {
			all.apply(e)
		}
		*c = newCut(now, m.Nonce, l.epoch, all)
	}
	for i := range (*c).window(m.Index) {
		l.tell(int(m.From), &(*c).chunks[int(m.Index)+i])
	}
}
