//go:build dst

package grpc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	file     = "/var/lib/journal"
	callMost = 2 * time.Second       // a call's deadline
	slack    = 50 * time.Millisecond // for what is computed
)

var (
	fronts = []string{"front0", "front1", "front2"}
	users  = []string{"user0", "user1", "user2"}
)

// usual is a link of a network that has its troubles.
var usual = simnet.Link{
	Latency:   simnet.Uniform(500*time.Microsecond, 10*time.Millisecond),
	Loss:      0.01,
	Duplicate: 0.01,
	Reorder:   0.01,
}

// lifetime returns a context that ends when the process is told to stop.
func lifetime() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	return ctx
}

// start declares the hosts: a journal, front ends, and users who know these by one name.
func start(w *dst.World, f flaw) {
	w.Host("journal", func() error {
		life := lifetime()
		j, err := openJournal(file, f)
		if err != nil {
			return err
		}
		return serve(":7000", ledger{j, life}, f, life, nil)
	})
	for _, name := range fronts {
		w.Host(name, func() error {
			back, err := dial("passthrough:///journal:7000", none)
			if err != nil {
				return err
			}
			life := lifetime()
			return serve(":7000", front{back, life}, f, life, nil)
		})
	}
	for _, name := range users {
		disk := w.Host(name).Disk()
		hosts, err := disk.ReadFile("/etc/hosts")
		if err != nil {
			w.Fatalf("%v", err)
		}
		for _, front := range fronts {
			hosts = fmt.Appendf(hosts, "%v fronts\n", w.Host(front).Addr())
		}
		if err := errors.Join(disk.Remove("/etc/hosts"), disk.WriteFile("/etc/hosts", hosts)); err != nil {
			w.Fatalf("%v", err)
		}
	}
}

// A day is one run, and what its oracle knows.
type day struct {
	w *dst.World
	flaw

	mu    sync.Mutex
	wrong []string            // what must not have happened
	acked map[string]uint64   // places that users were told
	seen  map[string][]string // what each user's watch has shown
	left  int                 // users that are not done
	codes map[string]int      // "kind code": calls
	acks  int                 // calls or answers
}

func newDay(w *dst.World, f flaw) *day {
	return &day{w: w, flaw: f, acked: map[string]uint64{}, seen: map[string][]string{}, codes: map[string]int{}}
}

// fault notes that something happened that must not.
func (d *day) fault(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
	d.w.Logf("WRONG: %s", d.wrong[len(d.wrong)-1])
}

// verdict fails the seed if something was wrong and the service has no flaw, and tells
// whether something was.
func (d *day) verdict() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flaw == none {
		for _, what := range d.wrong {
			d.w.Failf("%s", what)
		}
	}
	return len(d.wrong) > 0
}

// call makes a call with a deadline, and checks how long it took and how it ended.
func (d *day) call(kind string, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), callMost)
	if d.flaw == noDeadline {
		ctx, cancel = context.WithCancel(context.Background())
	}
	defer cancel()
	begin := d.w.Elapsed()
	err := f(ctx)
	took := d.w.Elapsed() - begin
	d.mu.Lock()
	d.codes[kind+" "+status.Code(err).String()]++
	d.mu.Unlock()
	d.w.Logf("%s: %v after %v", kind, err, took)
	if took > callMost+slack {
		d.fault("a %s took %v, its deadline was %v: %v", kind, took, callMost, err)
	}
	switch code := status.Code(err); code {
	case codes.OK, codes.Unavailable:
	case codes.DeadlineExceeded:
		if took < callMost-10*time.Millisecond {
			d.fault("a %s exceeded its deadline after %v: %v", kind, took, err)
		}
	default:
		d.fault("a %s ended with %v: %v", kind, code, err)
	}
	return err
}

func (d *day) ack(key string, at uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if was, ok := d.acked[key]; ok && was != at {
		d.wrong = append(d.wrong, fmt.Sprintf("%s was noted at %d, and then at %d", key, was, at))
	}
	d.acked[key] = at
	d.acks++
}

// untilAck waits until a user has been told something, for two seconds at most.
func (d *day) untilAck() {
	acks := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.acks
	}
	for i, was := 0, acks(); i < 2000 && acks() == was; i++ {
		time.Sleep(time.Millisecond)
	}
}

// use is a user who has so many things to note, and calls until all are acknowledged.
func (d *day) use(user string, c *client, rounds int) {
	rng := d.w.Rand()
	for i := range rounds {
		var keys []string
		for k := range 1 + rng.IntN(10) {
			keys = append(keys, fmt.Sprintf("%s-%d-%d", user, i, k))
		}
		kind := []string{"put", "import", "chat"}[rng.IntN(3)]
		for len(keys) > 0 {
			err := d.call(kind, func(ctx context.Context) error {
				switch kind {
				case "put":
					at, err := c.put(ctx, keys[0])
					if err == nil {
						d.ack(keys[0], at)
						keys = keys[1:]
					}
					return err
				case "import":
					n, err := c.importKeys(ctx, keys)
					if err == nil {
						if n != uint64(len(keys)) {
							d.fault("an import of %d keys succeeded, and counted %d", len(keys), n)
						}
						keys = nil
					}
					return err
				default:
					places, err := c.chat(ctx, keys)
					if len(places) > len(keys) || err == nil && len(places) < len(keys) {
						d.fault("a chat of %d keys had %d answers: %v", len(keys), len(places), err)
						places = nil
					}
					for i, at := range places {
						d.ack(keys[i], at)
					}
					keys = keys[len(places):]
					return err
				}
			})
			if err != nil {
				time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
			}
		}
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left--
}

// watch follows the journal, and goes on where it was when the stream ends.
func (d *day) watch(user string, c *client) {
	for {
		d.mu.Lock()
		from := len(d.seen[user])
		d.mu.Unlock()
		if d.flaw == resumeBehind && from > 0 {
			from--
		}
		err := c.watch(context.Background(), uint64(from), func(key string) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.seen[user] = append(d.seen[user], key)
			return nil
		})
		d.mu.Lock()
		d.codes["watch "+status.Code(err).String()]++
		d.mu.Unlock()
		d.w.Logf("watch: %v", err)
		if code := status.Code(err); code != codes.Unavailable {
			d.fault("a watch ended with %v: %v", code, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// noted returns what is on the journal's disk.
func (d *day) noted() []string {
	data, err := d.w.Host("journal").Disk().ReadFile(file)
	if err != nil {
		d.w.Fatalf("%v", err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// settled tells whether all users have noted everything and seen everything.
func (d *day) settled() error {
	notes := d.noted()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left > 0 {
		return fmt.Errorf("%d users are not done", d.left)
	}
	for _, user := range users {
		if len(d.seen[user]) < len(notes) {
			return fmt.Errorf("%s has seen %d entries of %d", user, len(d.seen[user]), len(notes))
		}
	}
	return nil
}

// check compares what users were told and shown with what the journal has.
func (d *day) check() {
	notes := d.noted()
	places := map[string]int{}
	for i, key := range notes {
		if at, ok := places[key]; ok {
			d.fault("%s is in the journal twice, at %d and %d", key, at, i)
		}
		places[key] = i
	}
	for _, key := range slices.Sorted(maps.Keys(d.acked)) {
		if at, ok := places[key]; !ok {
			d.fault("%s was acknowledged at %d, and is not there", key, d.acked[key])
		} else if d.acked[key] != uint64(at) {
			d.fault("%s was acknowledged at %d, and is at %d", key, d.acked[key], at)
		}
	}
	for _, user := range users {
		for i, key := range d.seen[user] {
			if i >= len(notes) || notes[i] != key {
				d.fault("%s saw %s at %d, which is not what is there", user, key, i)
				break
			}
		}
	}
}

// within waits until f returns nil, for so long at most.
func (d *day) within(most time.Duration, what string, f func() error) {
	end := d.w.Elapsed() + most
	for err := f(); err != nil; err = f() {
		if d.w.Elapsed() > end {
			d.fault("not within %v: %s: %v", most, what, err)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// A tally counts what happened in all runs.
type tally struct {
	runs, caught int
	virtual      time.Duration
	codes        map[string]int
	faults       map[string]int
}

func (s *tally) add(d *day) {
	s.runs++
	s.virtual += d.w.Elapsed()
	if s.codes == nil {
		s.codes = map[string]int{}
	}
	for what, n := range d.codes {
		s.codes[what] += n
	}
	if d.verdict() {
		s.caught++
	}
}

// report shows the tally. A flaw must have been caught in some of the runs.
func (s *tally) report(t *testing.T, f flaw) {
	t.Logf("%d runs of %v, %d with something wrong; calls %v; faults %v", s.runs, s.virtual, s.caught, s.codes, s.faults)
	if f != none && s.runs >= 100 && s.caught == 0 {
		t.Error("the flaw was never caught")
	}
}
