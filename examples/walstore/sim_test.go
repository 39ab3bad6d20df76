//go:build dst

package main_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/examples/walstore/store"
	"github.com/dstkit/dst/examples/walstore/wal"
	"github.com/dstkit/dst/simfs"
)

var update = flag.Bool("update", false, "write what was found into README.md")

var (
	bugs   = []wal.Bug{wal.NoBug, wal.NoSync, wal.TornAccepted, wal.DirNotSynced, store.EarlyAck, wal.StopsEarly}
	models = []simfs.Model{simfs.Ordered, simfs.Any}
)

// nameOf is how tests and the README call a bug.
func nameOf(bug wal.Bug) string {
	if bug == wal.NoBug {
		return "correct"
	}
	return string(bug)
}

// enough is how many seeds it takes to find each bug, with a margin.
const enough = 200

// What random losses of power find: nothing in the correct store, and each bug under
// some seeds. All of it, with the README brought up to date:
//
//	DST_SEEDS=5000 dstrewrite test -timeout 1h ./examples/walstore -run TestSeeds -update
//
// A seed that is asked for by itself fails if it finds the bug, and tells how.
func TestSeeds(t *testing.T) {
	seeds := enough
	if testing.Short() {
		seeds = 20
	}
	one := flag.Lookup("dst.seed").Value.String() != "" || os.Getenv("DST_SEED") != ""
	rows := map[wal.Bug][]string{}
	total := 0
	for _, bug := range bugs {
		for _, model := range models {
			t.Run(nameOf(bug)+"/"+model.String(), func(t *testing.T) {
				runs, found, acks, snapshots, first, what := 0, 0, 0, 0, uint64(0), error(nil)
				dst.Run(t, func(w *dst.World) {
					s := newTrial(w, bug, model)
					err := s.test()
					runs++
					s.mu.Lock() // after a failure clients may still be at it
					acks += len(s.acks)
					s.mu.Unlock()
					snapshots += s.snapshots
					switch {
					case err == nil:
						return
					case bug == wal.NoBug || one:
						w.Failf("%v", err)
					}
					if found++; found == 1 {
						first, what = w.Seed(), err
					}
				}, dst.Seeds(seeds))
				t.Logf("%d puts were acknowledged and %d snapshots left; found under %d of %d seeds, the first is %d: %v", acks, snapshots, found, runs, first, what)
				if runs >= enough && (bug == wal.NoBug && (acks < 5*runs || snapshots < runs/10) || bug != wal.NoBug && found == 0) {
					t.Error("that tests too little")
				}
				cell := strconv.Itoa(found)
				if found > 0 {
					cell += fmt.Sprintf(" (%d)", first)
				}
				rows[bug], total = append(rows[bug], cell), runs
			})
		}
	}
	if *update && !t.Failed() {
		writeTable(t, total, rows)
	}
}

const (
	begin = "<!-- made by TestSeeds -update: begin -->\n"
	end   = "<!-- end -->\n"
)

// readTable returns the README in three parts, of which the table is the second.
func readTable(t *testing.T) (before, table, after string) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(readme), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("README.md has no %s… %s", begin, end)
	}
	return before, table, after
}

func writeTable(t *testing.T, seeds int, rows map[wal.Bug][]string) {
	var b strings.Builder
	fmt.Fprintf(&b, "| store | of %d seeds, `Ordered` | `Any` |\n| --- | --- | --- |\n", seeds)
	for _, bug := range bugs {
		fmt.Fprintf(&b, "| %s | %s |\n", nameOf(bug), strings.Join(rows[bug], " | "))
	}
	before, _, after := readTable(t)
	if err := os.WriteFile("README.md", []byte(before+begin+b.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The README's table is one of 5,000 seeds that found each bug, and nothing in the
// correct store.
func TestTable(t *testing.T) {
	_, table, _ := readTable(t)
	want := "\\| store \\| of 5000 seeds, `Ordered` \\| `Any` \\|\n\\| --- \\| --- \\| --- \\|\n\\| correct \\| 0 \\| 0 \\|\n"
	for _, bug := range bugs[1:] {
		want += `\| ` + regexp.QuoteMeta(nameOf(bug)) + ` \| [1-9]\d* \(\d+\) \| [1-9]\d* \(\d+\) \|` + "\n"
	}
	if !regexp.MustCompile(`^` + want + `$`).MatchString(table) {
		t.Errorf("README.md has this table:\n%swant one like this:\n%smake it anew: DST_SEEDS=5000 dstrewrite test -timeout 1h . -run TestSeeds -update", table, want)
	}
}

// A seed is the same run in any process, whatever the garbage collector does and
// however many processors there are.
func TestSameRuns(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runs := func(env ...string) string {
		cmd := exec.Command(exe, "-test.run=^TestSeeds$/^(correct|early-ack)$", "-dst.seeds=1-10", "-dst.v=1")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.Join(regexp.MustCompile(`(?m)^seed=.* (ok|FAIL)$`).FindAllString(string(out), -1), "\n")
	}
	one, other := runs("GOMAXPROCS=1", "GOGC=10"), runs("GOMAXPROCS=4", "GOGC=800")
	if n := strings.Count(one, "fingerprint="); n != 40 {
		t.Errorf("%d fingerprints, want 40:\n%s", n, one)
	}
	if one != other {
		t.Errorf("one process ran\n%s\nand another\n%s", one, other)
	}
}
