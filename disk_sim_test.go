//go:build dst

package dst_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// store is the program under test: it replaces its file without fsync. ext4 has
// its auto_da_alloc for such programs.
func store() error {
	for i := 1; ; i++ {
		if err := os.WriteFile("/var/lib/n.new", fmt.Append(nil, i), 0o644); err != nil {
			return err
		}
		if err := os.Rename("/var/lib/n.new", "/var/lib/n"); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
}

// recovered reads what store has left.
func recovered() (n int, err error) {
	b, err := os.ReadFile("/var/lib/n")
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(string(b), &n); err != nil {
		return 0, fmt.Errorf("/var/lib/n holds %q", b)
	}
	return n, nil
}

// TestEveryCrashState tries every state that a loss of power could leave, on a
// host of its own. On ext4 the program gets away with it, but for the first time:
// a rename that replaces nothing allocates nothing.
func TestEveryCrashState(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		h := w.Host("store", store)
		again := w.Rand().IntN(2) == 0
		if again {
			h.Disk().WriteFile("/var/lib/n", []byte("0"))
		}
		time.Sleep(2500 * time.Millisecond)

		for _, model := range []simfs.Model{simfs.Ordered, simfs.Any} {
			h.Disk().SetModel(model)
			states, all := h.Disk().CrashStates(200)
			bad := 0
			for i, state := range states {
				other := w.Host(fmt.Sprintf("%v%d", model, i))
				other.Disk().Restore(state)
				other.Do(func() {
					if _, err := recovered(); err != nil {
						bad++
					}
				})
			}
			w.Logf("%v: %d states, all: %v; %d cannot be read", model, len(states), all, bad)
			switch {
			case len(states) < 5:
				w.Failf("%v: only %d states", model, len(states))
			case model == simfs.Ordered && (bad > 0 == again || !all):
				w.Failf("ext4 leaves %d of %d states that cannot be read; replaced from the first on: %v, all: %v", bad, len(states), again, all)
			case model == simfs.Any && bad == 0:
				w.Failf("POSIX promises store nothing, and no state shows it")
			}
		}
	}, dst.Seeds(6))
}

// TestSlowFailingDisk: what a disk takes is virtual time, and its errors are the
// service's to handle.
func TestSlowFailingDisk(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		h := w.Host("a")
		h.Disk().SetFaults(simfs.Faults{
			SyncLatency: simnet.Uniform(5*time.Millisecond, 10*time.Millisecond),
			SyncError:   1,
		}, "/var/lib/")
		h.Do(func() {
			f, err := os.Create("/var/lib/f")
			if err != nil {
				w.Fatalf("%v", err)
			}
			f.Write([]byte("data"))
			start := time.Now()
			if err := f.Sync(); !errors.Is(err, syscall.EIO) {
				w.Failf("fsync: %v", err)
			}
			if d := time.Since(start); d < 5*time.Millisecond || d > 11*time.Millisecond {
				w.Failf("fsync took %v", d)
			}
		})
		h.Disk().Heal()
		h.PowerLoss()
		h.Disk().Destroy()
		if names, err := h.Disk().List("/var/lib"); len(names) != 0 || err != nil {
			w.Failf("a new disk holds %q, %v", names, err)
		}
	}, dst.Seeds(3))
}

// TestDiskWorlds: a log that is synced record by record loses no record that was
// acknowledged, and all its losses are at the end.
func TestDiskWorlds(t *testing.T) {
	lost := 0
	dst.Run(t, func(w *dst.World) { lost += diskWorld(w) }, dst.Seeds(20))
	if lost == 0 {
		t.Error("no run lost anything")
	}
}

// diskWorld makes 40 calls on a file, loses power, and counts the records that
// are gone.
func diskWorld(w *dst.World) (lost int) {
	h := w.Host("a")
	record := []byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n")
	synced := 0
	h.Do(func() {
		f, err := os.OpenFile("/var/lib/log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			w.Fatalf("%v", err)
		}
		for i := range 38 {
			if i%5 == 4 {
				f.Sync()
				synced = i / 5 * 4
				continue
			}
			f.Write(record)
		}
		f.Close()
	})
	h.PowerLoss()
	h.Boot(nil)
	h.Do(func() {
		b, err := os.ReadFile("/var/lib/log")
		if err != nil || len(b) < synced*len(record) {
			w.Failf("of %d synced records %d bytes are left, %v", synced, len(b), err)
		}
		lost = 31 - len(b)/len(record)
	})
	return lost
}

func BenchmarkDiskWorld(b *testing.B) {
	b.ReportAllocs()
	dst.RunWorlds(b, b.N, func(w *dst.World) { diskWorld(w) })
}

// TestCrashAmidMunmap crashes processes that map and unmap files all the time.
// Package syscall has a lock for all mappings, in a package variable: hosts share it,
// and one that a destroyed goroutine held would stop the others for good.
func TestCrashAmidMunmap(t *testing.T) {
	maps := func() error {
		f, err := os.OpenFile("/var/lib/mapped", os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Truncate(8192); err != nil {
			return err
		}
		b, err := syscall.Mmap(int(f.Fd()), 0, 8192, syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			return err
		}
		return syscall.Munmap(b)
	}
	dst.Run(t, func(w *dst.World) {
		for range 20 {
			a := w.Host("a")
			if !a.Running() {
				a.Boot(nil)
			}
			for range 2 {
				a.Go(func() {
					for {
						if err := maps(); err != nil {
							w.Failf("%v", err)
							return
						}
					}
				})
			}
			time.Sleep(time.Duration(w.Rand().IntN(50_000)))
			a.Crash()
			w.Host("b").Do(func() {
				if err := maps(); err != nil {
					w.Failf("%v", err)
				}
			})
		}
	}, dst.Seeds(10))
}

// TestMappingsTwice holds mappings over the end of a run, so that the next gets others.
func TestMappingsTwice(t *testing.T) {
	var held [][]byte
	dst.Run(t, func(w *dst.World) {
		// The machine's own, of a size that differs: it moves what is mapped next.
		b, err := syscall.Mmap(-1, 0, 8192*(1+len(held)), syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			w.Fatalf("%v", err)
		}
		held = append(held, b)
		w.Host("a").Do(func() {
			if err := os.WriteFile("/var/lib/mapped", make([]byte, 8192), 0o644); err != nil {
				w.Failf("%v", err)
			}
			f, err := os.Open("/var/lib/mapped")
			if err != nil {
				w.Fatalf("%v", err)
			}
			defer f.Close()
			if _, err := syscall.Mmap(int(f.Fd()), 0, 8192, syscall.PROT_READ, syscall.MAP_SHARED); err != nil {
				w.Failf("%v", err)
			}
		})
	}, dst.Seeds(5), dst.Twice())
	for _, b := range held {
		syscall.Munmap(b)
	}
}
