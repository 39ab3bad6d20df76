//go:build dst

package dst_test

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// A counter is the program under test: it answers each datagram with the number
// of those before it, which it keeps in a file. It knows nothing of simulation.
func counter(addr, file string) error {
	c, err := net.ListenPacket("udp", addr)
	if err != nil {
		return err
	}
	n := 0
	if data, err := os.ReadFile(file); err == nil {
		fmt.Sscan(string(data), &n)
	}
	buf := make([]byte, 100)
	for {
		_, from, err := c.ReadFrom(buf)
		if err != nil {
			return err
		}
		n++
		if err := save(file, n); err != nil {
			return err
		}
		c.WriteTo(fmt.Append(nil, n), from)
	}
}

// save replaces the file, so that after a loss of power the old or the new
// number is there.
func save(file string, n int) error {
	f, err := os.Create(file + ".new")
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprint(f, n)
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	dir, err := os.Open("/var/lib")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// ask asks the counter at addr once.
func ask(addr string) (n int, err error) {
	c, err := net.Dial("udp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	c.Write([]byte("next"))
	c.SetReadDeadline(time.Now().Add(time.Second))
	buf := make([]byte, 100)
	m, err := c.Read(buf)
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(string(buf[:m]), &n)
	return n, err
}

// The counter never goes back, whatever network and power do.
func TestExample(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Net().SetDefault(simnet.Link{
			Latency: simnet.Uniform(time.Millisecond, 100*time.Millisecond),
			Loss:    0.1,
		})
		server := w.Host("server", func() error { return counter(":7000", "/var/lib/n") })
		client := w.Host("client")

		var last atomic.Int64
		client.Go(func() {
			for {
				n, err := ask("server:7000")
				switch old := last.Load(); {
				case err != nil:
					fmt.Println("client:", err) // in the report, if the seed fails
				case int64(n) <= old:
					w.Failf("%d came after %d", n, old)
				default:
					last.Store(int64(n))
				}
			}
		})

		for range 5 {
			time.Sleep(time.Duration(w.Rand().IntN(5000)) * time.Millisecond)
			switch w.Rand().IntN(3) {
			case 0:
				server.Crash()
			case 1:
				server.PowerLoss()
			case 2:
				w.Net().Partition([]string{"client"}, []string{"server"})
			}
			time.Sleep(time.Duration(w.Rand().IntN(5000)) * time.Millisecond)
			w.HealAll()
		}

		before := last.Load()
		w.Eventually("it counts again", 30*time.Second, func() error {
			if n := last.Load(); n < before+3 {
				return fmt.Errorf("it has come to %d, from %d", n, before)
			}
			return nil
		})
	}, dst.Seeds(20))
}
