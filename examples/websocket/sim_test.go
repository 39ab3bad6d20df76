//go:build dst

package websocket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

const path = "/var/lib/room"

var users = []string{"user0", "user1", "user2"}

var usual = simnet.Link{
	Latency:   simnet.Uniform(500*time.Microsecond, 20*time.Millisecond),
	Loss:      0.01,
	Duplicate: 0.01,
	Reorder:   0.01,
}

// A day is one run, and what its oracle knows.
type day struct {
	w *dst.World
	flaw

	mu    sync.Mutex
	wrong []string
	said  map[string][]string // IDs, by user
	seen  map[string][]message
	ends  map[string]int // why connections ended
	left  int
}

// fault notes that something happened that must not.
func (d *day) fault(format string, args ...any) {
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
	d.w.Logf("WRONG: %s", d.wrong[len(d.wrong)-1])
}

// use is a user who says so many things.
func (d *day) use(user string, count int) {
	rng := d.w.Rand()
	r := newReader(user, "ws://server:80/", d.flaw, func(m message) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if m.At != len(d.seen[user]) && len(d.wrong) == 0 {
			d.fault("%s saw the message at %d after %d messages", user, m.At, len(d.seen[user]))
		}
		d.seen[user] = append(d.seen[user], m)
	}, func(err error) {
		d.w.Logf("connection ended: %v", err)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ends[reason(err)]++
	})
	go r.run(context.Background())
	for i := range count {
		m := message{ID: fmt.Sprint(user, "-", i), Text: strings.Repeat(fmt.Sprint("text ", rng.IntN(10)), rng.IntN(300))}
		d.mu.Lock()
		d.said[user] = append(d.said[user], m.ID)
		d.mu.Unlock()
		r.say(m)
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
	}
	for r.pending() > 0 {
		time.Sleep(100 * time.Millisecond)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left--
}

// reason is an error without what differs from one to the other.
func reason(err error) string {
	for _, s := range []string{"connection refused", "connection reset by peer", "broken pipe", "EOF", "use of closed network connection", "connection timed out"} {
		if strings.Contains(err.Error(), s) {
			return s
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "deadline exceeded"
	}
	return err.Error()
}

func (d *day) log() (log []message) {
	data, err := d.w.Host("server").Disk().ReadFile(path)
	if err != nil {
		d.w.Fatalf("%v", err)
	}
	for line := range strings.Lines(string(data)) {
		var m message
		if json.Unmarshal([]byte(line), &m) == nil {
			log = append(log, m)
		}
	}
	return log
}

func (d *day) settled() error {
	data, err := d.w.Host("server").Disk().ReadFile(path)
	if err != nil {
		return err
	}
	there := bytes.Count(data, []byte("\n"))
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, user := range users {
		if len(d.seen[user]) < there {
			return fmt.Errorf("%s has seen %d messages of %d", user, len(d.seen[user]), there)
		}
	}
	if d.left > 0 {
		return fmt.Errorf("%d users are not done", d.left)
	}
	return nil
}

// within waits until f returns nil, for so long at most.
func (d *day) within(most time.Duration, what string, f func() error) {
	end := d.w.Elapsed() + most
	for err := f(); err != nil; err = f() {
		if d.w.Elapsed() > end {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.fault("not within %v: %s: %v", most, what, err)
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// check compares what was said, what the room has, and what was seen.
func (d *day) check() {
	log := d.log()
	d.mu.Lock()
	defer d.mu.Unlock()
	bySender := map[string][]string{}
	for _, m := range log {
		user, _, _ := strings.Cut(m.ID, "-")
		bySender[user] = append(bySender[user], m.ID)
	}
	for _, user := range users {
		if a, b := strings.Join(bySender[user], " "), strings.Join(d.said[user], " "); a != b {
			d.fault("%s said %d messages; the room has %d of that user: %s", user, len(d.said[user]), len(bySender[user]), a)
		}
		for i, m := range d.seen[user] {
			if i >= len(log) || log[i] != m {
				d.fault("%s saw %s at %d, which is not what the room has there", user, m.ID, i)
				break
			}
		}
	}
}

// disturb lets one thing go wrong for a while, and returns what it was.
func disturb(w *dst.World) string {
	rng, net, server := w.Rand(), w.Net(), w.Host("server")
	pause := func() { time.Sleep(time.Duration(rng.Int64N(int64(8 * time.Second)))) }
	user := users[rng.IntN(len(users))]
	switch rng.IntN(6) {
	case 0:
		net.Partition([]string{user})
		pause()
		net.Heal()
		return "partition"
	case 1:
		from, to := "server", user
		if rng.IntN(2) == 0 {
			from, to = to, from
		}
		net.Cut(from, to)
		pause()
		net.Mend(from, to)
		return "one-way cut"
	case 2:
		server.Crash()
		pause()
		server.Restart()
		return "crash"
	case 3:
		server.PowerLoss()
		pause()
		server.Restart()
		return "loss of power"
	case 4:
		server.Pause()
		pause()
		server.Resume()
		return "pause"
	default:
		net.SetLink("server", user, simnet.Link{Latency: usual.Latency, Bandwidth: 20_000, Queue: 20_000})
		pause()
		net.SetLink("server", user, usual)
		return "slow link"
	}
}

// A tally counts what happened in all runs.
type tally struct {
	runs, caught int
	virtual      time.Duration
	ends, faults map[string]int
}

func (s *tally) add(d *day) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.runs++
	s.virtual += d.w.Elapsed()
	if s.ends == nil {
		s.ends = map[string]int{}
	}
	for what, n := range d.ends {
		s.ends[what] += n
	}
	if len(d.wrong) > 0 {
		s.caught++
	}
	if d.flaw == none {
		for _, what := range d.wrong {
			d.w.Failf("%s", what)
		}
	}
}

func (s *tally) report(t *testing.T, f flaw) {
	t.Logf("%d runs of %v, %d with something wrong; ends %v; faults %v", s.runs, s.virtual, s.caught, s.ends, s.faults)
	if f != none && s.runs >= 100 && s.caught == 0 {
		t.Error("the flaw was never caught")
	}
}

// Each reader sees the room's messages in the room's order, without a gap or a
// repetition, over all its connections. What was said is in the room once, in its order.
func roomDay(w *dst.World, f flaw, s *tally) {
	d := &day{w: w, flaw: f, said: map[string][]string{}, seen: map[string][]message{}, ends: map[string]int{}, left: len(users)}
	w.Net().SetDefault(usual)
	server := w.Host("server", func() error { return serve(":80", path, f) })
	server.Disk().SetModel(simfs.Any) // ext4 keeps the name of a new file that is synced; others need not
	for _, user := range users {
		w.Host(user).Go(func() { d.use(user, 40) })
	}
	for range 5 {
		time.Sleep(time.Duration(w.Rand().Int64N(int64(2 * time.Second))))
		if s.faults == nil {
			s.faults = map[string]int{}
		}
		s.faults[disturb(w)]++
	}
	w.HealAll()
	d.within(30*time.Second, "all is said and seen", d.settled)
	d.check()
	s.add(d)
}

func TestRoom(t *testing.T) {
	var s tally
	dst.Run(t, func(w *dst.World) { roomDay(w, none, &s) }, dst.Seeds(20))
	s.report(t, none)
	if s.runs >= 50 && len(s.faults) != 6 {
		t.Errorf("of 6 kinds of faults only these happened: %v", s.faults)
	}
}

// What the oracle has to find.
func TestRoomFlaws(t *testing.T) {
	for _, c := range []struct {
		name string
		flaw
	}{{"noIDs", noIDs}, {"subscribeLate", subscribeLate}, {"resumeAtSent", resumeAtSent}, {"unsyncedName", unsyncedName}} {
		t.Run(c.name, func(t *testing.T) {
			var s tally
			dst.Run(t, func(w *dst.World) { roomDay(w, c.flaw, &s) }, dst.Seeds(5))
			s.report(t, c.flaw)
		})
	}
}
