//go:build dst

package pebble

import (
	"testing"

	"github.com/dstkit/dst/examples/internal/outage"
	"github.com/dstkit/dst/simfs"
)

func plan(m simfs.Model, f flaw) outage.Plan {
	p := outage.Plan{Model: m, Writers: 3, Keys: 25, Largest: 3000, Unsynced: 4, Rounds: 8, Errors: true}
	p.Open = func() (outage.Store, error) { return open(outage.Dir, p.Writers, f) }
	return p
}

var models = []struct {
	name  string
	model simfs.Model
}{{"ordered", simfs.Ordered}, {"any", simfs.Any}}

// What was written with Sync is there after a loss of power, and what was without it
// all or nothing, and in order.
func TestPower(t *testing.T) {
	for _, m := range models {
		t.Run(m.name, func(t *testing.T) { plan(m.model, none).Sweep(t, 8) })
	}
}

// So it is in every state that a loss of power could leave.
func TestStates(t *testing.T) {
	for _, m := range models {
		t.Run(m.name, func(t *testing.T) {
			p := plan(m.model, none)
			p.States, p.Rounds = 12, 4
			p.Sweep(t, 3)
		})
	}
}

// The oracle sees what it is there for.
func TestFlaws(t *testing.T) {
	for f := none + 1; f < numFlaws; f++ {
		for _, m := range models {
			t.Run(f.String()+"/"+m.name, func(t *testing.T) { plan(m.model, f).Broken(t, 3) })
		}
	}
}
