package reliable

import "github.com/dstkit/dst/examples/udpservice/wire"

// keepPuts is how many puts that a follower holds already the leader keeps for
// the other one, which would need a snapshot otherwise.
const keepPuts = 1024

// putLog is the leader's puts after floor, without gaps.
type putLog struct {
	floor   uint64
	entries []wire.Entry // entries[i] has sequence number floor+1+i
}

func (l *putLog) last() uint64 { return l.floor + uint64(len(l.entries)) }

func (l *putLog) append(e wire.Entry) { l.entries = append(l.entries, e) }

// after returns the puts that follow seq; none if the log does not reach back
// to it. They are valid until the next trim.
func (l *putLog) after(seq uint64) []wire.Entry {
	if seq < l.floor || seq > l.last() {
		return nil
	}
	return l.entries[seq-l.floor:]
}

// trim drops the oldest puts but the last keepPuts of those up to commit.
func (l *putLog) trim(commit uint64) {
	if commit < l.floor+2*keepPuts {
		return // in strides of keepPuts, so that the copying is rare
	}
	n := commit - keepPuts - l.floor
	l.entries = append([]wire.Entry(nil), l.entries[n:]...)
	l.floor += n
}
