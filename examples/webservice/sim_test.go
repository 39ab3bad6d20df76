//go:build dst

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/examples/webservice/client"
	"github.com/dstkit/dst/examples/webservice/ledger"
	"github.com/dstkit/dst/examples/webservice/pki"
	"github.com/dstkit/dst/simnet"
)

const (
	clients   = 3                      // the first asks by HTTP/1.1, the others by HTTP/2
	workers   = 3                      // goroutines of a client
	rounds    = 12                     // of the fault schedule
	lateness  = 100 * time.Millisecond // virtual, by which a call may miss its deadline …
	lateness2 = 5 * time.Second        // … and how much more by HTTP/2: see README.md
	calmAfter = time.Minute            // virtual, from the last fault until all is well
)

var wan = simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond), Loss: 0.02, Reorder: 0.02, Bandwidth: 50e6}

// A site is the server, its clients and what the oracle knows.
type site struct {
	w      *dst.World
	flaw   ledger.Flaw
	cflaw  client.Flaw
	cert   tls.Certificate
	roots  *x509.CertPool
	server *dst.Host
	stop   atomic.Bool
	left   atomic.Int32 // workers that have not ended

	mu      sync.Mutex // never held while waiting
	wrong   error      // what was found first
	ids     int64
	orders  map[int64]string         // account, by amount: each order has an amount of its own
	acked   map[int64]ledger.Receipt // orders that were acknowledged
	files   []int64                  // that somebody uploaded
	stored  map[int64]bool           // whose upload was acknowledged
	retries int
	streams int // downloads and statements that were complete
	cut     int // and those that were not
}

func newSite(w *dst.World, flaw ledger.Flaw, cflaw client.Flaw) *site {
	s := &site{w: w, flaw: flaw, cflaw: cflaw, orders: map[int64]string{}, acked: map[int64]ledger.Receipt{}, stored: map[int64]bool{}}
	w.Net().SetDefault(wan)
	w.Host("authority").Do(func() {
		cert, pem, err := pki.New("server")
		if err == nil {
			s.roots, err = pki.Roots(pem)
		}
		if err != nil {
			w.Fatalf("%v", err)
		}
		s.cert = cert
	})
	s.server = w.Host("server", func() error {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		return ledger.Run(ctx, ledger.Config{Addr: ":443", Cert: s.cert, Dir: "/var/lib/ledger", Log: log.New(os.Stdout, "", 0), Flaw: flaw})
	})
	return s
}

func (s *site) client(http2 bool) *client.Client {
	return client.New(client.Config{URL: "https://server", Roots: s.roots, HTTP2: http2, OneTry: 3 * time.Second, Flaw: s.cflaw,
		Retried: func(err error) {
			s.mu.Lock()
			s.retries++
			s.mu.Unlock()
		}})
}

// found keeps what is wrong, and ends the run.
func (s *site) found(format string, a ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong == nil {
		s.wrong = fmt.Errorf(format, a...)
		s.w.Logf("found: %v", s.wrong)
	}
	s.stop.Store(true)
}

func (s *site) id() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return s.ids
}

// content is what file id holds: no two files have eight bytes in common.
func content(id int64) []byte {
	b := make([]byte, 1+id*7919%(64<<10))
	for i := 0; i+8 <= len(b); i += 8 {
		binary.BigEndian.PutUint64(b[i:], uint64(id)<<32|uint64(i))
	}
	return b
}

// A reader checks a download as it comes.
type reader struct {
	id   int64
	want []byte
	n    int
	err  error

	begun *atomic.Bool // if not nil: set with the first byte
}

func (r *reader) Write(b []byte) (int, error) {
	if rest := r.want[r.n:]; len(b) > len(rest) || !bytes.Equal(b, rest[:len(b)]) {
		r.err = fmt.Errorf("download of file %d: bytes %d to %d are not the file's", r.id, r.n, r.n+len(b))
		return 0, r.err
	}
	r.n += len(b)
	if r.begun != nil {
		r.begun.Store(true)
	}
	return len(b), nil
}

// work asks until it is told to stop.
func (s *site) work(c *client.Client, http2 bool) {
	defer s.left.Add(-1)
	late := lateness
	if http2 {
		late += lateness2
	}
	rng := s.w.Rand()
	for !s.stop.Load() {
		limit := time.Second + time.Duration(rng.IntN(15000))*time.Millisecond
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		start := time.Now()
		what := rng.IntN(10)
		switch {
		case what < 6:
			s.order(ctx, c, fmt.Sprint("account", rng.IntN(4)))
		case what < 8:
			s.upload(ctx, c)
		case what < 9:
			s.download(ctx, c)
		default:
			s.statement(ctx, c)
		}
		cancel()
		if took := time.Since(start); took > limit+late {
			s.found("a call with a timeout of %v took %v", limit, took)
		}
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
	}
}

func (s *site) order(ctx context.Context, c *client.Client, account string) error {
	id := s.id()
	s.mu.Lock()
	s.orders[id] = account
	s.mu.Unlock()
	receipt, err := c.Order(ctx, ledger.Order{Account: account, Amount: id})
	if err == nil {
		s.mu.Lock()
		s.acked[id] = receipt
		s.mu.Unlock()
	} else if refused(err) {
		s.found("order %d: %v", id, err)
	}
	return err
}

// refused tells whether the server found fault with the request.
func refused(err error) bool {
	var status *client.StatusError
	return errors.As(err, &status) && status.Code/100 == 4
}

func (s *site) upload(ctx context.Context, c *client.Client) error {
	id := s.id()
	s.mu.Lock()
	s.files = append(s.files, id)
	s.mu.Unlock()
	err := c.Upload(ctx, fmt.Sprint("file-", id), content(id))
	if err == nil {
		s.mu.Lock()
		s.stored[id] = true
		s.mu.Unlock()
	} else if refused(err) {
		s.found("upload %d: %v", id, err)
	}
	return err
}

func (s *site) download(ctx context.Context, c *client.Client) {
	s.mu.Lock()
	if len(s.files) == 0 {
		s.mu.Unlock()
		return
	}
	id := s.files[s.w.Rand().IntN(len(s.files))]
	s.mu.Unlock()
	s.fetch(ctx, c, id)
}

// fetch downloads a file, of which there has to be all or nothing.
func (s *site) fetch(ctx context.Context, c *client.Client, id int64) error {
	s.mu.Lock()
	stored := s.stored[id]
	s.mu.Unlock()
	r := &reader{id: id, want: content(id)}
	err := c.Download(ctx, fmt.Sprint("file-", id), r)
	var status *client.StatusError
	switch {
	case r.err != nil:
		s.found("%v", r.err)
	case err == nil && r.n != len(r.want):
		s.found("download of file %d: %d bytes of %d, said to be all", id, r.n, len(r.want))
	case errors.As(err, &status) && status.Code == 404 && stored:
		s.found("file %d, whose upload was acknowledged, is gone", id)
	}
	s.streamed(err)
	return err
}

func (s *site) streamed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.streams++
	} else {
		s.cut++
	}
}

// statement reads all orders, in which those that were acknowledged before have
// to be.
func (s *site) statement(ctx context.Context, c *client.Client) error {
	s.mu.Lock()
	need := make(map[int64]ledger.Receipt, len(s.acked))
	for id, r := range s.acked {
		need[id] = r
	}
	s.mu.Unlock()
	balances, seen, seq := map[string]int64{}, map[int64]int{}, 0
	err := c.Statement(ctx, func(e ledger.Entry) error {
		seq++
		s.mu.Lock()
		account, tried := s.orders[e.Amount]
		s.mu.Unlock()
		balances[e.Account] += e.Amount
		switch {
		case e.Seq != seq:
			s.found("entry %d is number %d of the statement", e.Seq, seq)
		case !tried || account != e.Account:
			s.found("entry %d is an order that nobody made: %+v", seq, e)
		case seen[e.Amount] != 0:
			s.found("order %d was applied at %d and again at %d", e.Amount, seen[e.Amount], seq)
		case e.Balance != balances[e.Account]:
			s.found("after entry %d, %s has %d, want %d", seq, e.Account, e.Balance, balances[e.Account])
		}
		if r, ok := need[e.Amount]; ok && (r != ledger.Receipt{Seq: e.Seq, Balance: e.Balance}) {
			s.found("order %d was acknowledged as %+v, and is %+v", e.Amount, r, e)
		}
		seen[e.Amount] = seq
		return nil
	})
	s.streamed(err)
	if err != nil {
		return err
	}
	lost := int64(0) // the first, that each run says the same
	for id := range need {
		if seen[id] == 0 && (lost == 0 || id < lost) {
			lost = id
		}
	}
	if lost != 0 {
		s.found("order %d, which was acknowledged, is not in the statement of %d", lost, seq)
	}
	return nil
}

// faults lets the network and the server fail, as the seed decides.
func (s *site) faults() (ends int) {
	rng, net := s.w.Rand(), s.w.Net()
	for range rounds {
		if s.stop.Load() {
			break
		}
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
		one := fmt.Sprint("client", rng.IntN(clients))
		switch rng.IntN(12) {
		case 0, 1:
			net.Partition([]string{"server"}, []string{one})
		case 2:
			net.Cut("server", one)
		case 3:
			net.Cut(one, "server")
		case 4:
			s.server.Pause()
		case 5:
			s.server.Crash()
			ends++
		case 6, 7:
			s.server.PowerLoss()
			ends++
		case 8:
			s.server.Resume()
			s.server.Stop()
			ends++
		default:
			s.w.HealAll() // restarts the server, too, unless it was stopped
		}
		if !s.server.Running() && rng.IntN(2) == 0 {
			s.server.Restart()
		}
	}
	return ends
}

// run runs clients and faults, and returns what was found.
func (s *site) run() (ends int, err error) {
	s.left.Store(clients * workers)
	all := make([]*client.Client, clients)
	for i := range clients {
		h := s.w.Host(fmt.Sprint("client", i))
		h.Do(func() { all[i] = s.client(i > 0) })
		for range workers {
			h.Go(func() { s.work(all[i], i > 0) })
		}
	}
	ends = s.faults()
	s.stop.Store(true)
	s.w.HealAll()
	if !s.server.Running() {
		s.server.Restart()
	}
	time.Sleep(25 * time.Second) // more than the longest timeout
	if n := s.left.Load(); n > 0 {
		s.found("%d workers have not ended", n)
		return ends, s.wrong
	}
	// Each client gets through, over the connections that it has.
	for i, c := range all {
		s.w.Host(fmt.Sprint("client", i)).Do(func() {
			ctx, cancel := context.WithTimeout(context.Background(), calmAfter)
			defer cancel()
			if err := s.order(ctx, c, "last"); err != nil {
				s.found("client %d does not get through when all is well: %v", i, err)
			}
		})
	}
	s.w.Host("auditor").Do(func() {
		c := s.client(true)
		ctx, cancel := context.WithTimeout(context.Background(), calmAfter)
		defer cancel()
		if err := s.again(func() error { return s.statement(ctx, c) }); err != nil {
			s.found("the last statement: %v", err)
		}
		for _, id := range s.files {
			if err := s.again(func() error { return s.fetch(ctx, c, id) }); err != nil && !refused(err) {
				s.found("file %d: %v", id, err)
			}
		}
	})
	return ends, s.wrong
}

// again tries a few times what is done in one try, since packets are lost still.
func (s *site) again(f func() error) (err error) {
	for range 5 {
		if err = f(); err == nil || refused(err) {
			return err
		}
	}
	return err
}

// What was acknowledged is there, once and whole, whatever fails; calls end in
// time. All of it: DST_SEEDS=100.
func TestLedger(t *testing.T) {
	runs, ends, acked, stored, streams, cut, retries := 0, 0, 0, 0, 0, 0, 0
	dst.Run(t, func(w *dst.World) {
		s := newSite(w, ledger.None, client.None)
		n, err := s.run()
		if err != nil {
			w.Failf("%v", err)
		}
		runs, ends, acked, stored = runs+1, ends+n, acked+len(s.acked), stored+len(s.stored)
		streams, cut, retries = streams+s.streams, cut+s.cut, retries+s.retries
	}, dst.Seeds(5))
	t.Logf("%d runs: the server ended %d times; %d orders and %d uploads acknowledged, %d streams whole and %d not, %d tries again",
		runs, ends, acked, stored, streams, cut, retries)
	if runs >= 10 && (ends < 2*runs || acked < 20*runs || stored < 5*runs || streams < 5*runs || cut == 0 || retries < runs) {
		t.Errorf("that tests too little")
	}
}

// Each flaw is found, under some seeds. All of it: DST_SEEDS=20.
func TestFlaws(t *testing.T) {
	for _, test := range []struct {
		flaw  ledger.Flaw
		cflaw client.Flaw
	}{
		{flaw: ledger.AckBeforeSync}, {flaw: ledger.KeysInMemory},
		{flaw: ledger.WritesInPlace}, {flaw: ledger.NoFolderSync}, {flaw: ledger.SharedBuffer},
		{cflaw: client.KeyATry},
	} {
		t.Run(strings.ReplaceAll(string(test.flaw)+string(test.cflaw), " ", "_"), func(t *testing.T) {
			runs, found, first := 0, 0, error(nil)
			dst.Run(t, func(w *dst.World) {
				s := newSite(w, test.flaw, test.cflaw)
				_, err := s.run()
				runs++
				if err != nil {
					if found++; first == nil {
						first = fmt.Errorf("seed %d: %w", w.Seed(), err)
					}
				}
			}, dst.Seeds(4))
			t.Logf("found under %d of %d seeds, first: %v", found, runs, first)
			if runs >= 20 && found == 0 {
				t.Errorf("not found under %d seeds", runs)
			}
		})
	}
}

// A server that is stopped answers what it was asked before: streams go on to
// their end, and what is acknowledged is there after the restart.
func TestShutdown(t *testing.T) {
	for _, flaw := range []ledger.Flaw{ledger.None, ledger.NoShutdown} {
		t.Run(strings.ReplaceAll(string(flaw), " ", "_"), func(t *testing.T) {
			runs, found, stopped := 0, 0, 0
			dst.Run(t, func(w *dst.World) {
				runs++
				if err := shutdown(w, flaw, &stopped); err != nil {
					found++
					if flaw == ledger.None {
						w.Failf("%v", err)
					}
				}
			}, dst.Seeds(10))
			t.Logf("%d downloads were under way; something was lost under %d of %d seeds", stopped, found, runs)
			if runs >= 10 && (stopped < runs || flaw != ledger.None && found == 0) {
				t.Errorf("that tests too little")
			}
		})
	}
}

// shutdown stops the server once; it adds the downloads under way to stopped.
func shutdown(w *dst.World, flaw ledger.Flaw, stopped *int) error {
	s := newSite(w, flaw, client.None)
	const files = 8
	w.Host("uploader").Do(func() {
		c := s.client(true)
		for range files {
			if err := s.upload(context.Background(), c); err != nil {
				w.Fatalf("%v", err)
			}
		}
	})
	// From here on no packet is lost, and a download takes a while.
	w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 20*time.Millisecond), Bandwidth: 1e6})
	var under atomic.Int32
	var begun, ended [files]atomic.Bool
	var failed [files]error // read once ended
	for i := range 2 {
		h := w.Host(fmt.Sprint("client", i))
		var c *client.Client
		h.Do(func() { c = s.client(i > 0) })
		for k := i; k < files; k += 2 {
			under.Add(1)
			h.Go(func() {
				defer under.Add(-1)
				r := &reader{id: int64(1 + k), want: content(int64(1 + k)), begun: &begun[k]}
				failed[k] = c.Download(context.Background(), fmt.Sprint("file-", 1+k), r)
				if r.err != nil {
					s.found("%v", r.err)
				}
				ended[k].Store(true)
			})
		}
		for range 2 {
			h.Go(func() { // until the end: what fails is tried again
				for {
					s.order(context.Background(), c, "an account")
				}
			})
		}
	}
	time.Sleep(200*time.Millisecond + time.Duration(w.Rand().IntN(500))*time.Millisecond)
	var streams []int
	for k := range files {
		if begun[k].Load() && !ended[k].Load() {
			streams = append(streams, k)
		}
	}
	*stopped += len(streams)
	s.server.Stop()
	if err := s.server.Err(); err != nil && flaw == ledger.None {
		s.found("the server ended with %v", err)
	}
	s.server.Restart()
	w.Eventually("downloads are done", calmAfter, func() error {
		if n := under.Load(); n > 0 {
			return fmt.Errorf("%d are not", n)
		}
		return nil
	})
	for _, k := range streams {
		if failed[k] != nil {
			s.found("a download that was under way when the server was stopped: %v", failed[k])
		}
	}
	w.Host("auditor").Do(func() {
		if err := s.statement(context.Background(), s.client(true)); err != nil {
			s.found("the statement: %v", err)
		}
	})
	return s.wrong
}
