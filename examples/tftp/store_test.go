package tftp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pin/tftp/v3"
)

// A patience is how long one end of a transfer tries.
type patience struct {
	timeout time.Duration
	retries int
	backoff time.Duration // constant; 0 is what tftp does by itself
}

// defaults are tftp's own: see its SetTimeout, SetRetries and SetBackoff.
var defaults = patience{timeout: 5 * time.Second, retries: 5}

// limit is the longest that an end waits for the next thing to happen: it sends
// what it last sent again and again, 1+retries times, waits for a timeout each
// time, and for a backoff in between, which is random up to a second if nobody
// says otherwise.
func (p patience) limit() time.Duration {
	backoff := p.backoff
	if backoff == 0 {
		backoff = time.Second
	}
	return time.Duration(p.retries+1)*p.timeout + time.Duration(p.retries)*backoff
}

// ends is what a tftp.Server and a tftp.Client are told.
type ends interface {
	SetTimeout(time.Duration)
	SetRetries(int)
}

func (p patience) set(e ends) {
	if p == defaults {
		return
	}
	e.SetTimeout(p.timeout)
	e.SetRetries(p.retries)
	if p.backoff == 0 {
		return
	}
	backoff := func(int) time.Duration { return p.backoff }
	switch e := e.(type) {
	case *tftp.Server:
		e.SetBackoff(backoff)
	case *tftp.Client:
		e.SetBackoff(backoff)
	}
}

// A style is how a server's write handler stores a file.
type style int

const (
	careful   style = iota // a file of the transfer's own, synced, then renamed
	overwrite              // os.Create, and os.Remove if the transfer fails
	exclusive              // O_EXCL, as in the README of pin/tftp
)

// A store is what the server serves: the files of one directory.
type store struct {
	dir   string
	style style
	began func(op, name string)            // optional
	ended func(op, name string, err error) // optional
}

// server returns a server of the store.
func (s *store) server(p patience) *tftp.Server {
	if s.began == nil {
		s.began = func(op, name string) {}
	}
	if s.ended == nil {
		s.ended = func(op, name string, err error) {}
	}
	srv := tftp.NewServer(s.read, s.write)
	p.set(srv)
	return srv
}

func (s *store) read(name string, rf io.ReaderFrom) (err error) {
	s.began("get", name)
	defer func() { s.ended("get", name, err) }()
	path, err := s.path(name)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = rf.ReadFrom(f)
	return err
}

func (s *store) write(name string, wt io.WriterTo) (err error) {
	s.began("put", name)
	defer func() { s.ended("put", name, err) }()
	path, err := s.path(name)
	if err != nil {
		return err
	}
	switch s.style {
	case overwrite:
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := fill(f, wt); err != nil {
			os.Remove(path)
			return err
		}
		return nil
	case exclusive:
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		return fill(f, wt)
	}
	f, err := os.CreateTemp(s.dir, name+".*.part")
	if err != nil {
		return err
	}
	if err = fill(f, wt); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	dir, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync() // the name is durable before the last block is acknowledged
}

// fill writes what a transfer brings to f, and closes it.
func fill(f *os.File, wt io.WriterTo) error {
	_, err := wt.WriteTo(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (s *store) path(name string) (string, error) {
	if !filepath.IsLocal(name) || strings.ContainsRune(name, '/') {
		return "", fmt.Errorf("%q is not the name of a file here", name)
	}
	return filepath.Join(s.dir, name), nil
}

// A wish is how a client wants a transfer.
type wish struct {
	patience
	block int  // size; 0 is 512, without asking
	tsize bool // ask how large the file is, at a get
}

func (o wish) client(server string) (*tftp.Client, error) {
	c, err := tftp.NewClient(server)
	if err != nil {
		return nil, err
	}
	o.set(c)
	if o.block != 0 {
		c.SetBlockSize(o.block)
	}
	c.RequestTSize(o.tsize)
	return c, nil
}

// put sends the file at path to the server. P is told of every step.
func (o wish) put(server, name, path string, p *pace) error {
	c, err := o.client(server)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	p.step(0)
	defer p.step(0)
	rf, err := c.Send(name, "octet")
	if err != nil {
		return err
	}
	p.step(0)
	_, err = rf.ReadFrom(paced{f, p})
	return err
}

// get fetches a file from the server to path, where a part of it stays if that
// fails.
func (o wish) get(server, name, path string, p *pace) error {
	c, err := o.client(server)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	p.step(0)
	defer p.step(0)
	wt, err := c.Receive(name, "octet")
	if err != nil {
		return err
	}
	p.step(0)
	size, told := int64(-1), false
	if o.tsize {
		size, told = wt.(tftp.IncomingTransfer).Size()
	}
	n, err := wt.WriteTo(paced{f, p})
	if err == nil && told && n != size {
		return fmt.Errorf("the server told of %d bytes and sent %d", size, n)
	}
	return err
}

// A pace tells how a transfer goes on: bytes, and the longest time without any.
type pace struct {
	bytes   atomic.Int64
	last    time.Time
	first   time.Duration // from the first answer to the first block, or to the end
	longest time.Duration // of all other times
	steps   int
}

func (p *pace) step(n int) {
	now := time.Now()
	if p.steps > 0 {
		gap := now.Sub(p.last)
		if p.steps == 2 {
			p.first = gap
		} else {
			p.longest = max(p.longest, gap)
		}
	}
	p.steps++
	p.last = now
	p.bytes.Add(int64(n))
}

// paced is a file that a transfer reads or writes. It is not an io.Seeker.
type paced struct {
	f *os.File
	p *pace
}

func (p paced) Read(b []byte) (int, error) {
	n, err := p.f.Read(b)
	p.p.step(n)
	return n, err
}

func (p paced) Write(b []byte) (int, error) {
	n, err := p.f.Write(b)
	p.p.step(n)
	return n, err
}
