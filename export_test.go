package dst

import "testing"

// RunWorlds runs body in n worlds, without a subtest for each.
func RunWorlds(t testing.TB, n int, body func(*World)) {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	r := &runner{body: body}
	for i := range n {
		if w := r.world(uint64(i+1), false, false); len(w.failures) > 0 {
			t.Fatalf("seed %d: %s\n%s", w.seed, w.failures[0].text, w.failures[0].stack)
		}
	}
}
