package simnet

import "slices"

// This file is the sender's side of selective acknowledgement: what the peer
// has beyond what is confirmed (RFC 2018), and what to send again (RFC 6675).

// hear notes the blocks that an ACK tells of, and reports whether any of it is
// news.
func (t *TCP) hear(g *segment) (news bool) {
	for _, b := range g.sack[:g.sacks] {
		b.from, b.to = max(b.from, t.una, g.ack), min(b.to, t.max)
		if b.from >= b.to {
			continue
		}
		i := t.beyond(b.from - 1) // the first that b touches or comes before
		if i < len(t.sacked) && t.sacked[i].from <= b.from && b.to <= t.sacked[i].to {
			continue // known
		}
		news = true
		j := i
		for j < len(t.sacked) && t.sacked[j].from <= b.to {
			j++
		}
		if i < j {
			b.from, b.to = min(b.from, t.sacked[i].from), max(b.to, t.sacked[j-1].to)
		}
		t.sacked = slices.Replace(t.sacked, i, j, b)
	}
	return news
}

// beyond returns the index of the first block that ends beyond seq.
func (t *TCP) beyond(seq int64) int {
	for i, b := range t.sacked {
		if b.to > seq {
			return i
		}
	}
	return len(t.sacked)
}

// confirm drops the blocks that una has passed.
func (t *TCP) confirm() {
	if i := t.beyond(t.una); i > 0 {
		t.sacked = slices.Delete(t.sacked, 0, i)
	}
}

// lost tells whether what lies before the block with an index counts as lost:
// three blocks came from beyond it, or more than two segments' bytes.
func (t *TCP) lost(i int) bool {
	bytes := int64(0)
	for k := i; k < len(t.sacked); k++ {
		bytes += t.sacked[k].to - t.sacked[k].from
		if k-i == 2 || bytes > 2*int64(t.mss) {
			return true
		}
	}
	return false
}

// pipe is how many bytes are thought to be on their way.
func (t *TCP) pipe() int {
	pipe, at := int64(0), t.una
	top := t.max
	if t.nxt < t.max { // after a timeout all counts as lost that was not sent again
		top = t.nxt
	}
	for i, b := range t.sacked {
		to := min(b.from, top)
		if to > at {
			if t.nxt < t.max || !t.recovering || !t.lost(i) {
				pipe += to - at
			}
			if t.recovering {
				pipe += max(0, min(to, t.resent)-at)
			}
		}
		at = b.to
	}
	return int(pipe + max(0, top-at))
}

// fill sends a segment again that the peer does not have: one that counts as
// lost or, with sure false, any that others came after. It reports whether there
// was one.
func (t *TCP) fill(mss int, sure bool) bool {
	at := max(t.una, t.resent)
	for i, b := range t.sacked {
		if at < b.from {
			if sure && !t.lost(i) {
				return false
			}
			t.resend(at, int(min(int64(mss), b.from-at)))
			return true
		}
		at = max(at, b.to)
	}
	return false
}
