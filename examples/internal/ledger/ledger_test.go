package ledger

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"
)

// The oracle sees each thing that it is there for.
func TestViolations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	l := New(2, 5)
	var states []map[string]string
	for i := range 20 {
		tx := l.Begin(0, rng, 100)
		l.Acked(tx, i < 10)
		states = append(states, maps.Clone(l.writers[0].states[tx.Seq]))
	}
	l.Begin(0, rng, 100) // nobody knows
	with := func(f func(m map[string]string)) map[string]string {
		m := maps.Clone(states[19])
		f(m)
		return m
	}
	for _, c := range []struct {
		kind string
		got  map[string]string
	}{
		{"", states[19]},
		{"", states[9]},
		{"lost", states[8]},
		{"lost", nil},
		{"torn", with(func(m map[string]string) { m["z"] = "19" })},
		{"torn", with(func(m map[string]string) { delete(m, "a") })},
		{"foreign", with(func(m map[string]string) { m["a"], m["z"] = "22", "22" })},
		{"resurrected", with(func(m map[string]string) { m["k"] = "" })},
		{"wrong", with(func(m map[string]string) {
			for key := range m {
				if key[0] == 'k' {
					m[key] += "."
				}
			}
		})},
		{"missing", with(func(m map[string]string) {
			maps.DeleteFunc(m, func(key, _ string) bool { return key[0] == 'k' })
		})},
	} {
		err := l.Fits(l.Durable(), []map[string]string{c.got, nil})
		var v *Violation
		if errors.As(err, &v); c.kind == "" && err != nil || c.kind != "" && (v == nil || v.Kind != c.kind) {
			t.Errorf("want %q, got %v", c.kind, err)
		}
	}
	if err := l.Look(l.Mark(), []map[string]string{states[18], nil}); err == nil {
		t.Error("a reader may not see less than was acknowledged")
	}
	if err := l.Recovered(l.Durable(), []map[string]string{states[14], nil}, true); err != nil {
		t.Fatal(err)
	}
	if tx := l.Begin(0, rng, 100); tx.Seq != 16 {
		t.Errorf("the writer goes on with transaction %d, not 16", tx.Seq)
	}
	if err := l.Fits(l.Durable(), []map[string]string{states[13], nil}); err == nil {
		t.Error("what was recovered may not be lost")
	}
	if c := l.Counts(); c != (Counts{Begun: 22, Acked: 20, Durable: 10, Recovered: 1, Forgotten: 5}) {
		t.Errorf("%+v", c)
	}
}

// A durable transaction takes with it what had been acknowledged before it began, and
// nothing else.
func TestOneLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	l := New(2, 5)
	l.Acked(l.Begin(0, rng, 9), false)
	tx := l.Begin(1, rng, 9)
	l.Acked(l.Begin(0, rng, 9), false)
	l.Acked(tx, true)
	if m := l.Durable(); m[0] != 1 || m[1] != 1 {
		t.Errorf("durable are %v, not 1 and 1", m)
	}
}
