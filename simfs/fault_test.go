package simfs

import (
	"bytes"
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

type fixed time.Duration

func (f fixed) Draw(*sched.Stream) time.Duration { return time.Duration(f) }

func TestFaults(t *testing.T) {
	page := bytes.Repeat([]byte("x"), PageSize)
	old := bytes.Repeat([]byte("o"), PageSize)
	newDisk := func() (*Disk, *Inode) {
		d := New(sched.New(1), "a")
		if err := d.WriteFile("/var/lib/f", append(append([]byte{}, old...), old...)); err != nil {
			t.Fatal(err)
		}
		n, _ := d.Lookup(d.Root(), "/var/lib/f", true)
		return d, n
	}
	read := func(n *Inode) string {
		b := make([]byte, 2*PageSize)
		got, errno := n.ReadAt(b, 0)
		if errno != 0 {
			return errno.Error()
		}
		return runsOf(b[:got])
	}
	lose := func(d *Disk) { d.PowerLoss(sched.NewStream(1, "calm")) }
	write := func(n *Inode) {
		t.Helper()
		if got, errno := n.WriteAt(page, 0); got != PageSize || errno != 0 {
			t.Fatal(got, errno)
		}
	}

	t.Run("none", func(t *testing.T) {
		d, n := newDisk()
		before := d.draws().Draws()
		d.SetFaults(Faults{}, "/var/")
		write(n)
		ok(t, n.Sync(false))
		if read(n) != "x4096 o4096" || d.draws().Draws() != before {
			t.Error("a disk without faults drew something")
		}
	})
	t.Run("read, write, space", func(t *testing.T) {
		d, n := newDisk()
		for errno, f := range map[syscall.Errno]Faults{syscall.EIO: {WriteError: 1, ReadError: 1}, syscall.ENOSPC: {NoSpace: 1}} {
			d.SetFaults(f, "/var/lib/*")
			if got, e := n.WriteAt(page, 0); got != 0 || e != errno {
				t.Errorf("write: %d, %v; want %v", got, e, errno)
			}
			must(t, d, "/tmp/"+utoa(uint64(errno))) // no rule is for it
		}
		if _, errno := d.Open(d.Root(), "/var/lib/new", OpenFlags{Create: true}, 0o644); errno != 0 {
			t.Errorf("the rule is for files of the directory, not for it: %v", errno)
		}
		d.SetFaults(Faults{ReadError: 1})
		if got := read(n); got != "input/output error" {
			t.Error(got)
		}
		d.SetFaults(Faults{ReadFlip: 1})
		if first, second := read(n), read(n); first == "o8192" || first == second {
			t.Errorf("flips: %s, %s", first, second)
		}
		d.Heal()
		if got := read(n); got != "o8192" {
			t.Errorf("after Heal: %s", got)
		}
	})
	t.Run("fsync fails once", func(t *testing.T) {
		d, n := newDisk()
		d.SetFaults(Faults{SyncError: 1}, "/var/lib/f")
		write(n)
		if errno := n.Sync(false); errno != syscall.EIO || n.ErrSeq() != 1 {
			t.Errorf("fsync: %v, %d errors", errno, n.ErrSeq())
		}
		d.Heal()
		ok(t, n.Sync(false)) // it says
		if got := read(n); got != "x4096 o4096" {
			t.Errorf("the cache has %s", got)
		}
		n.WriteAt([]byte("y"), PageSize) // a page of its own: this one can be saved
		ok(t, n.Sync(false))
		lose(d)
		if got := read(n); got != "o4096 y1 o4095" {
			t.Errorf("left: %s", got)
		}
	})
	t.Run("a page that is written again is saved", func(t *testing.T) {
		d, n := newDisk()
		d.SetFaults(Faults{SyncError: 1})
		write(n)
		n.Sync(false)
		d.Heal()
		n.WriteAt([]byte("z"), 10)
		ok(t, n.Sync(false))
		lose(d)
		if got := read(n); got != "x10 z1 x4085 o4096" {
			t.Errorf("left: %s", got)
		}
	})
	t.Run("lying fsync", func(t *testing.T) {
		kept := map[string]int{}
		for seed := range uint64(50) {
			d, n := newDisk()
			d.SetFaults(Faults{LyingSync: 1})
			write(n)
			ok(t, n.Sync(false))
			d.PowerLoss(sched.NewStream(seed))
			kept[read(n)]++
		}
		if kept["o8192"] == 0 || kept["x4096 o4096"] == 0 || len(kept) < 3 {
			t.Errorf("left: %v", kept) // old, new, torn
		}
	})
	for name, test := range map[string]struct {
		f    Faults
		want func(string) bool
	}{
		"lost write":  {Faults{LostWrite: 1}, func(s string) bool { return s == "o8192" }},
		"misdirected": {Faults{Misdirected: 1}, func(s string) bool { return s == "o4096 x4096" }},
		"bit flip":    {Faults{BitFlip: 1}, func(s string) bool { return s != "x4096 o4096" && s != "o8192" }},
		"bad sector":  {Faults{BadSector: 1}, func(s string) bool { return s == "input/output error" }},
	} {
		t.Run(name, func(t *testing.T) {
			d, n := newDisk()
			d.SetFaults(test.f)
			write(n)
			ok(t, n.Sync(false))
			if got := read(n); got != "x4096 o4096" {
				t.Errorf("the cache has %s", got)
			}
			d.Heal()
			d.DropCaches()
			if got := read(n); !test.want(got) {
				t.Errorf("the medium has %s", got)
			}
			if name == "bad sector" {
				if _, errno := n.WriteAt([]byte("part"), 1); errno != syscall.EIO {
					t.Errorf("a part of a page that cannot be read was written: %v", errno)
				}
			}
			n.WriteAt(append(append([]byte{}, page...), old...), 0)
			ok(t, n.Sync(false))
			lose(d)
			if got := read(n); got != "x4096 o4096" {
				t.Errorf("written again, it has %s", got)
			}
		})
	}
	t.Run("the test's own calls", func(t *testing.T) {
		d, _ := newDisk()
		before := d.draws().Draws()
		d.SetFaults(Faults{ReadError: 0.5, WriteError: 0.5, NoSpace: 0.5, SyncError: 0.5, LostWrite: 0.5, ReadFlip: 0.5})
		for range 20 {
			if err := d.WriteFile("/var/lib/x", page); err != nil {
				t.Fatal(err)
			}
			if b, err := d.ReadFile("/var/lib/x"); !bytes.Equal(b, page) || err != nil {
				t.Fatal(len(b), err)
			}
		}
		d.Snapshot()
		d.CrashStates(5)
		if n := d.draws().Draws(); n != before {
			t.Errorf("%d draws", n-before)
		}
	})
	t.Run("slow", func(t *testing.T) {
		d, n := newDisk()
		if d.Slow() {
			t.Error("slow at first")
		}
		d.SetFaults(Faults{SyncLatency: fixed(time.Second)}, "/var/lib/f")
		if w, s := d.Delay(n, WriteCall), d.Delay(n, SyncCall); w != 0 || s != time.Second {
			t.Errorf("a write takes %v, fsync %v", w, s)
		}
	})
}

// runsOf tells bytes by how often each comes in a row.
func runsOf(b []byte) string {
	s := ""
	for len(b) > 0 {
		n := 1
		for n < len(b) && b[n] == b[0] {
			n++
		}
		s += " " + string(b[:1]) + utoa(uint64(n))
		b = b[n:]
	}
	if s == "" {
		return s
	}
	return s[1:]
}

func TestSpace(t *testing.T) {
	d := New(sched.New(1), "a")
	f := must(t, d, "/tmp/f")
	d.SetSize(10*PageSize, 0)
	n, errno := f.WriteAt(make([]byte, 20*PageSize), 100)
	if n != 10*PageSize-100 || errno != 0 {
		t.Errorf("wrote %d, %v", n, errno)
	}
	if n, errno := f.WriteAt([]byte("x"), 10*PageSize); n != 0 || errno != syscall.ENOSPC {
		t.Errorf("on a full disk: %d, %v", n, errno)
	}
	if n, errno := f.WriteAt([]byte("x"), 5); n != 1 || errno != 0 {
		t.Errorf("in place: %d, %v", n, errno)
	}
	if u := d.Usage(); u.Free != 0 || u.Blocks != 10 {
		t.Errorf("%+v", u)
	}
	ok(t, f.Allocate(AllocPunch|AllocKeepSize, 0, 2*PageSize))
	if errno := f.Allocate(0, 20*PageSize, 3*PageSize); errno != syscall.ENOSPC {
		t.Errorf("reserving more than there is: %v", errno)
	}
	ok(t, f.Allocate(AllocKeepSize, 20*PageSize, PageSize))
	f.Hold()
	ok(t, d.Unlink(d.Root(), "/tmp/f"))
	if u := d.Usage(); u.Free != 1 {
		t.Errorf("an open file holds its space: %+v", u)
	}
	f.Drop(true)
	if u := d.Usage(); u.Free != 10 {
		t.Errorf("a file that nobody has holds its space: %+v", u)
	}
	d.SetSize(0, d.Usage().Inodes)
	d.SetSize(0, 1)
	if _, errno := d.Open(d.Root(), "/tmp/g", OpenFlags{Create: true}, 0o644); errno != syscall.ENOSPC {
		t.Errorf("without inodes: %v", errno)
	}
	if errno := d.Mkdir(d.Root(), "/tmp/g", 0o755); errno != syscall.ENOSPC {
		t.Errorf("without inodes: %v", errno)
	}
}

func TestDestroyAndWorldSide(t *testing.T) {
	d := New(sched.New(1), "a")
	d.Preset("etc", func(dir *Inode) { dir.PresetGenerated("hosts", func() []byte { return []byte("x") }) })
	d.WriteFile("/var/lib/f", []byte("12345"))
	if err := d.Truncate("/var/lib/f", 3); err != nil {
		t.Fatal(err)
	}
	if err := d.Chmod("/var/lib/f", fs.ModeSetuid|0o711); err != nil {
		t.Fatal(err)
	}
	info, err := d.Stat("/var/lib/f")
	if err != nil || info.Size() != 3 || info.Mode() != fs.ModeSetuid|0o711 || info.Name() != "f" || info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	s := d.Snapshot()
	d.WriteFile("/var/lib/f", []byte("other"))
	if b, err := s.ReadFile("/var/lib/f"); string(b) != "123" || err != nil {
		t.Errorf("the snapshot shows %q, %v", b, err)
	}
	root := d.Root()
	d.Destroy()
	if _, err := d.Stat("/var/lib/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Destroy: %v", err)
	}
	for _, path := range []string{"/etc/hosts", "/dev/null", "/tmp"} {
		if _, err := d.Stat(path); err != nil {
			t.Error(err)
		}
	}
	d.Restore(s)
	if b, err := d.ReadFile("/var/lib/f"); string(b) != "123" || err != nil || d.Root() != root {
		t.Errorf("restored: %q, %v", b, err)
	}
	if info, err := d.Stat("/var/lib/f"); err != nil || info.Mode() != fs.ModeSetuid|0o711 {
		t.Errorf("restored: %v, %v", info, err)
	}
}
