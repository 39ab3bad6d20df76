package swap

import (
	"bytes"
	"errors"
	"fmt"
	"go/build"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Headers that a file may have, and what becomes of them.
var headers = []struct{ name, src, marked string }{
	{"none", "package p\n", "//go:build !dst\n\npackage p\n"},
	{"license", "// Copyright\n\n// Package p.\npackage p\n", "//go:build !dst\n\n// Copyright\n\n// Package p.\npackage p\n"},
	{"one", "//go:build linux\n\npackage p\n", "//go:build linux && !dst\n\npackage p\n"},
	{"or", "//go:build linux || darwin\n\npackage p\n", "//go:build (linux || darwin) && !dst\n\npackage p\n"},
	{"and", "//go:build linux && !cgo\n\npackage p\n", "//go:build linux && !cgo && !dst\n\npackage p\n"},
	{"enclosed", "//go:build (linux || darwin)\n\npackage p\n", "//go:build ((linux || darwin)) && !dst\n\npackage p\n"},
	{"two pairs", "//go:build (a || b) && (c || d)\n\npackage p\n", "//go:build (a || b) && (c || d) && !dst\n\npackage p\n"},
	{"spaces", "//go:build   linux  \n\npackage p\n", "//go:build   linux && !dst  \n\npackage p\n"},
	{"below a license", "// Copyright\n\n//go:build linux\npackage p\n", "// Copyright\n\n//go:build linux && !dst\npackage p\n"},
	{"both", "//go:build linux\n// +build linux\n\npackage p\n", "//go:build linux && !dst\n// +build linux\n// +build !dst\n\npackage p\n"},
	{"old", "// +build linux darwin\n// +build cgo\n\npackage p\n", "// +build linux darwin\n// +build cgo\n// +build !dst\n\npackage p\n"},
	{"not a constraint", "// +build linux\npackage p\n", "//go:build !dst\n\n// +build linux\npackage p\n"},
	{"in a comment", "/*\n//go:build linux\n*/\n\npackage p\n", "//go:build !dst\n\n/*\n//go:build linux\n*/\n\npackage p\n"},
	{"CRLF", "//go:build linux\r\n\r\npackage p\r\n", "//go:build linux && !dst\r\n\r\npackage p\r\n"},
	{"CRLF, none", "package p\r\n", "//go:build !dst\r\n\r\npackage p\r\n"},
	{"byte order mark", "\xef\xbb\xbfpackage p\n", "\xef\xbb\xbf//go:build !dst\n\npackage p\n"},
	{"no end", "package p", "//go:build !dst\n\npackage p"},
}

func TestConstrain(t *testing.T) {
	for _, h := range headers {
		got := constrain([]byte(h.src), "!dst")
		if string(got) != h.marked {
			t.Errorf("%s: %q, want %q", h.name, got, h.marked)
		}
		back, ok := unconstrain(got, "!dst")
		if !ok || string(back) != h.src {
			t.Errorf("%s: undone: %q, %v", h.name, back, ok)
		}
		if same, ok := unconstrain([]byte(h.src), "!dst"); ok || string(same) != h.src {
			t.Errorf("%s: undone without need: %q", h.name, same)
		}
	}
}

// The go command agrees: without the tag it takes the marked file where it took the
// original, with the tag never; the twin the other way round.
func TestConstraintsMean(t *testing.T) {
	dir := t.TempDir()
	match := func(src []byte, ctx build.Context) bool {
		if err := os.WriteFile(filepath.Join(dir, "x.go"), src, 0o666); err != nil {
			t.Fatal(err)
		}
		ok, err := ctx.MatchFile(dir, "x.go")
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	for _, h := range headers {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			plain := build.Context{Compiler: "gc", GOOS: goos, GOARCH: "amd64", BuildTags: []string{"a", "d"}}
			tagged := plain
			tagged.BuildTags = []string{"a", "d", "dst"}
			marked := mark([]byte(h.src), markLine("x.go", "dst"), "!dst")
			twin := mark([]byte(h.src), twinLine("x.go", "dst"), "dst")
			want := match([]byte(h.src), plain)
			if match(marked, plain) != want || match(twin, tagged) != want || match(marked, tagged) || match(twin, plain) {
				t.Errorf("%s, %s:\n%s\n%s", h.name, goos, marked, twin)
			}
			if bytes.Count(marked, []byte("\n")) != bytes.Count(twin, []byte("\n")) {
				t.Errorf("%s: original and twin differ in lines:\n%s\n%s", h.name, marked, twin)
			}
		}
	}
}

func TestMarkRoundTrip(t *testing.T) {
	lines := []string{"//go:build linux", "//go:build (a || b)", "//go:build a || !b", "// +build linux", "// +build !a,b", "", "// text", "/* x",
		"*/", "/* y */", "package p", "import \"net\"", "//go:build !dst && a", "// +build !dst"}
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		src := []byte(rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(t, "mark") + strings.Join(rapid.SliceOf(rapid.SampledFrom(lines)).Draw(t, "lines"), end))
		src = append(src, rapid.SampledFrom([]string{"", end}).Draw(t, "last")...)
		marked := mark(src, markLine("x.go", "dst"), "!dst")
		if back, ok := unmark(marked, "dst"); !ok || !bytes.Equal(back, src) {
			t.Fatalf("%q\nmarked %q\nundone %q", src, marked, back)
		}
	})
}

func TestTwinName(t *testing.T) {
	for name, want := range map[string]string{
		"foo.go": "foo_dst.go", "foo_test.go": "foo_dst_test.go", "foo_linux.go": "foo_dst_linux.go",
		"foo_linux_amd64_test.go": "foo_dst_linux_amd64_test.go", "foo_amd64.go": "foo_dst_amd64.go",
		"linux.go": "linux_dst.go", "linux_amd64.go": "linux_dst_amd64.go", "a_b.go": "a_b_dst.go", "foo_amd64_linux.go": "foo_amd64_dst_linux.go",
		"foo_unix.go": "foo_unix_dst.go",
	} {
		if got := twinName(name, "dst"); got != want {
			t.Errorf("the twin of %s is %s, want %s", name, got, want)
		}
	}
	// A twin is built where the original is, as go/build sees it.
	dir := t.TempDir()
	for _, os1 := range append([]string{"other"}, knownOS...) {
		for _, arch := range append([]string{"other"}, knownArch...) {
			for _, name := range []string{"x_" + os1 + "_" + arch + ".go", os1 + "_" + arch + "_test.go", "x_" + arch + ".go", arch + ".go", os1 + ".go"} {
				twin := twinName(name, "dst")
				for _, ctx := range []build.Context{{GOOS: os1, GOARCH: arch}, {GOOS: "nowhere", GOARCH: arch}, {GOOS: os1, GOARCH: "none"}, {GOOS: "nowhere", GOARCH: "none"}} {
					ctx.Compiler, ctx.OpenFile = "gc", func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil }
					a, err1 := ctx.MatchFile(dir, name)
					b, err2 := ctx.MatchFile(dir, twin)
					if a != b || err1 != nil || err2 != nil {
						t.Fatalf("on %s/%s, %s: %v, %s: %v (%v, %v)", ctx.GOOS, ctx.GOARCH, name, a, twin, b, err1, err2)
					}
				}
			}
		}
	}
}

// TestFailureTakesBack lets the last of the changes fail: the others are undone.
func TestFailureTakesBack(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		if err := os.WriteFile(path(name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", "old a")
	write("b.go", "old b")
	if err := os.Mkdir(path("z.go"), 0o777); err != nil {
		t.Fatal(err)
	}
	write("z.go/x", "")
	list := func() string {
		var s []string
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			b, _ := os.ReadFile(path(e.Name()))
			info, _ := e.Info()
			s = append(s, fmt.Sprintf("%s %v %q", e.Name(), info.Mode(), b))
		}
		return strings.Join(s, "\n")
	}
	before := list()
	p := Plan{Changes: []Change{
		{Path: path("a.go"), Old: []byte("old a"), New: []byte("new a")},
		{Path: path("b.go"), Old: []byte("old b")},
		{Path: path("c.go"), New: []byte("new c"), From: path("a.go")},
		{Path: path("z.go"), New: []byte("cannot be")},
	}}
	err := p.commit()
	if _, ok := errors.AsType[Refusal](err); !ok {
		t.Errorf("%T %v", err, err)
	}
	if after := list(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	p.Changes = p.Changes[:3]
	p.Changes[0].Old = []byte("not what is there")
	if err := p.Apply(); err == nil || !strings.Contains(err.Error(), "has changed in the meantime") || list() != before {
		t.Errorf("%v\n%s", err, list())
	}
	p.Changes[0].Old = []byte("old a")
	if err := p.Apply(); err != nil {
		t.Error(err)
	}
	if after := list(); !strings.HasPrefix(after, "a.go -rw-r----- \"new a\"\nc.go -rw-r----- \"new c\"\nz.go d") {
		t.Error(after)
	}
}

func TestPossible(t *testing.T) {
	for _, c := range []struct {
		line string
		want []bool // without the tag, with it, without tag ignore
	}{
		{"//go:build linux", []bool{true, true, true}},
		{"//go:build dst", []bool{false, true, true}},
		{"//go:build dst && linux", []bool{false, true, true}},
		{"//go:build !dst", []bool{true, false, true}},
		{"//go:build dst || linux", []bool{true, true, true}},
		{"//go:build ignore", []bool{true, true, false}},
		{"//go:build ignore && !dst", []bool{true, false, false}},
	} {
		x, err := readHeader([]byte(c.line + "\n\npackage p\n")).expr([]byte(c.line + "\n\npackage p\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := []bool{possible(x, map[string]bool{"dst": false}), possible(x, map[string]bool{"dst": true}), possible(x, map[string]bool{"ignore": false})}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.line, got, c.want)
		}
	}
}
