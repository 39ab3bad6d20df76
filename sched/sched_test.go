package sched

import "testing"

func TestEventOrder(t *testing.T) {
	w := New(1)
	var got []int
	w.At(Epoch+20, func() { got = append(got, 2) })
	w.At(Epoch+10, func() { got = append(got, 0); w.At(0, func() { got = append(got, 1) }) })
	w.At(Epoch+20, func() { got = append(got, 3) })
	for w.Step() {
	}
	for i, v := range got {
		if v != i {
			t.Fatalf("events ran in order %v, want 0 1 2 3", got)
		}
	}
	if len(got) != 4 || w.Now() != Epoch+20 {
		t.Fatalf("ran %v, clock at +%d", got, w.Now()-Epoch)
	}
}

func TestStreamsAreApart(t *testing.T) {
	a, b := New(7), New(7)
	a.Stream("disk").Uint64()
	if x, y := a.Stream("net").Uint64(), b.Stream("net").Uint64(); x != y {
		t.Fatalf("a draw of stream disk moved stream net: %x, %x", x, y)
	}
	if New(8).Stream("net").Uint64() == New(7).Stream("net").Uint64() {
		t.Fatal("two seeds drew the same")
	}
}
