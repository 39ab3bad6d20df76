//go:build dst

package dst_test

import (
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/dstkit/dst"
)

// BenchmarkWorld is one seed of four hosts that do nothing: what each seed of a
// test costs besides its work.
func BenchmarkWorld(b *testing.B) {
	names := []string{"a", "b", "c", "client"}
	b.ReportAllocs()
	dst.RunWorlds(b, b.N, func(w *dst.World) {
		for _, name := range names {
			w.Host(name)
		}
	})
}

// BenchmarkFirstCall is 100 goroutines that make one system call each, after a
// collection: what their stacks cost if they are too small for it.
func BenchmarkFirstCall(b *testing.B) {
	runtime.GC()
	dst.RunWorlds(b, b.N, func(w *dst.World) {
		w.Host("a").Do(func() {
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() { os.Stat("/etc/hosts") })
			}
			all.Wait()
		})
	})
}
