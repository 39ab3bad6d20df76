package dst

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

// How much of a failing test is shown: all seeds are named, with the command
// that reruns them.
const (
	fullSeeds    = 5   // seeds shown in full
	reportSeeds  = 100 // seeds that a report is written of
	inlineLines  = 50  // of the journal
	inlineStack  = 48  // lines of a stack, or of two
	inlineFailed = 3   // failures of one seed
)

// describe tells of a failed seed, and writes its report.
func (r *runner) describe(t *testing.T, w *World) string {
	var b strings.Builder
	full := r.failed <= fullSeeds
	fmt.Fprintf(&b, "seed %d failed at %s of virtual time: %s\n", w.seed, since(w.failures[0].at), w.failures[0].text)
	if full {
		writeIndented(&b, head(w.failures[0].stack, inlineStack))
		for i, f := range w.failures[1:] {
			if i+1 == inlineFailed {
				fmt.Fprintf(&b, "and %d failures more\n", len(w.failures)-i-1+w.unsaid)
				break
			}
			fmt.Fprintf(&b, "then at %s: %s\n", since(f.at), f.text)
			writeIndented(&b, head(f.stack, inlineStack))
		}
		for _, gap := range w.gaps {
			fmt.Fprintf(&b, "not simulated: %s\n", gap)
		}
	}
	fmt.Fprintf(&b, "rerun: %s\n", r.command(w.seed))
	switch path, err := r.write(t, w); {
	case err != nil:
		fmt.Fprintf(&b, "report: cannot be written: %v\n", err)
	case path != "":
		fmt.Fprintf(&b, "report: %s\n", path)
	}
	if w.captured != "" {
		fmt.Fprintf(&b, "packets: %s\n", w.captured)
	}
	if full && len(w.journal.lines) > 0 {
		b.WriteString("what hosts wrote, and what happened to them:\n")
		writeIndented(&b, w.journal.tail(inlineLines))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// head returns the first n lines of text, and says how many it leaves out.
func head(text string, n int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) <= n {
		return text
	}
	return strings.Join(lines[:n], "\n") + fmt.Sprintf("\n… %d lines more in the report", len(lines)-n)
}

func writeIndented(b *strings.Builder, text string) {
	if text = strings.TrimSuffix(text, "\n"); text != "" {
		b.WriteString("    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n")
	}
}

// reportText is the report of a seed: everything that is known about its run.
func (r *runner) reportText(w *World) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nseed %d, fingerprint %#016x, %d steps, %v of virtual time\nrerun: %s\n",
		r.t.Name(), w.seed, w.Fingerprint(), w.Steps(), w.Elapsed(), r.command(w.seed))
	if w.captured != "" {
		fmt.Fprintf(&b, "packets: %s\n", w.captured)
	}
	for _, f := range w.failures {
		fmt.Fprintf(&b, "\nfailed at %s: %s\n%s", since(f.at), f.text, f.stack)
		if f.stack != "" && !strings.HasSuffix(f.stack, "\n") {
			b.WriteByte('\n')
		}
	}
	if w.unsaid > 0 {
		fmt.Fprintf(&b, "\n… and %d failures more\n", w.unsaid)
	}
	if len(w.gaps) > 0 {
		b.WriteString("\nnot simulated:\n")
		for _, gap := range w.gaps {
			fmt.Fprintf(&b, "    %s\n", gap)
		}
	}
	for _, s := range w.spins.all() {
		fmt.Fprintf(&b, "\n%s", s)
	}
	b.WriteString("\nhosts:\n")
	for _, h := range w.hosts {
		state := "running"
		switch {
		case h.proc != nil && h.sh.Paused():
			state = "paused"
		case h.proc == nil && h.done:
			state = "done"
		case h.proc == nil && h.err != nil:
			state = "down: " + h.err.Error()
		case h.proc == nil:
			state = "down"
		}
		fmt.Fprintf(&b, "    %-12s %-12v boot %d, %s\n", h.name, h.stack.Addr(), h.sh.Incarnation(), state)
	}
	b.WriteString("\nwhat hosts wrote, and what happened to them (virtual time, host, text; - is the test):\n")
	b.WriteString(w.journal.tail(len(w.journal.lines)))
	return b.String()
}

// write writes the report of a seed and returns where it lies; "" if this test
// has enough of them.
func (r *runner) write(t *testing.T, w *World) (path string, err error) {
	if r.failed > reportSeeds {
		return "", nil
	}
	var dir string
	if f := flag.Lookup("test.artifacts"); f != nil && f.Value.String() == "true" {
		dir = t.ArtifactDir()
	} else {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("dst-%d", os.Getuid()), fileName(packagePath()))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
	}
	path = filepath.Join(dir, fileName(fmt.Sprintf("%s_seed=%d.txt", r.t.Name(), w.seed)))
	err = writeFile(path, func(f *os.File) error {
		_, err := f.WriteString(r.reportText(w))
		return err
	})
	if err != nil {
		return "", err
	}
	return path, nil
}

// fileName makes a name of a test or package one of a file.
func fileName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || strings.ContainsRune(`/\:*?"<>|`, c) {
			return '_'
		}
		return c
	}, name)
	if len(name) > 200 { // file systems take 255 bytes
		name = name[:100] + "…" + name[len(name)-90:]
	}
	return name
}

// command returns the command that reruns a seed.
func (r *runner) command(seed uint64) string {
	var b strings.Builder
	b.WriteString(testCommand)
	for _, f := range buildInfo().flags {
		b.WriteString(" " + shellQuote(f))
	}
	var pattern strings.Builder
	for part := range strings.SplitSeq(r.t.Name(), "/") {
		pattern.WriteString("^" + regexp.QuoteMeta(part) + "$/")
	}
	fmt.Fprintf(&pattern, "^seed=%d$", seed)
	fmt.Fprintf(&b, " -run %s %s -dst.seed=%d", shellQuote(pattern.String()), shellQuote(packagePath()), seed)
	if r.checked {
		b.WriteString(" -dst.check")
	}
	return b.String()
}

// shellQuote quotes a word for a shell where that is needed.
func shellQuote(word string) string {
	plain := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("/._-=,:@%+", c)
	}
	if word != "" && strings.TrimLeftFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// What the test binary knows of its build.
type buildFacts struct {
	pkg   string   // import path, or "." if it is not known
	flags []string // that a rerun needs, beside those of dstrewrite
}

var buildInfo = sync.OnceValue(func() buildFacts {
	facts := buildFacts{pkg: "."}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return facts
	}
	// A test of a package main has the package's own path, another one ends in ".test".
	if pkg := strings.TrimSuffix(info.Path, ".test"); pkg != "" && pkg != "command-line-arguments" {
		facts.pkg = pkg
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "-race":
			if s.Value == "true" {
				facts.flags = append(facts.flags, "-race")
			}
		case "-tags":
			var own []string
			for tag := range strings.SplitSeq(s.Value, ",") {
				switch tag {
				case "dst", "dstsim", "netgo", "osusergo", "":
				default:
					own = append(own, tag)
				}
			}
			if len(own) > 0 {
				facts.flags = append(facts.flags, "-tags="+strings.Join(own, ","))
			}
		}
	}
	return facts
})

// packagePath returns the import path of the package under test.
func packagePath() string { return buildInfo().pkg }
