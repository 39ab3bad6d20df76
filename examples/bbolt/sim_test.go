//go:build dst

package bbolt

import (
	"testing"

	"github.com/dstkit/dst/examples/internal/outage"
	"github.com/dstkit/dst/simfs"
	"go.etcd.io/bbolt"
)

func plan(m simfs.Model, f flaw, o bbolt.Options) outage.Plan {
	p := outage.Plan{Model: m, Writers: 3, Keys: 30, Largest: 9000, Rounds: 8, CrashKeeps: true, Errors: true}
	p.Open = func() (outage.Store, error) { return open(outage.Dir, p.Writers, f, o) }
	return p
}

// What was committed is there after a loss of power, with each kind of freelist.
func TestPower(t *testing.T) {
	for _, m := range outage.Models {
		t.Run(m.String(), func(t *testing.T) {
			plan(m, none, bbolt.Options{}).Sweep(t, 8)
		})
		t.Run(m.String()+"/map", func(t *testing.T) {
			plan(m, none, bbolt.Options{FreelistType: bbolt.FreelistMapType, NoFreelistSync: true}).Sweep(t, 8)
		})
	}
}

// So it is in every state that a loss of power could leave.
func TestStates(t *testing.T) {
	for _, m := range outage.Models {
		t.Run(m.String(), func(t *testing.T) {
			p := plan(m, none, bbolt.Options{})
			p.States, p.Rounds = 12, 4
			p.Sweep(t, 3)
		})
	}
}

// The oracle sees what it is there for.
func TestFlaws(t *testing.T) {
	for f := none + 1; f < numFlaws; f++ {
		for _, m := range outage.Models {
			t.Run(f.String()+"/"+m.String(), func(t *testing.T) {
				p := plan(m, f, bbolt.Options{})
				p.Errors, p.Fsync = f != failedSync, f == failedSync
				p.Rare = f == inPlace || f == trustsPage || f == noDirSync
				if f == inPlace || f == trustsPage {
					p.States = 6 // rare, so all that a loss could leave is looked at
				}
				p.Broken(t, 3)
			})
		}
	}
}
