//go:build dst

package dst_test

import (
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
