package dst

import (
	"fmt"
	"strings"
	"time"

	"github.com/dstkit/dst/sched"
)

// A journal is what a run has to tell afterwards, in order: what hosts wrote,
// what the test logged, and which faults it made. It is bounded; the oldest
// lines go first. Writing to it draws nothing and changes nothing. It is
// touched in kernel context only, or when the world has ended.
type journal struct {
	lines   []line
	buf     []byte // the texts, one after the other
	dropped int    // lines
	live    func(l line, text string)
}

// maxJournal bounds the texts in a journal, in bytes.
const maxJournal = 1 << 20

type line struct {
	at   int64 // virtual time
	host *Host // that wrote it; nil is the test itself
	end  int   // of its text in buf
	fd   int   // that a process wrote it to, or 0
	late *late // if not nil, the text is made when it is needed
}

type late struct {
	format string
	args   []any
}

func (j *journal) add(at int64, h *Host, text string) { j.output(at, h, 0, text) }

// output is add for what a process wrote.
func (j *journal) output(at int64, h *Host, fd int, text string) {
	text = strings.TrimSuffix(text, "\n")
	j.buf = append(j.buf, text...)
	j.push(line{at: at, host: h, end: len(j.buf), fd: fd})
	if len(j.buf) > maxJournal+maxJournal/4 {
		j.shrink()
	}
}

// addLate is add for a text that need not be made unless the seed fails.
func (j *journal) addLate(at int64, format string, args []any) {
	j.push(line{at: at, end: len(j.buf), late: &late{format, args}})
}

func (j *journal) push(l line) {
	j.lines = append(j.lines, l)
	if j.live != nil {
		j.live(l, j.text(len(j.lines)-1))
	}
	if len(j.lines) > maxJournal/8 {
		j.drop(len(j.lines) / 2)
	}
}

// shrink drops lines until the texts are within the bound.
func (j *journal) shrink() {
	i := 0
	for i < len(j.lines)-1 && len(j.buf)-j.lines[i].end > maxJournal {
		i++
	}
	j.drop(i + 1)
}

// drop forgets the first n lines.
func (j *journal) drop(n int) {
	cut := j.lines[n-1].end
	j.buf = j.buf[:copy(j.buf, j.buf[cut:])]
	kept := copy(j.lines, j.lines[n:])
	clear(j.lines[kept:])
	j.lines = j.lines[:kept]
	for i := range j.lines {
		j.lines[i].end -= cut
	}
	j.dropped += n
}

func (j *journal) text(i int) string {
	l := j.lines[i]
	if l.late != nil {
		return fmt.Sprintf(l.late.format, l.late.args...)
	}
	start := 0
	if i > 0 {
		start = j.lines[i-1].end
	}
	return string(j.buf[start:l.end])
}

// outputOf returns the lines that a host's processes wrote.
func (j *journal) outputOf(h *Host) (list []Line) {
	for i, l := range j.lines {
		if l.fd != 0 && l.host == h {
			list = append(list, Line{At: time.Duration(l.at - sched.Epoch), FD: l.fd, Text: j.text(i)})
		}
	}
	return list
}

// tail renders the last n lines, after a note of how many came before them.
func (j *journal) tail(n int) string {
	var b strings.Builder
	first := max(0, len(j.lines)-n)
	if before := j.dropped + first; before > 0 {
		fmt.Fprintf(&b, "… %d lines before\n", before)
	}
	for i := first; i < len(j.lines); i++ {
		writeLine(&b, j.lines[i], j.text(i))
	}
	return b.String()
}

// writeLine renders a line: virtual time since the start, host, text.
func writeLine(b *strings.Builder, l line, text string) {
	name := "-"
	if l.host != nil {
		name = l.host.name
	}
	fmt.Fprintf(b, "%13s %-8s ", since(l.at), name)
	b.WriteString(strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 23)))
	b.WriteByte('\n')
}

// since renders a virtual time as seconds since the world began.
func since(at int64) string {
	return fmt.Sprintf("%.6fs", time.Duration(at-sched.Epoch).Seconds())
}
