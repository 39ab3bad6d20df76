package dst

import (
	"fmt"

	"github.com/dstkit/dst/sched"
)

// A wait is one goroutine that waits for something on a host, or for the end of
// the host's process.
type wait struct {
	h      *Host
	over   bool
	waiter sched.Waiter
}

// newWait is called in kernel context.
func (h *Host) newWait() *wait {
	t := &wait{h: h}
	h.waits = append(h.waits, t)
	return t
}

// finish ends the wait, in kernel context.
func (t *wait) finish() {
	if t.over {
		return
	}
	t.over = true
	t.waiter.Wake()
	for i, other := range t.h.waits {
		if other == t {
			last := len(t.h.waits) - 1
			t.h.waits[i] = t.h.waits[last]
			t.h.waits[last] = nil
			t.h.waits = t.h.waits[:last]
			return
		}
	}
}

// park waits, outside of kernel context.
func (t *wait) park(why string) {
	for {
		sched.Enter()
		over := t.over
		sched.Leave()
		if over {
			return
		}
		t.waiter.Wait(why)
	}
}

// Do runs f as a goroutine of the host and waits until it has returned, or has
// ended in another way: by runtime.Goexit (and so t.FailNow), or with the host's
// process. A panic of f is one of the host's process. Do panics if the host is
// down.
func (h *Host) Do(f func()) {
	h.w.in()
	h.do(f).park("Host.Do on " + h.name)
}

func (h *Host) do(f func()) *wait {
	sched.Enter()
	defer sched.Leave()
	h.mustRun("Do")
	t := h.newWait()
	h.sh.Go(func() {
		defer func() {
			sched.Enter()
			t.finish()
			sched.Leave()
		}()
		f()
	})
	return t
}

// Go runs f as a goroutine of the host. It panics if the host is down.
func (h *Host) Go(f func()) {
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	h.mustRun("Go")
	h.sh.Go(f)
}

// mustRun panics if the host is down.
func (h *Host) mustRun(call string) {
	if h.proc != nil {
		return
	}
	why := "it was crashed or stopped"
	switch {
	case h.done:
		why = "its process has ended"
	case h.err != nil:
		why = "its process ended with: " + h.err.Error()
	}
	panic(fmt.Sprintf("dst: %s on host %q, which is down (%s); Restart it first", call, h.name, why))
}
