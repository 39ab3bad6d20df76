package reliable

import (
	"net/netip"
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

// follower holds what the leader tells it, in sequence.
type follower struct {
	*Node
	epoch      uint64 // highest promised or heard; all that is older is dropped
	promisedTo uint64 // leader's incarnation that has the promise; 0 if from a snapshot
	member     bool   // remembers all that it acknowledged in any incarnation
	fetch      *fetch // snapshot under way; never nil while not a member
	cut        *cut   // snapshot that a recovering leader reads
}

func newFollower(n *Node) *follower {
	return &follower{Node: n, fetch: &fetch{from: leaderID}}
}

func (f *follower) tick(now time.Time) time.Time {
	if f.fetch == nil {
		return time.Time{} // all that a member does is answer
	}
	if f.fetch.retry.due(now) {
		f.tell(leaderID, f.fetch.pull(now, f.nonce))
	}
	return f.fetch.retry.at
}

func (f *follower) handle(now time.Time, m *wire.Message, from netip.AddrPort) error {
	if m.Kind == wire.Put {
		f.send(from, &wire.Message{Kind: wire.PutReply, Nonce: m.Nonce, Req: m.Req, Status: wire.NotLeader})
		return nil
	}
	if m.From != leaderID {
		return nil
	}
	switch m.Kind {
	case wire.Prepare:
		f.prepare(m)
	case wire.Append:
		f.append(m)
	case wire.Pull:
		f.pull(now, m)
	case wire.Chunk:
		f.chunk(now, m)
	}
	return nil
}

// prepare promises the leader's new incarnation to drop what is older.
func (f *follower) prepare(m *wire.Message) {
	reply := wire.Message{Kind: wire.Promise, Nonce: m.Nonce}
	switch {
	case m.Epoch > f.epoch:
		f.enter(m.Epoch, m.Nonce)
	case m.Nonce == f.promisedTo: // it has the promise, which may have been lost
	default:
		reply.Status = wire.Refused
	}
	reply.Epoch, reply.Member, reply.Seq = f.epoch, f.member, f.store.last
	f.tell(leaderID, &reply)
}

// enter begins an epoch. A snapshot of an earlier one must not come in any more.
func (f *follower) enter(epoch, leader uint64) {
	f.epoch, f.promisedTo, f.cut = epoch, leader, nil
	f.fetch = nil
	if !f.member {
		f.fetch = &fetch{from: leaderID, epoch: epoch}
	}
}

// append takes the puts that follow what it has, and answers with what it has
// then: that is all the leader needs to know about what was lost.
func (f *follower) append(m *wire.Message) {
	if m.Epoch < f.epoch || !f.member {
		return
	}
	if m.Epoch > f.epoch {
		f.enter(m.Epoch, 0)
	}
	f.cut = nil // the leader has recovered
	for _, e := range m.Entries {
		if e.Seq > f.store.last+1 {
			break
		}
		if e.Seq == f.store.last+1 {
			f.store.apply(e)
		}
	}
	switch {
	case m.Floor <= f.store.last:
		f.fetch = nil
	case f.fetch == nil:
		f.fetch = &fetch{from: leaderID, epoch: f.epoch}
	}
	f.ack()
}

func (f *follower) ack() {
	f.tell(leaderID, &wire.Message{Kind: wire.Ack, Epoch: f.epoch, Seq: f.store.last})
}

// pull lets a recovering leader read the state that was promised.
func (f *follower) pull(now time.Time, m *wire.Message) {
	if !f.member || m.Epoch != f.epoch || m.Nonce != f.promisedTo || m.Seq != f.store.last {
		return
	}
	if !f.cut.serves(now, m) {
		f.cut = newCut(now, m.Nonce, f.epoch, f.store)
	}
	for i := range f.cut.window(m.Index) {
		f.tell(leaderID, &f.cut.chunks[int(m.Index)+i])
	}
}

// chunk collects a snapshot that this incarnation asked for, and takes it over
// when it is complete and newer than what the follower has.
func (f *follower) chunk(now time.Time, m *wire.Message) {
	if f.fetch == nil || m.Nonce != f.nonce {
		return
	}
	f.fetch.add(now, m)
	if !f.fetch.complete() {
		return
	}
	done := f.fetch
	if !f.member || done.seq > f.store.last {
		f.store.replace(done.store())
		f.logf("caught up to put %d of epoch %d", done.seq, done.epoch)
	}
	f.member = true
	if done.epoch > f.epoch {
		f.enter(done.epoch, 0)
	}
	f.fetch = nil
	f.ready.Store(true)
	f.ack()
}
