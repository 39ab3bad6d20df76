//go:build dstsim && linux && (amd64 || arm64)

package kernel_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/dstkit/dst/internal/kernel"
	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// onDisk runs body as the main of a host, and returns what it returned.
func onDisk(t *testing.T, disk func(d *simfs.Disk), body func() error) {
	t.Helper()
	w := sched.New(1)
	n := simnet.New(w)
	k := kernel.New(w, n)
	defer k.Close()
	k.Unsupported = func(h *sched.Host, name, detail string) { t.Errorf("unsupported: %s: %s", name, detail) }
	var err error
	failed := w.Run(func() {
		done := make(chan bool)
		sched.Enter()
		h, d := w.NewHost("a"), simfs.New(w, "a")
		k.Boot(h, n.AddHost("a"), d, kernel.Options{})
		sched.Leave()
		if disk != nil {
			disk(d)
		}
		h.Go(func() {
			err = body()
			close(done)
		})
		<-done
	})
	if failed != nil || err != nil {
		t.Fatal(failed, err)
	}
}

// fileBodies are what programs do with files through package os.
var fileBodies = map[string]func(dir string, say func(string, ...any)) error{
	"fstest": func(dir string, say func(string, ...any)) error {
		for _, path := range []string{"hello", "sub/a", "sub/deep/b", "empty/x"} {
			full := filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(full, []byte(path), 0o644); err != nil {
				return err
			}
		}
		if err := os.Symlink("hello", filepath.Join(dir, "link")); err != nil {
			return err
		}
		if err := fstest.TestFS(os.DirFS(dir), "hello", "sub/a", "sub/deep/b", "empty/x"); err != nil {
			return err
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		return fstest.TestFS(root.FS(), "hello", "sub/a", "sub/deep/b")
	},
	"iotest": func(dir string, say func(string, ...any)) error {
		content := bytes.Repeat([]byte("0123456789"), 1000)
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return iotest.TestReader(f, content)
	},
	"root": func(dir string, say func(string, ...any)) error {
		os.WriteFile(filepath.Join(filepath.Dir(dir), "outside"), []byte("secret"), 0o644)
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		say("mkdir %v", root.MkdirAll("a/b", 0o755))
		say("write %v", root.WriteFile("a/b/f", []byte("x"), 0o644))
		say("escape %v", root.WriteFile("../outside", nil, 0o644))
		say("symlink %v", root.Symlink("../../outside", "a/out"))
		_, err = root.ReadFile("a/out")
		say("through %v", err)
		say("rename %v", root.Rename("a/b/f", "g"))
		say("link %v", root.Link("g", "a/h"))
		say("chmod %v", root.Chmod("g", 0o400))
		say("times %v", root.Chtimes("g", time.Unix(1, 0), time.Unix(2, 0)))
		info, err := root.Stat("a/h")
		say("%v %v %v %v", info.Mode(), info.Size(), info.ModTime().UTC(), err)
		say("remove all %v", root.RemoveAll("a"))
		_, err = root.Lstat("a")
		say("%v", err)
		return nil
	},
	"whole tree": func(dir string, say func(string, ...any)) error {
		say("%v", os.CopyFS(filepath.Join(dir, "copy"), fstest.MapFS{"a/b": {Data: []byte("1")}, "c": {Data: []byte("22"), Mode: 0o600}}))
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, path)
			say("%s %v %v", rel, d.Type(), err)
			return nil
		})
		say("walk %v", err)
		matches, err := filepath.Glob(filepath.Join(dir, "copy", "*"))
		say("%d %v", len(matches), err)
		f, err := os.CreateTemp(dir, "x*")
		say("%v", err)
		n, err := f.WriteString("hello")
		say("%d %v %v %v", n, err, f.Truncate(3), f.Sync())
		say("%v", f.Close())
		_, err = f.Write([]byte("x"))
		say("%v", strings.Contains(err.Error(), "file already closed"))
		from, err := os.Open(filepath.Join(dir, "copy/c"))
		if err != nil {
			return err
		}
		to, err := os.OpenFile(filepath.Join(dir, "d"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		copied, err := io.Copy(to, from)
		say("%d %v", copied, err)
		target, err := filepath.EvalSymlinks(dir + "/./copy/../d")
		say("%v %v", filepath.Base(target), err)
		say("%v", os.Chdir(dir))
		wd, err := os.Getwd()
		say("%v %v", wd == dir, err)
		say("%v", os.Chdir("/"))
		_, err = syscall.Getxattr(filepath.Join(dir, "d"), "user.x", nil)
		say("%v", err != nil)
		return os.RemoveAll(filepath.Join(dir, "copy"))
	},
	"mapping": func(dir string, say func(string, ...any)) error {
		f, err := os.OpenFile(filepath.Join(dir, "f"), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return err
		}
		f.Truncate(1 << 16)
		b, err := syscall.Mmap(int(f.Fd()), 0, 1<<16, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err != nil {
			return err
		}
		f.WriteAt([]byte("written"), 5000)
		say("%q", b[5000:5007])
		copy(b[60000:], "stored")
		read := make([]byte, 6)
		_, err = f.ReadAt(read, 60000)
		say("%q %v", read, err)
		say("unmap %v, close %v", syscall.Munmap(b), f.Close())
		all, err := os.ReadFile(filepath.Join(dir, "f"))
		say("%d %q %v", len(all), all[60000:60006], err)
		b, err = syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return err
		}
		b[0] = 1
		return syscall.Munmap(b)
	},
	"locks": func(dir string, say func(string, ...any)) error {
		open := func() *os.File {
			f, err := os.OpenFile(filepath.Join(dir, "f"), os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				panic(err)
			}
			return f
		}
		a, b := open(), open()
		say("%v", syscall.Flock(int(a.Fd()), syscall.LOCK_EX))
		say("%v", syscall.Flock(int(b.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
		got := make(chan error)
		go func() { got <- syscall.Flock(int(b.Fd()), syscall.LOCK_EX) }()
		time.Sleep(20 * time.Millisecond)
		say("%v", len(got))
		a.Close()
		say("%v", <-got)
		lk := syscall.Flock_t{Type: syscall.F_WRLCK}
		say("%v", syscall.FcntlFlock(b.Fd(), syscall.F_SETLK, &lk))
		return b.Close()
	},
}

// TestFilesAsOnTheMachine runs each body on a directory of the machine and in a
// simulated host.
func TestFilesAsOnTheMachine(t *testing.T) {
	for name, body := range fileBodies {
		t.Run(name, func(t *testing.T) {
			var said [2][]string
			real := t.TempDir()
			if err := os.Mkdir(real+"/dir", 0o755); err != nil {
				t.Fatal(err)
			}
			say := func(side int) func(string, ...any) {
				return func(format string, args ...any) {
					said[side] = append(said[side], fmt.Sprintf(format, args...))
				}
			}
			if err := body(real+"/dir", say(0)); err != nil {
				t.Fatal("on the machine:", err)
			}
			onDisk(t, nil, func() error {
				if err := os.MkdirAll("/data/dir", 0o755); err != nil {
					return err
				}
				return body("/data/dir", say(1))
			})
			for i := range max(len(said[0]), len(said[1])) {
				line := func(side int) string {
					if i >= len(said[side]) {
						return "(nothing)"
					}
					return strings.ReplaceAll(said[side][i], real, "/data")
				}
				if line(0) != line(1) {
					t.Errorf("%d: the machine: %s; ours: %s", i, line(0), line(1))
				}
			}
		})
	}
}

// TestSlowDisk: what a disk takes is virtual time, of the goroutine that waits.
func TestSlowDisk(t *testing.T) {
	onDisk(t, func(d *simfs.Disk) {
		d.SetFaults(simfs.Faults{SyncLatency: simnet.Constant(100 * time.Millisecond), WriteLatency: simnet.Constant(time.Second)}, "/var/lib/slow")
	}, func() error {
		f, err := os.Create("/var/lib/slow")
		if err != nil {
			return err
		}
		var ticks atomic.Int32
		stop := make(chan bool)
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Millisecond):
					ticks.Add(1)
				}
			}
		}()
		start := time.Now()
		f.Write([]byte("x"))
		f.Sync()
		took := time.Since(start)
		close(stop)
		if took < 1100*time.Millisecond || took > 1101*time.Millisecond || ticks.Load() < 20 {
			return fmt.Errorf("it took %v, in which others ran %d times", took, ticks.Load())
		}
		start = time.Now()
		os.WriteFile("/var/lib/fast", []byte("x"), 0o644)
		if took := time.Since(start); took > time.Millisecond {
			return fmt.Errorf("another file took %v", took)
		}
		return nil
	})
}

// TestSyncErrorOnce: each description is told once of a write-back that failed.
func TestSyncErrorOnce(t *testing.T) {
	var disk *simfs.Disk
	onDisk(t, func(d *simfs.Disk) { disk = d }, func() error {
		a, _ := os.Create("/var/lib/f")
		b, _ := os.OpenFile("/var/lib/f", os.O_RDWR, 0)
		a.Write([]byte("x"))
		disk.SetFaults(simfs.Faults{SyncError: 1}, "/var/lib/f")
		first := a.Sync()
		disk.Heal()
		again, other, otherAgain := a.Sync(), b.Sync(), b.Sync()
		if first == nil || again != nil || other == nil || otherAgain != nil {
			return fmt.Errorf("told: %v, %v; %v, %v", first, again, other, otherAgain)
		}
		return nil
	})
}

// BenchmarkFiles is what a log does: 64 bytes appended, read back, and every
// sixteenth time synced; on a file system in the machine's memory, and on a
// simulated disk.
func BenchmarkFiles(b *testing.B) {
	body := func(b *testing.B, path string) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
		if err != nil {
			b.Error(err)
			return
		}
		defer os.Remove(path)
		defer f.Close()
		record := make([]byte, 64)
		for i := range b.N {
			f.Write(record)
			f.ReadAt(record, int64(i)*64)
			if i%16 == 15 {
				f.Sync()
			}
			if i%4096 == 4095 {
				f.Truncate(0)
			}
		}
	}
	b.Run("tmpfs", func(b *testing.B) {
		var st syscall.Statfs_t
		if err := syscall.Statfs("/dev/shm", &st); err != nil {
			b.Skip("no /dev/shm:", err)
		}
		b.ReportAllocs()
		body(b, fmt.Sprint("/dev/shm/dst-bench-", os.Getpid()))
	})
	b.Run("sim", func(b *testing.B) {
		b.ReportAllocs()
		_, err := world(1, func(boot func(string) *sched.Host) {
			done := make(chan bool)
			boot("a").Go(func() {
				body(b, "/var/lib/f")
				close(done)
			})
			<-done
		})
		if err != nil {
			b.Fatal(err)
		}
	})
}
