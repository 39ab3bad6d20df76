package reliable

import (
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

// maxPulls is how often a leader asks for a snapshot without getting a new piece
// of it before it asks both followers afresh how they are.
const maxPulls = 20

// recovery is what a leader collects before it serves.
type recovery struct {
	promises [nodes]*wire.Message // by follower
	prepare  retry
	fetch    fetch // once both have promised
	stuck    bool  // has said that it cannot recover
}

// recover does what is due before serving.
func (l *leader) recover(now time.Time) time.Time {
	r := &l.recovery
	if l.phase == pulling {
		if !r.fetch.retry.due(now) {
			return r.fetch.retry.at
		}
		if r.fetch.tries < maxPulls {
			l.tell(r.fetch.from, r.fetch.pull(now, l.nonce))
			return r.fetch.retry.at
		}
		l.logf("follower %d does not hand out put %d", r.fetch.from, r.fetch.seq)
		l.phase, l.recovery = preparing, recovery{}
	}
	if r.prepare.due(now) {
		for _, id := range l.followers() {
			l.tell(id, &wire.Message{Kind: wire.Prepare, Nonce: l.nonce, Epoch: l.epoch})
		}
		r.prepare.sent(now)
	}
	return r.prepare.at
}

// promise takes a follower's answer to Prepare.
func (l *leader) promise(now time.Time, m *wire.Message) {
	if l.phase != preparing || m.Nonce != l.nonce {
		return
	}
	r := &l.recovery
	switch {
	case m.Status == wire.Refused:
		if m.Epoch >= l.epoch { // else of an earlier try
			l.epoch = m.Epoch + 1
			*r = recovery{}
		}
		return
	case m.Epoch != l.epoch:
		return
	}
	r.promises[m.From] = m
	a, b := r.promises[1], r.promises[2]
	switch {
	case a == nil || b == nil:
	case a.Member && b.Member:
		best := a
		if b.Seq > a.Seq {
			best = b
		}
		if best.Seq == 0 {
			l.serve()
			return
		}
		l.phase = pulling
		r.fetch = fetch{from: int(best.From), epoch: l.epoch, seq: best.Seq}
	case !a.Member && !b.Member:
		l.logf("no node remembers anything: starts empty")
		l.serve()
	case !r.stuck:
		r.stuck = true
		l.logf("one follower remembers nothing, so acknowledged puts may be lost: does not serve")
	}
}

// chunk collects the state of the follower that has the most.
func (l *leader) chunk(now time.Time, m *wire.Message) {
	f := &l.recovery.fetch
	if l.phase != pulling || m.Nonce != l.nonce || int(m.From) != f.from || m.Epoch != f.epoch || m.Seq != f.seq {
		return
	}
	f.add(now, m)
	if f.complete() {
		l.store.replace(f.store())
		l.serve()
	}
}
