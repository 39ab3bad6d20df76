package sched

// A Handler is what an event runs. Fire is called in kernel context: it must
// neither block nor call code of a host.
type Handler interface {
	Fire()
}

// An Event is one entry of the world's event queue. The zero value is an
// event that is not queued. An Event may be embedded in what it concerns
// (a packet, a deadline), so that queueing it allocates nothing. It must not
// be copied while queued.
type Event struct {
	handler Handler
	when    int64  // virtual nanoseconds
	seq     uint64 // order of queueing: first come, first served at one instant
	index   int    // position in the heap plus one; 0 means not queued
}

// Queued reports whether e waits in the queue.
func (e *Event) Queued() bool { return e.index != 0 }

// When tells the virtual time e is queued for.
func (e *Event) When() int64 { return e.when }

// eventQueue is a binary heap by (when, seq).
type eventQueue struct {
	heap []*Event
	seq  uint64
}

func (q *eventQueue) min() *Event {
	if len(q.heap) == 0 {
		return nil
	}
	return q.heap[0]
}

func (q *eventQueue) less(i, j int) bool {
	a, b := q.heap[i], q.heap[j]
	if a.when != b.when {
		return a.when < b.when
	}
	return a.seq < b.seq
}

func (q *eventQueue) swap(i, j int) {
	q.heap[i], q.heap[j] = q.heap[j], q.heap[i]
	q.heap[i].index = i + 1
	q.heap[j].index = j + 1
}

func (q *eventQueue) push(e *Event) {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	e.index = len(q.heap)
	q.up(len(q.heap) - 1)
}

func (q *eventQueue) remove(e *Event) {
	i, last := e.index-1, len(q.heap)-1
	if i != last {
		q.swap(i, last)
	}
	q.heap[last] = nil
	q.heap = q.heap[:last]
	e.index = 0
	if i != last {
		if !q.down(i) {
			q.up(i)
		}
	}
}

func (q *eventQueue) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.less(i, parent) {
			return
		}
		q.swap(i, parent)
		i = parent
	}
}

func (q *eventQueue) down(i int) (moved bool) {
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			return moved
		}
		if right := child + 1; right < len(q.heap) && q.less(right, child) {
			child = right
		}
		if !q.less(child, i) {
			return moved
		}
		q.swap(i, child)
		i = child
		moved = true
	}
}
