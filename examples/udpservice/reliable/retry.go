package reliable

import (
	"math/rand/v2"
	"time"
)

// Waits between sending something and sending it again: the first, and the
// longest after doubling each time.
const (
	firstRetry = 40 * time.Millisecond
	lastRetry  = 800 * time.Millisecond
)

// retry is when to send something (again).
type retry struct {
	at   time.Time
	wait time.Duration
}

// due tells whether it is time.
func (r *retry) due(now time.Time) bool { return !now.Before(r.at) }

// sent sets the next time, each further away than the one before, and a little
// off, so that nodes that began together do not stay in step.
func (r *retry) sent(now time.Time) {
	r.wait = min(max(2*r.wait, firstRetry), lastRetry)
	r.at = now.Add(r.wait + rand.N(r.wait/4))
}

// earliest returns the earlier of two times, where zero is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
