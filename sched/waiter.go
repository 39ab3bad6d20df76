package sched

// A Waiter parks one goroutine until it is woken. The zero value is ready.
type Waiter struct {
	g     uintptr // the goroutine parked, or 0
	id    uint32  // its number
	woken bool
}

// Waiting reports whether a goroutine is parked here.
func (wt *Waiter) Waiting() bool { return wt.g != 0 }

// Wait parks the calling goroutine until Wake; a Wake that came before is
// consumed at once. It is called outside kernel context. Why says what the
// goroutine waits for, in reports ("read udp 10.0.0.1:53").
func (wt *Waiter) Wait(why string) {
	h := CurrentHost()
	if h == nil {
		panic("sched: Waiter.Wait outside of a world")
	}
	w := h.w
	if w.watched() {
		rtDraw() // the watcher looks before time moves on
	}
	rtEnter()
	if !wt.woken {
		wt.g, wt.id = rtSelf()
		// While nobody else can run, what happens next happens here: the
		// events up to the one that wakes this goroutine cost no switch.
		for w.rt.runnable == 0 && w.rt.stop == 0 && !wt.woken {
			next := w.nextDue()
			if next > w.limit {
				break // the engine deals with it
			}
			w.rt.now = max(w.rt.now, next)
			w.fireDue()
			if wt.woken {
				break
			}
			rtTimers()
		}
		if !wt.woken {
			rtLeave(false)
			rtPark(why)
			rtEnter()
		} else {
			w.rt.steps++
			w.note(KindRun, h.id, uint64(wt.id))
		}
		wt.g = 0
	}
	wt.woken = false
	rtLeave(false)
}

// Wake makes the goroutine runnable, or lets the next Wait return at once. It
// is called in kernel context.
func (wt *Waiter) Wake() {
	if wt.woken {
		return
	}
	wt.woken = true
	if wt.g != 0 {
		rtWake(wt.g, wt.id)
	}
}
