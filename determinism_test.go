//go:build dst && linux

package dst_test

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand"
	randv2 "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

// Made outside of every world.
var (
	initMap     = map[string]int{}
	initChan    = make(chan int, 4)
	initPool    = sync.Pool{New: func() any { return new(int) }}
	initSyncMap sync.Map
)

func init() {
	for i := range 40 {
		initMap[fmt.Sprint("key", i)] = i
		initSyncMap.Store(i, i)
	}
}

// A journal is what a run does, as the program itself sees it.
type journal struct {
	mu   sync.Mutex
	hash io.Writer
	sum  func() uint64
}

func newJournal() *journal {
	h := fnv.New64a()
	return &journal{hash: h, sum: h.Sum64}
}

func (j *journal) add(format string, a ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fmt.Fprintf(j.hash, format+"\n", a...)
}

// mixedWorkload is a bit of everything that could be nondeterministic.
func mixedWorkload(w *dst.World, j *journal) {
	w.Net().SetDefault(simnet.Link{
		Latency: simnet.Uniform(100*time.Microsecond, 20*time.Millisecond),
		Loss:    0.1, Duplicate: 0.05, Reorder: 0.1,
	})
	names := []string{"a", "b", "c"}
	for _, name := range names {
		w.Host(name, func() error {
			c, err := net.ListenPacket("udp", ":7000")
			if err != nil {
				return err
			}
			buf := make([]byte, 1500)
			for {
				n, from, err := c.ReadFrom(buf)
				if err != nil {
					return err
				}
				j.add("%s got %q from %v at %v", name, buf[:n], from, time.Now())
				if rand.Intn(2) == 0 {
					c.WriteTo(fmt.Appendf(nil, "%s answers %d", name, randv2.IntN(1000)), from)
				}
			}
		})
	}
	w.Host("web", func() error { // what std keeps for a process: the mux, the clients' connections
		http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr) })
		return http.ListenAndServe(":80", nil)
	})
	client := w.Host("client")
	for i := range 4 {
		w.Host([]string{"client", "other"}[i%2]).Do(func() {
			resp, err := http.Get("http://web/")
			if err != nil {
				j.add("%v", err)
				return
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			j.add("%s %v", body, err)
		})
	}
	client.Do(func() {
		var wg sync.WaitGroup
		var mu sync.Mutex
		var rw sync.RWMutex
		cond := sync.NewCond(&sync.Mutex{})
		ready := 0
		worldMap := map[string]int{}
		worldChan := make(chan int)
		for i := range 6 {
			wg.Go(func() {
				mu.Lock()
				time.Sleep(time.Duration(rand.Intn(2000)) * time.Microsecond)
				worldMap[fmt.Sprint(i, rand.Uint32())] = i
				mu.Unlock()
				if i%2 == 0 {
					rw.RLock()
					time.Sleep(time.Millisecond)
					rw.RUnlock()
				} else {
					rw.Lock()
					runtime.Gosched()
					rw.Unlock()
				}
				cond.L.Lock()
				ready++
				if ready < 6 {
					cond.Wait()
				} else {
					cond.Broadcast()
				}
				cond.L.Unlock()
				for range 5 {
					select {
					case worldChan <- i:
						j.add("%d sent", i)
					case v := <-worldChan:
						j.add("%d received %d", i, v)
					case initChan <- i:
						j.add("%d sent outside", i)
					case v := <-initChan:
						j.add("%d received %d outside", i, v)
					case <-time.After(time.Duration(randv2.IntN(3)) * time.Millisecond):
						j.add("%d timed out", i)
					}
				}
				p := initPool.Get().(*int)
				*p++
				j.add("pooled %d", *p)
				initPool.Put(p)
				var b [8]byte
				crand.Read(b[:])
				j.add("%d drew %x %d", i, b, rand.Int63())
			})
		}
		wg.Wait()
		for len(initChan) > 0 {
			<-initChan
		}
		for k, v := range initMap {
			j.add("%s=%d", k, v)
		}
		for k, v := range worldMap {
			j.add("%s=%d", k, v)
		}
		initSyncMap.Range(func(k, v any) bool {
			j.add("%v=%v", k, v)
			return k.(int) != 7
		})
		var racing atomic.Int64
		ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer stop()
		for _, name := range names {
			wg.Go(func() {
				conn, err := net.Dial("udp", name+":7000")
				if err != nil {
					j.add("%v", err)
					return
				}
				defer conn.Close()
				for k := range 4 {
					fmt.Fprintf(conn, "hello %d", k)
					conn.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
					buf := make([]byte, 100)
					n, err := conn.Read(buf)
					j.add("%s: %q %v, %d, %v", name, buf[:n], err, racing.Add(1), ctx.Err())
				}
			})
		}
		wg.Wait()
		<-ctx.Done()
		j.add("%v %v", ctx.Err(), time.Now())
	})
	w.Host("b").Crash()
	w.Host("b").Restart()
	client.Do(func() {
		conn, _ := net.Dial("udp", "b:7000")
		for range 3 {
			conn.Write([]byte("again"))
			time.Sleep(5 * time.Millisecond)
		}
	})
}

// TestMixed runs the workload for the seeds asked for. With DST_TEST_OUT it
// writes a line a seed to that file, for TestDeterminism.
func TestMixed(t *testing.T) {
	var out strings.Builder
	dst.Run(t, func(w *dst.World) {
		j := newJournal()
		mixedWorkload(w, j)
		fmt.Fprintf(&out, "%d %#x %d %#x %v\n", w.Seed(), w.Fingerprint(), w.Steps(), j.sum(), w.Elapsed())
	})
	if file := os.Getenv("DST_TEST_OUT"); file != "" {
		if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDeterminism runs the same seeds in several processes that differ in all
// that must not matter, on an idle machine and on a busy one, and each seed
// alone or after others.
func TestDeterminism(t *testing.T) {
	if os.Getenv("DST_TEST_OUT") != "" {
		t.Skip("this is one of the processes")
	}
	seeds := "1-1000"
	if testing.Short() {
		seeds = "1-50"
	}
	if s := os.Getenv("DST_SEEDS"); s != "" {
		seeds = s
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(seeds string, env ...string) string {
		out := t.TempDir() + "/out"
		cmd := exec.Command(exe, "-test.run=^TestMixed$")
		cmd.Env = append(os.Environ(), "DST_TEST_OUT="+out, "DST_SEEDS="+seeds, "DST_SEED=")
		cmd.Env = append(cmd.Env, env...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", env, err, text)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	want := run(seeds, "GOMAXPROCS=1")
	wantLines := strings.Split(strings.TrimSpace(want), "\n")
	compare := func(name, got string) {
		t.Helper()
		if got == want {
			return
		}
		for i, line := range strings.Split(strings.TrimSpace(got), "\n") {
			if i >= len(wantLines) || line != wantLines[i] {
				t.Errorf("%s: got %q, want %q", name, line, wantLines[min(i, len(wantLines)-1)])
				return
			}
		}
		t.Errorf("%s: %d seeds, want %d", name, strings.Count(got, "\n"), len(wantLines))
	}
	for _, env := range [][]string{
		{"GOMAXPROCS=2"}, {"GOMAXPROCS=8"}, {"GOMAXPROCS=2", "GOGC=1"}, {"GOMAXPROCS=8", "GOGC=1"}, {"GOGC=off", "GOMEMLIMIT=4GiB"},
	} {
		compare(fmt.Sprint(env), run(seeds, env...))
	}

	// A busy machine.
	stop := make(chan bool)
	var busy sync.WaitGroup
	for range 2 * runtime.NumCPU() {
		busy.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	compare("busy", run(seeds, "GOMAXPROCS=8", "GOGC=10"))
	close(stop)
	busy.Wait()

	// Alone.
	for _, i := range []int{0, len(wantLines) / 2, len(wantLines) - 1} {
		seed, _, _ := strings.Cut(wantLines[i], " ")
		if got := run("", "DST_SEED="+seed); strings.TrimSpace(got) != wantLines[i] {
			t.Errorf("seed alone: got %q, after others %q", strings.TrimSpace(got), wantLines[i])
		}
	}
}
