package sched

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A trace as text is a line a step,
//
//	1.000008898s   host reader goroutine 2 syscall read = 1	#12
//
// with the number of its stack behind a tab, then an empty line, then the
// stacks: "#12" and the frames, indented.

// WriteText writes the trace as text.
func (t *Trace) WriteText(out io.Writer) error {
	w := bufio.NewWriter(out)
	for i, s := range t.Steps {
		w.WriteString(t.line(i))
		if s.stack != 0 {
			fmt.Fprintf(w, "\t#%d", s.stack)
		}
		w.WriteByte('\n')
	}
	for id := 1; id < len(t.stacks); id++ {
		fmt.Fprintf(w, "\n#%d\n%s", id, t.stackText(int32(id)))
	}
	return w.Flush()
}

// A TraceText is a trace that was read back from text, such as that of another
// process.
type TraceText struct {
	lines  []string
	stacks []string // of the lines: numbers, or ""
	frames map[string]string
}

// ReadTrace reads what WriteText wrote.
func ReadTrace(in io.Reader) (*TraceText, error) {
	t := &TraceText{frames: map[string]string{}}
	r := bufio.NewReader(in)
	stack := "" // whose frames are being read
	for number := 1; ; number++ {
		line, err := r.ReadString('\n')
		if err == io.EOF && line == "" {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of a trace: %w", number, err)
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
		case strings.HasPrefix(line, "#"):
			if _, err := strconv.Atoi(line[1:]); err != nil {
				return nil, fmt.Errorf("line %d of a trace: want the number of a stack, found %q", number, line)
			}
			stack = line[1:]
		case strings.HasPrefix(line, "\t"):
			if stack == "" {
				return nil, fmt.Errorf("line %d of a trace: a frame before any stack: %q", number, line)
			}
			t.frames[stack] += line + "\n"
		default:
			text, id, _ := strings.Cut(line, "\t#")
			t.lines = append(t.lines, text)
			t.stacks = append(t.stacks, id)
		}
	}
}

// detail is [Trace.detail].
func (t *TraceText) detail(i int) string {
	if i >= len(t.lines) {
		return ended
	}
	text := "\t" + t.lines[i] + "\n"
	if stack := t.frames[t.stacks[i]]; stack != "" {
		return text + stack
	}
	for j := i - 1; j >= 0; j-- {
		if strings.HasSuffix(t.lines[j], " "+KindRun.String()) {
			return text + resumed + t.frames[t.stacks[j]]
		}
	}
	return text
}

// DiffText returns where an earlier run and this one part, or nil if they are
// the same.
func (t *Trace) DiffText(earlier *TraceText) *Divergence {
	n := min(len(t.Steps), len(earlier.lines))
	i := 0
	for i < n && t.line(i) == earlier.lines[i] {
		i++
	}
	if i == n && len(t.Steps) == len(earlier.lines) {
		return nil
	}
	return t.divergence(i, earlier.detail(i), t.detail(i))
}
