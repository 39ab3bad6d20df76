package tftp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// The same server and clients on real sockets and real files, undisturbed.
func TestLoopback(t *testing.T) {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := patience{timeout: time.Second, retries: 10, backoff: 10 * time.Millisecond}
	srv := (&store{dir: dir}).server(p)
	served := make(chan error)
	go func() { served <- srv.Serve(conn) }()
	addr := conn.LocalAddr().String()

	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			data := make([]byte, 300<<10+i)
			for j := range data {
				data[j] = byte(rand.Uint32())
			}
			here, there := t.TempDir(), fmt.Sprint("file", i)
			if err := os.WriteFile(filepath.Join(here, "out"), data, 0o644); err != nil {
				t.Error(err)
				return
			}
			w := wish{patience: p, block: []int{0, 1428}[i], tsize: i == 1}
			if err := w.put(addr, there, filepath.Join(here, "out"), new(pace)); err != nil {
				t.Errorf("put: %v", err)
				return
			}
			if got, err := os.ReadFile(filepath.Join(dir, there)); err != nil || !bytes.Equal(got, data) {
				t.Errorf("the server has %d bytes of %d after a put, or others: %v", len(got), len(data), err)
			}
			if err := w.get(addr, there, filepath.Join(here, "in"), new(pace)); err != nil {
				t.Errorf("get: %v", err)
				return
			}
			if got, err := os.ReadFile(filepath.Join(here, "in")); err != nil || !bytes.Equal(got, data) {
				t.Errorf("the client has %d bytes of %d after a get, or others: %v", len(got), len(data), err)
			}
			if err := w.get(addr, "nothing", filepath.Join(here, "none"), new(pace)); err == nil {
				t.Error("get of a file that is not there succeeds")
			}
		})
	}
	wg.Wait()
	srv.Shutdown()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
