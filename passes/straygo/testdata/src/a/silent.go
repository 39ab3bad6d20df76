package a

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"lib"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"time"
)

func okChannel() chan int {
	ch := make(chan int)
	go func() { ch <- 1 }() // ok: the caller receives
	return ch
}

func okClosed() {
	done := make(chan struct{})
	go func() { defer close(done); flush() }() // ok: done says so
	<-done
}

func okStop(stop <-chan struct{}) {
	go func() { // ok: stop stops it
		for {
			select {
			case <-stop:
				return
			case <-time.After(1):
			}
		}
	}()
}

func okContext(ctx context.Context) {
	go func() { // ok: the context stops it
		for ctx.Err() == nil {
			time.Sleep(1)
		}
	}()
}

func okContextArg(ctx context.Context) {
	go watch(ctx) // ok: the context stops it
}

func watch(ctx context.Context) { <-ctx.Done() }

func okWaitGroup() {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done() }() // ok: waited for
	wg.Wait()
}

func okWaitGroupArg(wg *sync.WaitGroup) {
	go job(wg) // ok: waited for
}

func job(wg *sync.WaitGroup) { wg.Done() }

type server struct {
	quit chan struct{}
	conn net.Conn
}

func (s *server) Close() error { close(s.quit); return nil }

func (s *server) loop() { <-s.quit }

func (s *server) start() {
	go s.loop() // ok: the server can be closed
}

func (s *server) startLit() {
	go func() { fmt.Println(s.conn.LocalAddr()) }() // ok: the server can be closed
}

func okConn(c net.Conn) {
	go func() { io.Copy(io.Discard, c) }() // ok: ends when c is closed
}

func okListener(l net.Listener) {
	go http.Serve(l, nil) // ok: ends when l is closed
}

func okServer(s *http.Server) {
	go s.ListenAndServe() // ok: Shutdown stops it
}

func okValue(f func()) {
	go f() // ok: f is not known
}

func okCallback(f func()) {
	go func() { f() }() // ok: f is not known
}

type runner interface{ Run() }

func okInterface(r runner) {
	go r.Run() // ok: r is not known
}

func okForeign() {
	go lib.Run() // ok: another module is not known
}

func okDeep(ch chan int) {
	go outer(ch) // ok: the channel is used further down
}

func outer(ch chan int) { inner(ch) }

func inner(ch chan int) { ch <- 1 }

func okCond(c *sync.Cond) {
	go func() { c.L.Lock(); c.Wait(); c.L.Unlock() }() // ok: signalled
}

var queue = make(chan int)

func okPackageChannel() {
	go drain() // ok: ends when queue is closed
}

func drain() {
	for range queue {
	}
}

func okCommand(cmd *exec.Cmd) {
	go func() { _ = cmd.Wait() }() // ok: ends with the command
}

func okPipe(r *io.PipeReader) {
	go func() { // ok: ends when the pipe is closed
		s := bufio.NewScanner(r)
		for s.Scan() {
		}
	}()
}

func okTimer(t *time.Ticker) {
	go func() { // ok: t.C
		for range t.C {
		}
	}()
}

func okMap(chans map[string]chan int) {
	for _, c := range chans {
		go func() { c <- 1 }() // ok: a channel
	}
}

func okIgnored() {
	go flush() //dst:ignore straygo runs as long as the process // ok: ignored
}

var okHeld = func() { // ok: not at initialisation
	go watch(context.Background())
}
