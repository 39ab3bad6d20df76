package simfs

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dstkit/dst/sched"
)

// TestAny: under the harsher model the name of a synced file may be lost, and so
// may an earlier change without the later one.
func TestAny(t *testing.T) {
	lib := func(d *Disk) *Inode { n, _ := d.Lookup(d.Root(), "/var/lib", true); return n }
	for _, test := range []struct {
		name string
		do   func(d *Disk)
		want []string
	}{
		{"synced file, entry not", func(d *Disk) {
			n := must(t, d, "/var/lib/f")
			n.WriteAt([]byte("data"), 0)
			ok(t, n.Sync(false))
		}, []string{"/f \"data\"\n", ""}},
		{"synced file and entry", func(d *Disk) {
			n := must(t, d, "/var/lib/f")
			n.WriteAt([]byte("data"), 0)
			ok(t, n.Sync(false))
			ok(t, lib(d).Sync(false))
		}, []string{"/f \"data\"\n"}},
		{"two entries in any order", func(d *Disk) {
			must(t, d, "/var/lib/1")
			must(t, d, "/var/lib/2")
		}, []string{"", "/1 \"\"\n", "/2 \"\"\n", "/1 \"\"\n/2 \"\"\n"}},
		{"a rename in halves", func(d *Disk) {
			must(t, d, "/var/lib/f")
			ok(t, lib(d).Sync(false))
			ok(t, d.Rename(d.Root(), "/var/lib/f", d.Root(), "/var/lib/g", RenameFlags{}))
		}, []string{"", "/f \"\"\n", "/g \"\"\n", "/f \"\"\n/g \"\"\n"}},
		{"a directory moved", func(d *Disk) {
			for _, dir := range []string{"x", "y"} {
				ok(t, d.Mkdir(lib(d), dir, 0o755))
			}
			d.SyncAll()
			ok(t, d.Rename(lib(d), "x", lib(d), "y/x", RenameFlags{}))
		}, []string{"/x/ 2 links\n/y/ 2 links\n", "/y/ 3 links\n/y/x/ 2 links\n", "/y/ 2 links\n"}},
	} {
		seen := losses(t, func(d *Disk) {
			d.SetModel(Any)
			test.do(d)
		})
		for outcome := range seen {
			if !slices.Contains(test.want, outcome) {
				t.Errorf("%s: this was left:\n%s", test.name, outcome)
			}
		}
		for _, outcome := range test.want {
			if seen[outcome] == 0 {
				t.Errorf("%s: in no run this was left:\n%s", test.name, outcome)
			}
		}
	}
}

// TestAnyModel: what is left of a file is as long as it once was, and each byte of
// it was there once, or is zero; what was synced and not touched since is as it
// was.
func TestAnyModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := New(sched.New(1), "a")
		d.SetModel(Any)
		n := must(t, d, "/var/lib/f")
		d.SyncAll()
		versions := [][]byte{nil}
		now := func() []byte {
			b := make([]byte, n.Size())
			n.data.readAt(b, 0)
			return b
		}
		letter := byte('a')
		rt.Repeat(map[string]func(*rapid.T){
			"write": func(*rapid.T) {
				letter++
				off, b := rapid.IntRange(0, 2*PageSize).Draw(rt, "off"), bytes.Repeat([]byte{letter}, rapid.IntRange(1, PageSize).Draw(rt, "size"))
				n.WriteAt(b, int64(off))
				if over := off%PageSize + len(b) - PageSize; over > 0 { // in two parts
					between := slices.Clone(versions[len(versions)-1])
					if end := off + len(b) - over; end > len(between) {
						between = append(between, make([]byte, end-len(between))...)
					}
					copy(between[off:], b[:len(b)-over])
					versions = append(versions, between)
				}
				versions = append(versions, now())
			},
			"truncate": func(*rapid.T) {
				ok(t, n.Truncate(int64(rapid.IntRange(0, 2*PageSize).Draw(rt, "size"))))
				versions = append(versions, now())
			},
			"sync": func(*rapid.T) {
				ok(t, n.Sync(true))
				versions = [][]byte{now()}
			},
		})
		d.PowerLoss(sched.NewStream(rapid.Uint64().Draw(rt, "power")))
		got := now()
		if !slices.ContainsFunc(versions, func(v []byte) bool { return len(v) == len(got) }) {
			rt.Fatalf("%d bytes are left, which it never had", len(got))
		}
		for i, b := range got {
			if b != 0 && !slices.ContainsFunc(versions, func(v []byte) bool { return i < len(v) && v[i] == b }) {
				rt.Fatalf("byte %d is %q, which it never was", i, b)
			}
		}
		if len(versions) == 1 && !bytes.Equal(got, versions[0]) {
			rt.Fatal("what was synced is gone")
		}
	})
}

// TestCrashStates: a write to a temporary file and a rename have few outcomes, and
// each can be put on another disk.
func TestCrashStates(t *testing.T) {
	d := New(sched.New(1), "a")
	if err := d.WriteFile("/var/lib/f", []byte("old")); err != nil {
		t.Fatal(err)
	}
	n := must(t, d, "/var/lib/f.tmp")
	n.WriteAt([]byte("new"), 0)
	ok(t, d.Rename(d.Root(), "/var/lib/f.tmp", d.Root(), "/var/lib/f", RenameFlags{}))
	states, all := d.CrashStates(100)
	seen := map[string]bool{}
	for _, s := range states {
		other := New(sched.New(2), "b")
		other.Preset("etc", func(dir *Inode) { dir.PresetGenerated("hostname", func() []byte { return []byte("b") }) })
		other.WriteFile("/var/lib/junk", nil)
		other.Restore(s)
		seen[tree(other)] = true
		if name, err := other.ReadFile("/etc/hostname"); string(name) != "b" || err != nil {
			t.Errorf("/etc/hostname: %q, %v", name, err)
		}
		stream := sched.NewStream(1)
		if before := tree(other); other.Snapshot().Digest() != s.Digest() {
			t.Errorf("restored, it is another:\n%s", before)
		}
		if other.PowerLoss(stream); stream.Draws() != 0 {
			t.Error("a restored disk is not durable")
		}
	}
	want := []string{"/f \"old\"\n", "/f \"old\"\n/f.tmp \"\"\n", "/f \"old\"\n/f.tmp \"new\"\n", "/f \"new\"\n"}
	for _, w := range want {
		if !seen[w] {
			t.Errorf("no state is\n%s", w)
		}
	}
	if !all || len(states) != len(want) || len(seen) != len(want) {
		t.Errorf("%d states, all %v: %v", len(states), all, seen)
	}

	// The first loses nothing.
	if states[0].Digest() != d.Snapshot().Digest() {
		t.Error("the first state lost something")
	}

	// Too many for all of them: a sample, the same each time.
	for i := range 40 {
		f := must(t, d, fmt.Sprint("/var/lib/", i))
		f.WriteAt(bytes.Repeat([]byte("x"), 3*PageSize), 0)
	}
	states, all = d.CrashStates(20)
	again, _ := d.CrashStates(20)
	if all || len(states) != 20 || len(again) != 20 {
		t.Fatalf("%d states, then %d; all %v", len(states), len(again), all)
	}
	for i := range states {
		if states[i].Digest() != again[i].Digest() {
			t.Errorf("state %d is another the second time", i)
		}
	}
	if b, err := states[1].ReadFile("/var/lib/f"); string(b) != "old" || err != nil {
		t.Errorf("the state that loses all has %q, %v", b, err)
	}
	if names, err := states[1].List("/var/lib"); strings.Join(names, " ") != "f" || err != nil {
		t.Errorf("the state that loses all has %q, %v", names, err)
	}
}
