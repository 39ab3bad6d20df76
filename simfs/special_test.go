package simfs

import (
	"syscall"
	"testing"

	"github.com/dstkit/dst/sched"
)

// TestSpecialInodes: FIFOs and sockets are names like others, with nothing to
// read behind them.
func TestSpecialInodes(t *testing.T) {
	for _, kind := range []Kind{Fifo, Socket} {
		d := New(sched.New(1), "a")
		n, errno := d.Mknod(d.Root(), "/tmp/x", kind, 0o755)
		ok(t, errno)
		if a := n.Stat(); a.Kind != kind || a.Mode != 0o755 || a.Size != 0 || a.Nlink != 1 {
			t.Errorf("%+v", a)
		}
		if _, errno := d.Mknod(d.Root(), "/tmp/x", kind, 0o755); errno != syscall.EEXIST {
			t.Errorf("made twice: %v", errno)
		}
		_, errno = d.Open(d.Root(), "/tmp/x", OpenFlags{Write: true, Truncate: true}, 0)
		if want := map[Kind]syscall.Errno{Socket: syscall.ENXIO}[kind]; errno != want {
			t.Errorf("open: %v, want %v", errno, want)
		}
		if _, errno := d.Open(d.Root(), "/tmp/x", OpenFlags{PathOnly: true}, 0); errno != 0 {
			t.Errorf("open of the path: %v", errno)
		}
		for what, errno := range map[string]syscall.Errno{"truncate": n.Truncate(0), "sync": n.Sync(false)} {
			if errno != syscall.EINVAL {
				t.Errorf("%s: %v", what, errno)
			}
		}
		if _, err := d.ReadFile("/tmp/x"); err == nil {
			t.Error("there is something to read")
		}
		ok(t, d.Link(d.Root(), "/tmp/x", false, d.Root(), "/tmp/y"))
		ok(t, d.Rename(d.Root(), "/tmp/y", d.Root(), "/var/z", RenameFlags{}))
		if z, _ := d.Lookup(d.Root(), "/var/z", true); z != n {
			t.Error("another inode by the other name")
		}
		ok(t, d.Unlink(d.Root(), "/tmp/x"))
	}
	// A name that was not synced may be lost, as any.
	left := map[bool]int{}
	for seed := range uint64(100) {
		d := New(sched.New(seed), "a")
		d.Mknod(d.Root(), "/tmp/x", Socket, 0o755)
		d.Crash()
		d.PowerLoss(sched.NewStream(seed, "disk"))
		_, errno := d.Lookup(d.Root(), "/tmp/x", true)
		left[errno == 0]++
	}
	if left[true] == 0 || left[false] == 0 {
		t.Errorf("left by a loss of power: %v", left)
	}
}
