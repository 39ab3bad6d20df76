//go:build dst

package pebble

import (
	"testing"

	"github.com/dstkit/dst/examples/internal/outage"
	"github.com/dstkit/dst/simfs"
)

func plan(m simfs.Model, f flaw) outage.Plan {
	p := outage.Plan{Model: m, Writers: 3, Keys: 25, Largest: 3000, Unsynced: 4, Rounds: 8}
	p.Open = func() (outage.Store, error) { return open(outage.Dir, p.Writers, f) }
	return p
}

// What was written with Sync is there after a loss of power, and what was written
// before, with or without. The rest is there or not, in order.
func TestPower(t *testing.T) {
	plan(simfs.Ordered, none).Sweep(t, 10)
}

// So it is in every state that a loss of power could leave.
func TestStates(t *testing.T) {
	p := plan(simfs.Ordered, none)
	p.States, p.Rounds = 12, 4
	p.Sweep(t, 3)
}

// The oracle sees what it is there for.
func TestFlaws(t *testing.T) {
	for f := none; f < numFlaws; f++ {
		for _, m := range outage.Models {
			if f == none && m == simfs.Ordered {
				continue // that is TestPower
			}
			t.Run(f.String()+"/"+m.String(), func(t *testing.T) {
				p := plan(m, f)
				p.Rare = f == noDirSync
				p.Broken(t, 3)
			})
		}
	}
}
