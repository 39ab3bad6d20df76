//go:build dst

package tftp

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

const (
	files = "/srv/tftp"           // on the server
	slack = 20 * time.Millisecond // for what is computed and on its way
)

var clients = []string{"client0", "client1"}

// bad is a link of a bad day.
var bad = simnet.Link{
	Latency:   simnet.Uniform(time.Millisecond, 20*time.Millisecond),
	Loss:      0.1,
	Duplicate: 0.05,
	Reorder:   0.1,
}

// A transfer is one file on its way.
type transfer struct {
	client, op, name string
	wish
	data []byte
	pace
	begin, end time.Duration
	err        error
}

func (x *transfer) path() string { return "/home/" + x.name }

// run carries the transfer out. It is called on the client's host.
func (x *transfer) run(w *dst.World) {
	x.begin = w.Elapsed()
	if x.op == "put" {
		x.err = x.put("server:69", x.name, x.path(), &x.pace)
	} else {
		x.err = x.get("server:69", x.name, x.path(), &x.pace)
	}
	x.end = w.Elapsed()
	w.Logf("%s of %s, %d bytes, %v after %v: error %v", x.op, x.name, len(x.data), x.wish, x.end-x.begin, x.err)
}

// A day is one run: a server, its clients, and what happens to them.
type day struct {
	w *dst.World
	pairing
	store     store
	transfers []*transfer

	mu    sync.Mutex
	left  int            // clients that are not done
	busy  int            // handlers of the server that have not ended
	began map[string]int // "put NAME": handlers that began
	whole map[string]int // of these, that ended well
}

// begin declares the hosts, each with its files, and boots the server.
func begin(w *dst.World, how style, p pairing, transfers []*transfer) *day {
	d := &day{w: w, pairing: p, transfers: transfers, began: map[string]int{}, whole: map[string]int{}}
	for _, x := range transfers {
		x.patience = p.client
	}
	d.store = store{dir: files, style: how, began: func(op, name string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.busy++
		d.began[op+" "+name]++
	}, ended: func(op, name string, err error) {
		w.Logf("server: end of %s of %s: error %v", op, name, err)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.busy--
		if err == nil {
			d.whole[op+" "+name]++
		}
	}}
	w.Net().SetDefault(bad)
	// Sockets of both families, for both of the server's ways to read requests.
	addr := []string{":69", "server:69"}[w.Rand().IntN(2)]
	server := w.Host("server", func() error { return d.store.server(p.server).ListenAndServe(addr) })
	d.must(server.Disk().MkdirAll(files))
	for _, name := range clients {
		d.must(w.Host(name).Disk().MkdirAll("/home"))
	}
	for _, x := range transfers {
		if x.op == "put" {
			d.must(w.Host(x.client).Disk().WriteFile(x.path(), x.data))
		} else {
			d.must(server.Disk().WriteFile(files+"/"+x.name, x.data))
		}
	}
	return d
}

func (d *day) must(err error) {
	if err != nil {
		d.w.Fatalf("%v", err)
	}
}

// quick is less patient than tftp's defaults.
var quick = patience{timeout: 300 * time.Millisecond, retries: 6, backoff: 50 * time.Millisecond}

// A pairing is how patient the two ends are.
type pairing struct{ server, client patience }

var pairings = []pairing{{defaults, defaults}, {quick, quick}}

// chooseTransfer returns a transfer of some size and in some way.
func chooseTransfer(w *dst.World, client, op string, number, least, most int) *transfer {
	rng := w.Rand()
	size := least + rng.IntN(most-least)
	if rng.IntN(4) == 0 {
		size -= size % 512 // the last block is empty
	}
	x := &transfer{client: client, op: op, name: fmt.Sprint(client, "-", op, number), data: make([]byte, size)}
	for i := range x.data {
		x.data[i] = byte(rng.Uint32())
	}
	x.wish = wish{
		block: []int{0, 1428, 8192}[rng.IntN(3)], // 8192 is more than the server's MTU holds
		tsize: op == "get" && rng.IntN(2) == 0,
	}
	return x
}

// start has each client do its transfers, one after the other.
func (d *day) start() {
	d.left = len(clients)
	for _, name := range clients {
		d.w.Host(name).Go(func() {
			for _, x := range d.transfers {
				if x.client == name {
					x.run(d.w)
				}
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.left--
		})
	}
}

// moved tells how much of all files has reached someone.
func (d *day) moved() (share float64) {
	var bytes, all int64
	for _, x := range d.transfers {
		all += int64(len(x.data))
		bytes += x.bytes.Load()
	}
	return float64(bytes) / float64(all)
}

// clientsDone tells whether all clients are done.
func (d *day) clientsDone() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left > 0 {
		return fmt.Errorf("%d clients are not", d.left)
	}
	return nil
}

// serverDone tells whether the server has no transfer left.
func (d *day) serverDone() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy > 0 {
		return fmt.Errorf("%d transfers are not", d.busy)
	}
	return nil
}

// longest is how long the clients may take: each block its longest time.
func (d *day) longest() (most time.Duration) {
	for _, x := range d.transfers {
		blocks := len(x.data)/512 + 3 // request, options, last
		most += time.Duration(blocks) * (x.limit() + d.server.limit())
	}
	return most
}

// A fault is what goes wrong in the middle of a run.
type fault int

const (
	apart   fault = iota // the server is apart from both clients for a while
	forGood              // so until the clients have given up
	alone                // one client is apart from all others for a while
	oneWay               // nothing reaches one client, or nothing comes from it
	power                // the server loses power, and boots again
	faults
)

func (f fault) String() string {
	return []string{"apart", "for good", "alone", "one way", "power"}[f]
}

// disturb lets the fault happen when some of the bytes have moved, and returns
// when it is over: for good is when the clients are done. It tells since when, and
// whether transfers were under way.
func (d *day) disturb(f fault) (since time.Duration, middle bool) {
	rng, net := d.w.Rand(), d.w.Net()
	share := 0.1 + 0.7*rng.Float64()
	for d.moved() < share && d.clientsDone() != nil {
		time.Sleep(20 * time.Millisecond)
	}
	client := clients[rng.IntN(len(clients))]
	pause := time.Duration(rng.Int64N(int64(2 * d.client.limit()))) // half are too long for who waits
	since, middle = d.w.Elapsed(), d.clientsDone() != nil
	switch f {
	case apart, forGood:
		net.Partition([]string{"server"}, clients)
	case alone:
		net.Partition([]string{client})
	case oneWay:
		ends := []string{"server", client}
		if rng.IntN(2) == 0 {
			slices.Reverse(ends)
		}
		net.Cut(ends[0], ends[1])
	case power:
		d.w.Host("server").PowerLoss()
		d.mu.Lock()
		d.busy = 0
		d.mu.Unlock()
	}
	if f == forGood {
		d.w.Eventually("clients are done", d.longest(), d.clientsDone)
	} else {
		time.Sleep(pause)
	}
	net.Heal()
	if f == power {
		d.w.Host("server").Restart()
	}
	return since, middle
}

// hold fails the seed unless the file on a host's disk is exactly what was sent.
func (d *day) hold(x *transfer, host, path string) {
	if got, err := d.w.Host(host).Disk().ReadFile(path); err != nil {
		d.w.Failf("%s of %s (error %v): on %s: %v", x.op, x.name, x.err, host, err)
	} else if a, b := sha256.Sum256(got), sha256.Sum256(x.data); a != b {
		d.w.Failf("%s of %s (error %v): on %s: %d bytes with hash %x, want %d with hash %x", x.op, x.name, x.err, host, len(got), a, len(x.data), b)
	}
}

// check is the oracle for one transfer, when the server has come to rest.
func (d *day) check(x *transfer) {
	if most := x.limit() + slack; x.longest > most {
		d.w.Failf("%s of %s: nothing happened for %v, want %v at most", x.op, x.name, x.longest, most)
	}
	// An answer to the options that comes again starts the client's retries anew.
	if most := x.limit() + d.server.limit() + slack; x.first > most {
		d.w.Failf("%s of %s: nothing happened for %v at its begin, want %v at most", x.op, x.name, x.first, most)
	}
	there := files + "/" + x.name
	sent := d.whole[x.op+" "+x.name] // as the server sees it
	switch {
	case x.op == "put" && x.err == nil:
		d.hold(x, "server", there)
		if sent != 1 {
			d.w.Failf("put of %s succeeded, and at the server it did %d times", x.name, sent)
		}
	case x.op == "put":
		// The last acknowledgement may be what was lost.
		_, err := d.w.Host("server").Disk().ReadFile(there)
		if !errors.Is(err, fs.ErrNotExist) {
			d.hold(x, "server", there)
		} else if sent != 0 {
			d.w.Failf("put of %s: the server stored it, and it is not there", x.name)
		}
	case x.err == nil:
		d.hold(x, x.client, x.path())
	default:
		// What has arrived is right, as far as it goes.
		got, err := d.w.Host(x.client).Disk().ReadFile(x.path())
		if err != nil || !bytes.HasPrefix(x.data, got) {
			d.w.Failf("get of %s (error %v): the %d bytes that came are not the first of the file: %v", x.name, x.err, len(got), err)
		}
		if sent != 0 {
			d.w.Failf("get of %s: the server sent all, and the client got an error: %v", x.name, x.err)
		}
	}
}

// stored tells which files are on the server's disk.
func (d *day) stored() []string {
	names, err := d.w.Host("server").Disk().List(files)
	d.must(err)
	return names
}

// An outcome counts transfers.
type outcome struct {
	intact, failed int // for the client
	unsaid         int // everything arrived, and one end has an error
}

// A tally is what happened in all runs.
type tally struct {
	runs    int
	net     simnet.Counters
	faults  [faults]int            // in the middle of transfers
	ends    [2]map[string]*outcome // by pairing and operation
	reasons map[string]int
	again   int    // requests that the server took for new ones
	well    [5]int // runs by how many transfers were well
	virtual time.Duration
}

func (s *tally) add(d *day, f fault, middle bool) {
	s.runs++
	s.virtual += d.w.Elapsed()
	if middle {
		s.faults[f]++
	}
	if s.reasons == nil {
		s.reasons = map[string]int{}
		for m := range s.ends {
			s.ends[m] = map[string]*outcome{"put": {}, "get": {}}
		}
	}
	well := 0
	for _, x := range d.transfers {
		key := x.op + " " + x.name
		s.again += max(d.began[key]-1, 0)
		o := s.ends[slices.Index(pairings, d.pairing)][x.op]
		if (x.err == nil) != (d.whole[key] > 0) {
			o.unsaid++
		}
		if x.err == nil {
			o.intact++
			well++
			continue
		}
		o.failed++
		s.reasons[reason(x.err)]++
	}
	s.well[well]++
}

// reason is an error without what differs from one to the other.
func reason(err error) string {
	text := err.Error()
	if strings.Contains(text, "i/o timeout") {
		side := "timeout"
		if strings.Contains(text, "code") {
			side = "the server's timeout"
		}
		return side
	}
	return text
}

// report shows the tally, and fails the test if a fault never fired.
func (s *tally) report(t *testing.T) {
	t.Logf("%d runs, %v of virtual time; with 0, 1, … 4 of 4 transfers intact: %v", s.runs, s.virtual, s.well)
	for m := range pairings {
		for _, op := range []string{"put", "get"} {
			if o := s.ends[m][op]; o != nil {
				t.Logf("timeout %v, %s: %d intact, %d errors; whole, and one end has an error: %d", pairings[m].client.timeout, op, o.intact, o.failed, o.unsaid)
			}
		}
	}
	t.Logf("errors: %v; requests that the server took for new ones: %d", s.reasons, s.again)
	t.Logf("datagrams: %d sent, %d lost, %d duplicated, %d reordered, %d cut", s.net.Sent, s.net.Lost, s.net.Duplicated, s.net.Reordered, s.net.Cut)
	for f := range faults {
		t.Logf("fault %q, in the middle of transfers: %d", f, s.faults[f])
	}
	if s.net.Lost == 0 || s.net.Duplicated == 0 || s.net.Reordered == 0 {
		t.Error("loss, duplication and reordering have not all happened")
	}
	if s.runs < 50 { // fewer seeds, as when one is run again, may miss a fault
		return
	}
	if s.net.Cut == 0 || slices.Contains(s.faults[:], 0) {
		t.Error("faults have not all happened")
	}
	for m := range pairings {
		for op, o := range s.ends[m] {
			if o.intact == 0 || o.failed == 0 || o.unsaid == 0 {
				t.Errorf("timeout %v, %s: %d intact, %d errors, %d whole with an error at one end: want some of each", pairings[m].client.timeout, op, o.intact, o.failed, o.unsaid)
			}
		}
	}
}

// Whatever the network does, a transfer ends in bounded time, and if it is said
// to have succeeded, every byte is there, and survives a loss of power.
func TestTransfers(t *testing.T) {
	var s tally
	dst.Run(t, func(w *dst.World) {
		var transfers []*transfer
		for _, name := range clients {
			ops := []string{"put", "get"}
			if w.Rand().IntN(2) == 0 {
				slices.Reverse(ops)
			}
			for i, op := range ops {
				transfers = append(transfers, chooseTransfer(w, name, op, i, 200<<10, 500<<10))
			}
		}
		d := begin(w, careful, pairings[w.Rand().IntN(len(pairings))], transfers)
		d.start()
		f := fault(w.Rand().IntN(int(faults)))
		since, middle := d.disturb(f)
		w.Eventually("clients are done", d.longest(), d.clientsDone)
		if f == forGood {
			for _, x := range transfers {
				if most := x.limit() + slack; x.end-max(x.begin, since) > most {
					w.Failf("%s of %s: it took %v to give up, want %v at most", x.op, x.name, x.end-max(x.begin, since), most)
				}
			}
		}
		w.Eventually("the server is done", d.server.limit()+time.Second, d.serverDone)

		for _, x := range transfers {
			d.check(x)
		}
		for _, name := range d.stored() {
			if strings.HasSuffix(name, ".part") && f != power {
				w.Failf("the server has left %s", name)
			}
		}
		total := w.Net().Total()
		s.net.Sent += total.Sent
		s.net.Lost += total.Lost
		s.net.Duplicated += total.Duplicated
		s.net.Reordered += total.Reordered
		s.net.Cut += total.Cut
		s.add(d, f, middle)

		w.Host("server").PowerLoss()
		w.Host("server").Restart()
		for _, x := range transfers {
			if x.op == "put" && x.err == nil {
				d.hold(x, "server", files+"/"+x.name)
			}
		}
		w.Net().SetDefault(simnet.Link{Latency: simnet.Constant(time.Millisecond)})
		for _, x := range transfers {
			if x.op == "get" || x.err == nil {
				y := &transfer{client: x.client, op: "get", name: x.name, wish: x.wish, data: x.data}
				w.Host(x.client).Do(func() { y.run(w) })
				if y.err != nil {
					w.Failf("get of %s, undisturbed: %v", x.name, y.err)
				}
				d.hold(y, y.client, y.path())
			}
		}
		for _, x := range transfers {
			w.Logf("%s of %s: error %v", x.op, x.name, x.err)
		}
	}, dst.Seeds(10), dst.Limit(10000*time.Hour))
	s.report(t)
}

// What the protocol does not give, and the server's handler has to: a request that
// arrives twice, or again, begins two transfers of one file. One of them dies, long
// after the other has succeeded. A handler that writes in place loses files that
// clients were told are stored; one that refuses files that are there tells clients
// so of their own.
func TestInPlace(t *testing.T) {
	for _, c := range []struct {
		name string
		how  style
	}{{"careful", careful}, {"overwrite", overwrite}, {"exclusive", exclusive}} {
		t.Run(c.name, func(t *testing.T) {
			var (
				runs, puts, acked, lost, wrong int
				partial                        int // the client has an error, and there is a part of the file
				first                          uint64
			)
			dst.Run(t, func(w *dst.World) {
				var transfers []*transfer
				for _, name := range clients {
					for i := range 6 {
						transfers = append(transfers, chooseTransfer(w, name, "put", i, 10<<10, 20<<10))
					}
				}
				d := begin(w, c.how, pairing{quick, quick}, transfers)
				d.start()
				w.Eventually("clients are done", d.longest(), d.clientsDone)
				w.Eventually("the server is done", d.server.limit()+time.Second, d.serverDone)
				runs++
				for _, x := range transfers {
					puts++
					got, err := w.Host("server").Disk().ReadFile(files + "/" + x.name)
					same := bytes.Equal(got, x.data)
					switch {
					case x.err != nil:
						if err == nil && !same {
							partial++
						}
						continue
					case same:
						acked++
						continue
					case err != nil:
						lost++
					default:
						wrong++
					}
					if first == 0 {
						first = w.Seed()
					}
					acked++
					w.Logf("%s was stored, and is not what was sent: %v", x.name, err)
				}
			}, dst.Seeds(20))
			t.Logf("%d runs, %d puts, %d succeeded; of these files %d are gone and %d have other content (first under seed %d); %d failed and left a part", runs, puts, acked, lost, wrong, first, partial)
			if c.how == careful && lost+wrong+partial > 0 {
				t.Error("the careful handler lost files")
			}
			if runs >= 20 && c.how == overwrite && lost == 0 {
				t.Error("no file was lost: the test tests nothing")
			}
			if runs >= 20 && c.how == exclusive && partial == 0 {
				t.Error("no part was left: the test tests nothing")
			}
		})
	}
}

// Which end repeats what was lost: only the one that sent it, since neither an
// acknowledgement nor a block that comes twice is answered. So one lost datagram ends
// a transfer whose other end gives up before that one's timeout.
func TestOneLost(t *testing.T) {
	for _, c := range []struct {
		op, from, to string // loses a datagram: a block, or an acknowledgement
		pairing
		fails bool
	}{
		{"get", "server", "client0", pairing{defaults, defaults}, false}, // a block
		{"get", "client0", "server", pairing{defaults, defaults}, false}, // an acknowledgement
		{"put", "server", "client0", pairing{defaults, defaults}, false}, // an acknowledgement
		{"put", "client0", "server", pairing{defaults, defaults}, false}, // a block
		{"get", "server", "client0", pairing{defaults, quick}, true},
		{"get", "client0", "server", pairing{defaults, quick}, false},
		{"put", "server", "client0", pairing{defaults, quick}, true},
		{"put", "client0", "server", pairing{defaults, quick}, false},
		{"get", "server", "client0", pairing{quick, defaults}, false},
		{"get", "client0", "server", pairing{quick, defaults}, true},
		{"put", "server", "client0", pairing{quick, defaults}, false},
		{"put", "client0", "server", pairing{quick, defaults}, true},
	} {
		t.Run(fmt.Sprintf("%s/from=%s/timeouts=%v,%v", c.op, c.from, c.server.timeout, c.client.timeout), func(t *testing.T) {
			dst.Run(t, func(w *dst.World) {
				x := chooseTransfer(w, "client0", c.op, 0, 90<<10, 100<<10)
				d := begin(w, careful, c.pairing, []*transfer{x})
				w.Net().SetDefault(simnet.Link{Latency: simnet.Constant(5 * time.Millisecond)})
				d.start()
				for d.moved() < 0.5 {
					time.Sleep(time.Millisecond)
				}
				w.Net().Cut(c.from, c.to)
				for w.Net().Counters(c.from, c.to).Cut == 0 {
					time.Sleep(time.Millisecond)
				}
				w.Net().Mend(c.from, c.to)
				w.Eventually("the client is done", d.longest(), d.clientsDone)
				w.Eventually("the server is done", d.server.limit()+time.Second, d.serverDone)
				if n := w.Net().Total().Cut; n != 1 {
					w.Failf("%d datagrams were lost, want 1", n)
				}
				if (x.err != nil) != c.fails {
					w.Failf("%s after one lost datagram: error %v, want one: %v", c.op, x.err, c.fails)
				}
				d.check(x)
			}, dst.Seeds(2))
		})
	}
}
