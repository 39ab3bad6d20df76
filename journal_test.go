package dst

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dstkit/dst/sched"
)

func TestJournal(t *testing.T) {
	var j journal
	a := &Host{name: "a"}
	j.add(sched.Epoch+1500, a, "first\n")
	j.addLate(sched.Epoch+2e9, "cut %s > %s", []any{"a", "b"})
	j.add(sched.Epoch+3e9, nil, "two\nlines")
	want := `    0.000002s a        first
    2.000000s -        cut a > b
    3.000000s -        two
                       lines
`
	if got := j.tail(10); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := j.tail(1); !strings.HasPrefix(got, "… 2 lines before\n    3.000000s") {
		t.Errorf("the last line: got\n%s", got)
	}
}

func TestJournalIsBounded(t *testing.T) {
	var j journal
	a := &Host{name: "a"}
	const n = 100_000
	for i := range n {
		j.add(sched.Epoch+int64(i), a, fmt.Sprintf("line %d %s", i, strings.Repeat("x", 30)))
		if i%10 == 0 {
			j.addLate(sched.Epoch+int64(i), "late %d", []any{i})
		}
		if len(j.buf) > 2*maxJournal {
			t.Fatalf("%d bytes after %d lines", len(j.buf), i)
		}
	}
	if kept := len(j.lines); kept+j.dropped != n+n/10 || len(j.buf) < maxJournal/2 {
		t.Errorf("kept %d lines in %d bytes, dropped %d, of %d", kept, len(j.buf), j.dropped, n+n/10)
	}
	if got := j.tail(2); !strings.Contains(got, "line 99998 ") || !strings.Contains(got, "line 99999 x") {
		t.Errorf("the last lines are\n%s", got)
	}
	for i := range j.lines {
		if text := j.text(i); !strings.HasPrefix(text, "line ") && !strings.HasPrefix(text, "late ") {
			t.Fatalf("line %d is %q", i, text)
		}
	}
	var lates journal
	for i := range 1 << 20 {
		lates.addLate(sched.Epoch, "x %d", []any{i})
	}
	if len(lates.lines) > maxJournal/8 {
		t.Errorf("%d lines without text of their own are kept", len(lates.lines))
	}
}
