package dst

import "testing"

// RunBench runs body in b.N worlds.
func RunBench(b *testing.B, body func(*World)) {
	r := &runner{body: body}
	for i := range b.N {
		if w := r.world(uint64(i+1), false); len(w.failures) > 0 {
			b.Fatal(w.failures[0].text)
		}
	}
}
