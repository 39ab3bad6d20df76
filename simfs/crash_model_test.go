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

// An oracle watches what is done to a disk, keeps every state that there ever
// was in full, and judges what a loss of power left. It knows the rules of the
// package documentation and nothing of how the disk keeps them.
type oracle struct {
	d     *Disk
	now   int      // of the operations so far
	trees []string // after each of them
	floor int      // metadata up to here is durable
	files map[*Inode]*history
	meta  map[*Inode]int // when something of the inode last changed
	data  map[*Inode]int // that fdatasync waits for
}

// A history is what happened to a file since it was last synced.
type history struct {
	start   version
	events  []event
	pending bool // writes that have no blocks yet
}

// A version is all of a file at some time, with what of it has blocks.
type version struct {
	b      []byte
	blocks map[int]bool
}

type event struct {
	version      // afterwards
	at      int  // when
	grows   bool // a write that made the file longer
	mark    bool // ordered with the journal: once that is durable up to here, so is this
	page    int  // of a write
	cut     [2]int
	kind    string // write, cut, reserve, mark
}

func newOracle(d *Disk) *oracle {
	o := &oracle{d: d, files: map[*Inode]*history{}, meta: map[*Inode]int{}, data: map[*Inode]int{}}
	o.trees = []string{o.tree()}
	return o
}

// tree is what names what, in lines.
func (o *oracle) tree() string {
	var b strings.Builder
	var walk func(path string, dir *Inode)
	walk = func(path string, dir *Inode) {
		for _, name := range dir.Names() {
			n := dir.Entry(name)
			fmt.Fprintf(&b, "%s/%s %p %o %d links\n", path, name, n, n.mode, n.nlink)
			if n.IsDir() {
				walk(path+"/"+name, n)
			}
		}
	}
	walk("", o.top())
	return b.String()
}

func (o *oracle) top() *Inode {
	n, _ := o.d.Lookup(o.d.root, "/var/lib", true)
	return n
}

// step ends an operation.
func (o *oracle) step(touched ...*Inode) {
	for _, n := range touched {
		if n != nil {
			o.meta[n] = o.now + 1
		}
	}
	o.now++
	o.trees = append(o.trees, o.tree())
}

func (o *oracle) history(n *Inode) *history {
	h := o.files[n]
	if h == nil {
		h = &history{}
		o.files[n] = h
	}
	return h
}

func (h *history) last() version {
	if k := len(h.events); k > 0 {
		return h.events[k-1].version
	}
	return h.start
}

func (v version) clone() version {
	c := version{bytes.Clone(v.b), map[int]bool{}}
	for p := range v.blocks {
		c.blocks[p] = true
	}
	return c
}

func (o *oracle) write(n *Inode, b []byte, off int) {
	h := o.history(n)
	for len(b) > 0 {
		part := b[:min(len(b), PageSize-off%PageSize)]
		v := h.last().clone()
		e := event{at: o.now + 1, kind: "write", page: off / PageSize}
		if end := off + len(part); end > len(v.b) {
			e.grows = true
			v.b = append(v.b, make([]byte, end-len(v.b))...)
		}
		if e.grows || !v.blocks[e.page] {
			h.pending = true
		}
		copy(v.b[off:], part)
		v.blocks[e.page] = true
		e.version = v
		h.events = append(h.events, e)
		off, b = off+len(part), b[len(part):]
	}
	o.step(n)
}

func (o *oracle) truncate(n *Inode, size int) {
	h := o.history(n)
	v := h.last().clone()
	if size != len(v.b) {
		if size < len(v.b) {
			v.b = v.b[:size:size]
		} else {
			v.b = append(v.b, make([]byte, size-len(v.b))...)
		}
		for p := range v.blocks {
			if p*PageSize >= size {
				delete(v.blocks, p)
			}
		}
		h.events = append(h.events, event{version: v, at: o.now + 1, kind: "cut", mark: true, cut: [2]int{size, 1 << 40}})
		if size == 0 {
			h.pending = false
		}
	}
	o.data[n] = o.now + 1
	o.step(n)
}

// allocated notes that what was written got its blocks, before what else the
// operation does.
func (o *oracle) allocated(n *Inode) {
	h := o.history(n)
	if h.pending {
		h.pending = false
		h.events = append(h.events, event{version: h.last(), at: o.now + 1, kind: "mark", mark: true})
		o.data[n], o.meta[n] = o.now+1, o.now+1
		o.trees = append(o.trees, o.trees[o.now])
		o.now++
	}
}

func (o *oracle) synced(n *Inode, dataOnly bool) {
	upto := o.meta[n]
	if dataOnly {
		upto = o.data[n]
	}
	if h := o.files[n]; h != nil {
		if h.pending {
			upto = o.now
		}
		*h = history{start: h.last()}
	}
	o.floor = max(o.floor, upto)
	o.step()
}

// judge tells why what is left could not be, or "".
func (o *oracle) judge() string {
	got := o.tree()
	why := "no state of the tree is this one:\n" + got
	for k := o.floor; k <= o.now; k++ {
		if o.trees[k] != got {
			continue
		}
		bad := ""
		for n, h := range o.files {
			if n.nlink == 0 {
				continue
			}
			b := make([]byte, n.Size())
			n.data.readAt(b, 0)
			if reason := h.allows(b, k); reason != "" {
				bad = fmt.Sprintf("with metadata up to %d of %d: file %p: %s", k, o.now, n, reason)
			}
		}
		if bad == "" {
			return ""
		}
		why = bad
	}
	return why
}

// allows tells why b cannot be the file's content if metadata up to time k is
// there, or "".
func (h *history) allows(b []byte, k int) string {
	must, may := 0, 0
	for i, e := range h.events {
		if e.at <= k {
			may = i + 1
			if e.mark {
				must = i + 1
			}
		}
	}
	why := fmt.Sprintf("it has %d bytes", len(b))
	for e := must; e <= may; e++ {
		if e > must && !h.events[e-1].grows {
			continue
		}
		if reason := h.allowsAt(b, e, may); reason == "" {
			return ""
		} else if len(b) == len(h.at(e).b) {
			why = reason
		}
	}
	return why
}

// at returns the version after the first e events.
func (h *history) at(e int) version {
	if e == 0 {
		return h.start
	}
	return h.events[e-1].version
}

func (h *history) allowsAt(b []byte, e, may int) string {
	if len(b) != len(h.at(e).b) {
		return "size"
	}
	for start := 0; start < len(b); start += PageSize {
		page, end := start/PageSize, start+PageSize
		low, high := 0, len(h.events)
		for i, v := range h.events {
			hits := v.kind == "write" && v.page == page && v.grows || v.kind == "cut" && v.cut[0] < end && v.cut[1] > start
			if hits && i < e {
				low = i + 1
			} else if v.kind == "cut" && hits {
				high = i
				break
			}
		}
		blocks := h.at(low).blocks[page]
		var firsts []int // versions that the page's blocks may have come with
		for v := low; v <= high; v++ {
			if v == low && blocks || v > low && v <= may && h.at(v).blocks[page] {
				firsts = append(firsts, v)
			}
		}
		if !blocks && allZero(b[start:min(end, len(b))]) {
			continue
		}
		// Every sector shows some version from one of those on.
		ok := len(firsts) > 0
		for at := start; ok && at < min(end, len(b)); at += SectorSize {
			sector := b[at:min(at+SectorSize, len(b))]
			ok = false
			for v := firsts[0]; v <= high && !ok; v++ {
				ok = shows(h.at(v).b, at, sector)
			}
		}
		if !ok {
			return fmt.Sprintf("page %d is of no version from %d to %d", page, low, high)
		}
	}
	return ""
}

// shows reports whether what lies at off in b, with zeroes behind, is want.
func shows(b []byte, off int, want []byte) bool {
	have := b[min(off, len(b)):min(off+len(want), len(b))]
	return bytes.Equal(have, want[:len(have)]) && allZero(want[len(have):])
}

func allZero(b []byte) bool { return bytes.IndexFunc(b, func(r rune) bool { return r != 0 }) < 0 }

// TestCrashModel does random things to a disk and cuts its power: what is left is
// always what the rules allow.
func TestCrashModel(t *testing.T) {
	lost, swept := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		d := New(sched.New(1), "a")
		o := newOracle(d)
		names := []string{"a", "b", "d/a", "d/b"}
		d.Mkdir(o.top(), "d", 0o755)
		o.step(o.top())
		pick := func() string { return rapid.SampledFrom(names).Draw(rt, "name") }
		dirOf := func(name string) *Inode { // of a name, whichever other names the file has
			dir := o.top()
			if strings.HasPrefix(name, "d/") {
				dir, _ = d.Lookup(dir, "d", true)
			}
			return dir
		}
		file := func() *Inode {
			name := pick()
			n, errno := d.Lookup(o.top(), name, false)
			if errno != 0 {
				n, errno = d.Open(o.top(), name, OpenFlags{Create: true, Write: true}, 0o644)
				if errno != 0 {
					rt.Skip()
				}
				o.history(n)
				o.data[n] = o.now + 1
				o.step(n, dirOf(name))
			}
			if n.IsDir() {
				rt.Skip()
			}
			return n
		}
		letter := byte('a')
		text := func() []byte {
			letter++
			size := rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 3*PageSize)).Draw(rt, "size")
			return bytes.Repeat([]byte{letter}, size)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(*rapid.T) {
				n, b := file(), text()
				off := n.Size()
				n.WriteAt(b, off)
				o.write(n, b, int(off))
			},
			"write": func(*rapid.T) {
				n, b := file(), text()
				off := rapid.IntRange(0, 4*PageSize).Draw(rt, "off")
				n.WriteAt(b, int64(off))
				o.write(n, b, off)
			},
			"truncate": func(*rapid.T) {
				n, size := file(), rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 4*PageSize)).Draw(rt, "size")
				ok(t, n.Truncate(int64(size)))
				o.truncate(n, size)
			},
			"rewrite": func(*rapid.T) { // open with O_TRUNC, write, close
				n, b := file(), text()
				n.Hold()
				ok(t, n.Truncate(0))
				o.truncate(n, 0)
				n.WriteAt(b, 0)
				o.write(n, b, 0)
				emptied := n.emptied
				n.Drop(true)
				if emptied {
					o.allocated(n)
				}
				o.step()
			},
			"sync": func(*rapid.T) {
				n, dataOnly := file(), rapid.Bool().Draw(rt, "data only")
				ok(t, n.Sync(dataOnly))
				o.synced(n, dataOnly)
			},
			"sync directory": func(*rapid.T) {
				dir := o.top()
				if d, errno := d.Lookup(dir, "d", true); errno == 0 && rapid.Bool().Draw(rt, "d") {
					dir = d
				}
				ok(t, dir.Sync(false))
				o.data[dir] = o.meta[dir]
				o.synced(dir, false)
			},
			"rename": func(*rapid.T) {
				from, to := pick(), pick()
				n, _ := d.Lookup(o.top(), from, false)
				old, _ := d.Lookup(o.top(), to, false)
				if n == nil {
					rt.Skip()
				}
				f := RenameFlags{Exchange: old != nil && rapid.Bool().Draw(rt, "exchange")}
				if d.Rename(o.top(), from, o.top(), to, f) != 0 || n == old {
					rt.Skip()
				}
				if old != nil && !f.Exchange {
					o.allocated(n)
				}
				o.step(n, old, dirOf(from), dirOf(to))
			},
			"unlink": func(*rapid.T) {
				name := pick()
				n, _ := d.Lookup(o.top(), name, false)
				if n == nil || d.Unlink(o.top(), name) != 0 {
					rt.Skip()
				}
				o.step(n, dirOf(name))
			},
			"link": func(*rapid.T) {
				from, to := pick(), pick()
				if d.Link(o.top(), from, false, o.top(), to) != 0 {
					rt.Skip()
				}
				n, _ := d.Lookup(o.top(), to, false)
				o.step(n, dirOf(to))
			},
			"chmod": func(*rapid.T) {
				n := file()
				n.Chmod(uint32(rapid.IntRange(0, 0o777).Draw(rt, "mode")))
				o.step(n)
			},
		})
		before := o.tree()
		states, all := d.CrashStates(50)
		if o.tree() != before {
			rt.Fatal("looking for the states changed the disk")
		}
		d.PowerLoss(sched.NewStream(rapid.Uint64().Draw(rt, "power"), "disk"))
		left := d.digest()
		if all && !slices.ContainsFunc(states, func(s *Snapshot) bool { return s.Digest() == left }) {
			rt.Fatalf("this is none of the %d states there are:\n%s", len(states), tree(d))
		}
		if why := o.judge(); why != "" {
			rt.Fatal(why)
		}
		if o.tree() != before {
			lost++
		}
		if all {
			swept++
		}
		again := sched.NewStream(1)
		if d.PowerLoss(again); d.digest() != left || again.Draws() != 0 {
			rt.Fatal("what survived was not durable")
		}
	})
	if lost == 0 || swept == 0 {
		t.Errorf("%d losses of power lost names, %d had few enough states to know them all", lost, swept)
	}
}
