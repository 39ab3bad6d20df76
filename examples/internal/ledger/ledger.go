// Package ledger is what the examples of storage engines check them against: it knows
// all that writers ever asked a store of keys and values to do, and tells whether what
// a store has after a restart, or shows to a reader, can be explained by that.
//
// Each of several writers has keys of its own and changes them by transactions, one
// after another. So what a writer's keys hold is the state after one of its
// transactions, or the store is wrong: a transaction was torn, or lost, or undone, or
// something is there that nobody wrote. Which one it is must lie within bounds: not
// before what is durable, not after what was begun.
package ledger

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Seq are the keys that each transaction of a writer sets to its number: the first
// and the last of its keys in order, so that a reader who sees two states in one look
// is found out.
var Seq = [2]string{"a", "z"}

// An Op is one change.
type Op struct {
	Clear      bool // all keys of the writer but those of Seq are deleted
	Delete     bool
	Key, Value string
}

// A Tx is a transaction: all of its changes come about, or none.
type Tx struct {
	Writer, Seq int
	Ops         []Op // of which the last two set Seq

	before []int // what had been acknowledged, by writer, when it began
}

// A Ledger knows the transactions of a run. Its methods never wait: they may be called
// on any goroutine.
type Ledger struct {
	mu      sync.Mutex
	keys    int
	writers []*writer
	counts  Counts
}

// Counts is what happened.
type Counts struct {
	Begun, Acked, Durable int // transactions
	Recovered             int // states of all keys, after a restart, that were right
	Unacked               int // transactions that were found there though nobody had been told so
	Forgotten             int // that were acknowledged and not durable, and are gone
	Looks                 int // states that readers saw, and were right
}

type writer struct {
	states  []map[string]string // after each transaction
	durable int                 // this transaction will be there, whatever happens
	acked   int
}

// New returns the ledger of a store that has nothing yet.
func New(writers, keys int) *Ledger {
	l := &Ledger{keys: keys}
	for range writers {
		l.writers = append(l.writers, &writer{states: []map[string]string{{}}})
	}
	return l
}

// Begin draws the next transaction of a writer, which is begun.
func (l *Ledger) Begin(i int, rng *rand.Rand, largest int) *Tx {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.writers[i]
	l.counts.Begun++
	tx := &Tx{Writer: i, Seq: len(w.states)}
	for _, w := range l.writers {
		tx.before = append(tx.before, w.acked)
	}
	if rng.IntN(25) == 0 {
		tx.Ops = append(tx.Ops, Op{Clear: true})
	}
	for range 1 + rng.IntN(6) {
		op := Op{Key: fmt.Sprintf("k%03d", rng.IntN(l.keys))}
		if op.Delete = rng.IntN(4) == 0; !op.Delete {
			op.Value = fmt.Sprintf("%d.%d.%s=", i, tx.Seq, op.Key)
			size := rng.IntN(64)
			if rng.IntN(3) == 0 {
				size = rng.IntN(largest)
			}
			op.Value += strings.Repeat(string(rune('a'+rng.IntN(26))), size)
		}
		tx.Ops = append(tx.Ops, op)
	}
	for _, key := range Seq {
		tx.Ops = append(tx.Ops, Op{Key: key, Value: strconv.Itoa(tx.Seq)})
	}
	w.states = append(w.states, apply(w.states[len(w.states)-1], tx.Ops))
	return tx
}

func apply(state map[string]string, ops []Op) map[string]string {
	state = maps.Clone(state)
	for _, op := range ops {
		switch {
		case op.Clear:
			maps.DeleteFunc(state, func(key, _ string) bool { return !slices.Contains(Seq[:], key) })
		case op.Delete:
			delete(state, op.Key)
		default:
			state[op.Key] = op.Value
		}
	}
	return state
}

// Acked is told that a transaction was acknowledged. If it is durable then, so is all
// that had been acknowledged before it began: stores keep one log.
func (l *Ledger) Acked(tx *Tx, durable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.writers[tx.Writer]
	l.counts.Acked++
	w.acked = max(w.acked, tx.Seq)
	if durable {
		l.counts.Durable++
		w.durable = max(w.durable, tx.Seq)
		for i, seq := range tx.before {
			l.writers[i].durable = max(l.writers[i].durable, seq)
		}
	}
}

// Undone is told that the writer's last transaction has failed, and that the store said
// it did nothing: it will not be seen.
func (l *Ledger) Undone(tx *Tx) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.writers[tx.Writer]
	if tx.Seq == len(w.states)-1 {
		w.states = w.states[:tx.Seq]
	}
}

// A Mark is what had been acknowledged at some time.
type Mark []int

// Mark returns what has been acknowledged: a look that begins now must see it.
func (l *Ledger) Mark() (m Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writers {
		m = append(m, w.acked)
	}
	return m
}

// Durable returns what is durable.
func (l *Ledger) Durable() (m Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writers {
		m = append(m, w.durable)
	}
	return m
}

// A Violation is what must not be. Kind is one of few words.
type Violation struct{ Kind, What string }

func (v *Violation) Error() string { return v.Kind + ": " + v.What }

// find returns the transaction after which the keys of a writer hold what they hold.
func (l *Ledger) find(i, from int, got map[string]string) (int, *Violation) {
	w := l.writers[i]
	if len(got) == 0 && from == 0 {
		return 0, nil
	}
	seqs := [2]int{}
	for at, key := range Seq {
		value, ok := got[key]
		if n, err := strconv.Atoi(value); ok && (err != nil || n < 1 || n >= len(w.states)) {
			return 0, &Violation{"foreign", fmt.Sprintf("writer %d: %s is %.40q, and %d transactions were begun", i, key, value, len(w.states)-1)}
		} else if ok {
			seqs[at] = n
		}
	}
	if seqs[0] != seqs[1] {
		return 0, &Violation{"torn", fmt.Sprintf("writer %d: %s is %d, %s is %d", i, Seq[0], seqs[0], Seq[1], seqs[1])}
	}
	if seqs[0] < from {
		return 0, &Violation{"lost", fmt.Sprintf("writer %d: the state is that after transaction %d, and %d was acknowledged", i, seqs[0], from)}
	}
	want := w.states[seqs[0]]
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, ok := got[key]; !ok {
			return 0, &Violation{"missing", fmt.Sprintf("writer %d: after transaction %d %s is gone", i, seqs[0], key)}
		} else if value != want[key] {
			return 0, &Violation{"wrong", fmt.Sprintf("writer %d: after transaction %d %s is %.40q (%d bytes), not %.40q (%d bytes)", i, seqs[0], key, value, len(value), want[key], len(want[key]))}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			return 0, &Violation{"resurrected", fmt.Sprintf("writer %d: after transaction %d %s is there, as %.40q", i, seqs[0], key, got[key])}
		}
	}
	return seqs[0], nil
}

// Look checks what a reader saw, who began at a mark: got has the keys of each writer.
func (l *Ledger) Look(m Mark, got []map[string]string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.writers {
		if _, v := l.find(i, m[i], got[i]); v != nil {
			v.Kind = "reader: " + v.Kind
			return v
		}
	}
	l.counts.Looks++
	return nil
}

// Fits tells whether what a store has after a restart is right, and changes nothing.
func (l *Ledger) Fits(m Mark, got []map[string]string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.writers {
		if _, v := l.find(i, m[i], got[i]); v != nil {
			return v
		}
	}
	return nil
}

// Recovered is told what a store has after a restart, which writers go on from if it
// is right: not less than m, which is Durable after a loss of power and Mark after a
// crash. With durable, what is there now is there to stay.
func (l *Ledger) Recovered(m Mark, got []map[string]string, durable bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var seqs []int
	for i := range l.writers {
		seq, v := l.find(i, m[i], got[i])
		if v != nil {
			return v
		}
		seqs = append(seqs, seq)
	}
	for i, w := range l.writers {
		seq := seqs[i]
		l.counts.Unacked += max(0, seq-w.acked)
		l.counts.Forgotten += max(0, w.acked-seq)
		w.states = w.states[:seq+1]
		w.acked = seq
		if durable {
			w.durable = seq
		}
	}
	l.counts.Recovered++
	return nil
}

// Total returns how many transactions the writers' keys show, each its last.
func Total(got []map[string]string) (n int) {
	for _, keys := range got {
		seq, _ := strconv.Atoi(keys[Seq[0]])
		n += seq
	}
	return n
}

// Counts returns what happened so far.
func (l *Ledger) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}
