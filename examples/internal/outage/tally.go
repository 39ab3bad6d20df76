//go:build dst

package outage

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/examples/internal/ledger"
)

// A Tally is what happened in the runs of a test.
type Tally struct {
	ledger.Counts
	Runs, Losses, Crashes int
	Early                 int // restarts that might be cut short
	Ended                 int // processes that ended themselves, after an error
	Faulty                int // rounds in which calls failed
	States, Whole         int // that were recovered from; losses of which they were all
	Virtual               time.Duration
}

func (t *Tally) add(c ledger.Counts, virtual time.Duration) {
	t.Runs++
	t.Virtual += virtual
	t.Begun += c.Begun
	t.Acked += c.Acked
	t.Durable += c.Durable
	t.Recovered += c.Recovered
	t.Unacked += c.Unacked
	t.Forgotten += c.Forgotten
	t.Looks += c.Looks
}

func (t *Tally) String() string {
	return fmt.Sprintf("%d runs of %v: %d losses of power, %d crashes, %d restarts cut short or nearly so, %d processes that ended after an error, in %d rounds with errors; "+
		"%d transactions, %d acknowledged, %d of them durable; %d recoveries, %d transactions found that were not acknowledged, %d acknowledged and not durable gone; %d looks of readers; %d states of a disk recovered from, %d times all there were",
		t.Runs, t.Virtual, t.Losses, t.Crashes, t.Early, t.Ended, t.Faulty, t.Begun, t.Acked, t.Durable, t.Recovered, t.Unacked, t.Forgotten, t.Looks, t.States, t.Whole)
}

// Sweep runs a plan under each seed: it has to hold. More tells what else the test
// wants to see, at the end.
func (p Plan) Sweep(t *testing.T, seeds int) {
	var tally Tally
	dst.Run(t, func(w *dst.World) {
		if err := p.Run(w, &tally); err != nil {
			w.Fatalf("%v", err)
		}
	}, dst.Seeds(seeds))
	t.Log(&tally)
	if n := tally.Runs; n >= 20 && (tally.Losses < n || tally.Crashes < n || tally.Recovered < 3*n || tally.Unacked == 0 || tally.Looks < n || tally.Durable < 10*n) {
		t.Errorf("that is too little in %d runs", n)
	}
}

// Broken runs a plan under each seed, of which some are to be found out. It returns
// under how many what was found, by kind.
func (p Plan) Broken(t *testing.T, seeds int) {
	var tally Tally
	kinds := map[string]int{}
	caught, first := 0, uint64(0)
	dst.Run(t, func(w *dst.World) {
		err := p.Run(w, &tally)
		if err == nil {
			return
		}
		if caught++; caught == 1 {
			first = w.Seed()
			t.Logf("seed %d: %.1500v", first, err)
		}
		kind := "other"
		if v := (*ledger.Violation)(nil); errors.As(err, &v) {
			kind = v.Kind
		}
		kinds[kind]++
		w.Logf("caught: %v", err)
	}, dst.Seeds(seeds))
	var by []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		by = append(by, fmt.Sprintf("%d × %s", kinds[kind], kind))
	}
	t.Logf("caught under %d of %d seeds, first under %d: %s", caught, tally.Runs, first, strings.Join(by, ", "))
	if tally.Runs >= 20 && caught == 0 && !p.Rare {
		t.Error("nothing was seen: the test tests nothing")
	}
}
