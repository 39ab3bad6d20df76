package simfs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dstkit/dst/sched"
)

// must opens or makes a file.
func must(t testing.TB, d *Disk, path string) *Inode {
	t.Helper()
	n, errno := d.Open(d.Root(), path, OpenFlags{Create: true, Write: true}, 0o644)
	if errno != 0 {
		t.Fatalf("open %s: %v", path, errno)
	}
	return n
}

func ok(t testing.TB, errno syscall.Errno) {
	t.Helper()
	if errno != 0 {
		t.Fatal(errno)
	}
}

// tree is all that the disk holds, in lines.
func tree(d *Disk) string {
	var b strings.Builder
	var walk func(path string, n *Inode)
	walk = func(path string, n *Inode) {
		for _, name := range n.Names() {
			child, full := n.Entry(name), path+"/"+name
			switch child.Kind() {
			case Directory:
				fmt.Fprintf(&b, "%s/ %d links\n", full, child.Stat().Nlink)
				walk(full, child)
			case Regular:
				buf := make([]byte, child.Size())
				child.ReadAt(buf, 0)
				fmt.Fprintf(&b, "%s %q\n", full, buf)
			}
		}
	}
	top, _ := d.Lookup(d.Root(), "/var/lib", true)
	walk("", top)
	return b.String()
}

// losses runs f on a new disk, cuts the power with many seeds, and counts what
// is left.
func losses(t *testing.T, f func(d *Disk)) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(300) {
		var got [2]string
		for i := range got {
			d := New(sched.New(seed), "a")
			f(d)
			before := tree(d)
			d.Crash()
			if after := tree(d); after != before {
				t.Fatalf("a crash changed\n%s\nto\n%s", before, after)
			}
			d.PowerLoss(sched.NewStream(seed, "disk"))
			got[i] = tree(d)
			// What survived is durable: nothing is left to be lost.
			s := sched.NewStream(seed, "again")
			d.PowerLoss(s)
			if after := tree(d); after != got[i] || s.Draws() != 0 {
				t.Fatalf("a second loss of power changed\n%s\nto\n%s", got[i], after)
			}
		}
		if got[0] != got[1] {
			t.Fatalf("one seed, two outcomes:\n%s\n%s", got[0], got[1])
		}
		seen[got[0]]++
	}
	return seen
}

func TestPowerLoss(t *testing.T) {
	lib := func(d *Disk) *Inode { n, _ := d.Lookup(d.Root(), "/var/lib", true); return n }
	for _, test := range []struct {
		name string
		do   func(d *Disk)
		want []string // every outcome there may be, and no other
	}{
		{"synced file and entry", func(d *Disk) {
			n := must(t, d, "/var/lib/f")
			n.WriteAt([]byte("data"), 0)
			ok(t, n.Sync(false))
			ok(t, lib(d).Sync(false))
		}, []string{"/f \"data\"\n"}},
		{"synced file, entry not", func(d *Disk) {
			n := must(t, d, "/var/lib/f")
			n.WriteAt([]byte("data"), 0)
			ok(t, n.Sync(false))
		}, []string{"/f \"data\"\n"}},
		{"entry alone", func(d *Disk) { must(t, d, "/var/lib/f") }, []string{"/f \"\"\n", ""}},
		{"synced entry, writes not", func(d *Disk) {
			n := must(t, d, "/var/lib/f")
			n.WriteAt([]byte("one"), 0)
			ok(t, n.Sync(false))
			ok(t, lib(d).Sync(false))
			n.WriteAt([]byte("two"), 3)
			ok(t, n.Truncate(4))
			n.WriteAt([]byte("x"), 6)
		}, []string{"/f \"one\"\n", "/f \"onetwo\"\n", "/f \"onet\"\n", "/f \"onet\\x00\\x00x\"\n"}},
		{"write to a temporary file, sync, rename", func(d *Disk) {
			ok(t, must(t, d, "/var/lib/f").Sync(false))
			n := must(t, d, "/var/lib/f")
			n.WriteAt([]byte("old"), 0)
			ok(t, n.Sync(false))
			ok(t, lib(d).Sync(false))
			n = must(t, d, "/var/lib/f.tmp")
			n.WriteAt([]byte("new"), 0)
			ok(t, n.Sync(false))
			ok(t, d.Rename(d.Root(), "/var/lib/f.tmp", d.Root(), "/var/lib/f", RenameFlags{}))
		}, []string{"/f \"old\"\n/f.tmp \"new\"\n", "/f \"new\"\n"}},
		{"removal, not synced", func(d *Disk) {
			n := must(t, d, "/var/lib/f")
			n.WriteAt([]byte("data"), 0)
			ok(t, n.Sync(false))
			ok(t, lib(d).Sync(false))
			ok(t, d.Unlink(d.Root(), "/var/lib/f"))
		}, []string{"/f \"data\"\n", ""}},
		{"rename to another directory and a new file in its place", func(d *Disk) {
			for _, dir := range []string{"x", "y"} {
				ok(t, d.Mkdir(lib(d), dir, 0o755))
			}
			n := must(t, d, "/var/lib/x/f")
			n.WriteAt([]byte("1"), 0)
			d.SyncAll()
			ok(t, d.Rename(d.Root(), "/var/lib/x/f", d.Root(), "/var/lib/y/g", RenameFlags{}))
			must(t, d, "/var/lib/x/f")
		}, []string{
			"/x/ 2 links\n/x/f \"1\"\n/y/ 2 links\n",
			"/x/ 2 links\n/y/ 2 links\n/y/g \"1\"\n",
			"/x/ 2 links\n/x/f \"\"\n/y/ 2 links\n/y/g \"1\"\n",
		}},
		{"rename to another directory, one of them synced", func(d *Disk) {
			for _, dir := range []string{"x", "y"} {
				ok(t, d.Mkdir(lib(d), dir, 0o755))
			}
			must(t, d, "/var/lib/x/f")
			d.SyncAll()
			ok(t, d.Rename(d.Root(), "/var/lib/x/f", d.Root(), "/var/lib/y/g", RenameFlags{}))
			n, _ := d.Lookup(lib(d), "x", true)
			ok(t, n.Sync(false))
		}, []string{"/x/ 2 links\n/y/ 2 links\n/y/g \"\"\n"}},
		{"a hole filled after an entry was made", func(d *Disk) {
			n := must(t, d, "/var/lib/f")
			ok(t, n.Truncate(4))
			d.SyncAll()
			must(t, d, "/var/lib/g")
			n.WriteAt([]byte("data"), 0) // its blocks come later than the entry
		}, []string{"/f \"\\x00\\x00\\x00\\x00\"\n", "/f \"\\x00\\x00\\x00\\x00\"\n/g \"\"\n", "/f \"data\"\n/g \"\"\n"}},
		{"a directory moved", func(d *Disk) {
			for _, dir := range []string{"x", "y", "x/z"} {
				ok(t, d.Mkdir(lib(d), dir, 0o755))
			}
			d.SyncAll()
			ok(t, d.Rename(lib(d), "x/z", lib(d), "y/z", RenameFlags{}))
		}, []string{"/x/ 3 links\n/x/z/ 2 links\n/y/ 2 links\n", "/x/ 2 links\n/y/ 3 links\n/y/z/ 2 links\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen := losses(t, test.do)
			for outcome, n := range seen {
				if !slices.Contains(test.want, outcome) {
					t.Errorf("in %d of 300 runs this was left:\n%s", n, outcome)
				}
			}
			for _, outcome := range test.want {
				if seen[outcome] == 0 {
					t.Errorf("in no run this was left:\n%s", outcome)
				}
			}
		})
	}
}

func TestLogIsBounded(t *testing.T) {
	d := New(sched.New(1), "a")
	n := must(t, d, "/var/lib/f")
	for i := range 3 * MaxLog {
		n.WriteAt([]byte{byte(i)}, int64(i%PageSize))
		must(t, d, fmt.Sprint("/tmp/", i))
	}
	tmp, _ := d.Lookup(d.Root(), "/tmp", true)
	if len(n.log) > MaxLog || len(d.journal) > maxJournal {
		t.Errorf("a log of %d operations, a journal of %d", len(n.log), len(d.journal))
	}
	n.Sync(false)
	tmp.Sync(false)
	d.PowerLoss(sched.NewStream(1))
	if n.Size() != PageSize || len(tmp.Names()) != 3*MaxLog {
		t.Errorf("left %d bytes, %d names", n.Size(), len(tmp.Names()))
	}
}

func TestWorldSide(t *testing.T) {
	d := New(sched.New(1), "a")
	if err := d.WriteFile("/etc/service/config", []byte("x=1")); err != nil {
		t.Fatal(err)
	}
	d.AddGenerated("/etc/generated", func() []byte { return []byte("made") })
	d.AddSymlink("/etc/link", "service/config")
	d.PowerLoss(sched.NewStream(1))
	for path, want := range map[string]string{"/etc/service/config": "x=1", "/etc/generated": "made", "/etc/link": "x=1"} {
		if got, err := d.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	names, err := d.List("/etc")
	if err != nil || !slices.Equal(names, []string{"generated", "link", "service"}) {
		t.Errorf("List: %q, %v", names, err)
	}
	if err := d.Remove("/etc/service"); !errors.Is(err, syscall.ENOTEMPTY) {
		t.Errorf("Remove of a full directory: %v", err)
	}
	if err := d.Remove("/etc/service/config"); err != nil {
		t.Error(err)
	}
	if _, err := d.ReadFile("/etc/service/config"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of nothing: %v", err)
	}
	if err := d.MkdirAll("/etc/generated/x"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("MkdirAll beneath a file: %v", err)
	}
}

// A file that stands in for one that may be replaced becomes one like any other.
func TestPresetDefault(t *testing.T) {
	d := New(sched.New(1), "a")
	made := "one"
	d.Preset("etc", func(etc *Inode) { etc.PresetDefault("x", func() []byte { return []byte(made) }) })
	check := func(what, want string) {
		t.Helper()
		if got, err := d.ReadFile("/etc/x"); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", what, got, err, want)
		}
	}
	check("at first", "one")
	made = "two"
	check("made anew", "two")
	d.PowerLoss(sched.NewStream(1))
	check("after a loss of power", "two")
	n, errno := d.Open(d.Root(), "/etc/x", OpenFlags{Write: true}, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	made = "three"
	check("opened for writing", "two")
	n.WriteAt([]byte("!"), 3)
	check("written", "two!")
	if a := n.Stat(); a.Kind != Regular || a.Mode != 0o644 || a.Size != 4 {
		t.Errorf("%+v", a)
	}
	n.Sync(false)
	d.PowerLoss(sched.NewStream(1))
	check("synced, and a loss of power", "two!")
	if err := d.WriteFile("/etc/x", []byte("4")); err != nil {
		t.Error(err)
	}
	check("by the test", "4")
	if err := d.Remove("/etc/x"); err != nil {
		t.Error(err)
	}
}

// BenchmarkRecovery is a world whose disk sees 40 operations and a loss of
// power.
func BenchmarkRecovery(b *testing.B) {
	record := make([]byte, 64)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d := New(sched.New(uint64(i)), "a")
		n := must(b, d, "/var/lib/wal")
		for k := range 20 {
			n.WriteAt(record, int64(k)*64)
			if k%4 == 3 {
				n.Sync(false)
			}
		}
		for k := range 5 {
			f := must(b, d, [...]string{"/tmp/0", "/tmp/1", "/tmp/2", "/tmp/3", "/tmp/4"}[k])
			f.WriteAt(record, 0)
			f.Sync(false)
		}
		d.PowerLoss(sched.NewStream(uint64(i), "disk"))
	}
}

// TestPowerOff: closing a file that was truncated and written anew allocates, but
// not when it is closed because the power is gone.
func TestPowerOff(t *testing.T) {
	for off, want := range map[bool]int{false: 0, true: 1} {
		d := New(sched.New(1), "a")
		d.WriteFile("/var/lib/f", []byte("old"))
		n, errno := d.Open(d.Root(), "/var/lib/f", OpenFlags{Truncate: true, Write: true}, 0)
		ok(t, errno)
		n.Hold()
		n.WriteAt([]byte("new"), 0)
		if off {
			d.PowerOff()
		}
		n.Drop(true)
		states, all := d.CrashStates(10)
		empty := 0
		for _, s := range states {
			if b, err := s.ReadFile("/var/lib/f"); err == nil && len(b) == 0 {
				empty++
			}
		}
		// Truncated, and the rest lost: with the power on, that is the journal's
		// choice alone.
		if !all || empty != 1 || len(d.journal) != 2-want {
			t.Errorf("off %v: %d states, all %v; %d are empty; %d records", off, len(states), all, empty, len(d.journal))
		}
	}
}
