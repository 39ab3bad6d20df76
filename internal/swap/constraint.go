package swap

import (
	"bytes"
	"fmt"
	"go/build/constraint"
	"slices"
	"strings"
)

// A header is what stands above a file's package clause, as far as build constraints go.
type header struct {
	goBuild   int   // where the line of //go:build begins, or -1
	plusBuild []int // where the lines of // +build begin, if they are constraints
}

// readHeader finds the build constraints as the go command does: a //go:build line, or
// else // +build lines that an empty line parts from what follows.
func readHeader(src []byte) header {
	h := header{goBuild: -1}
	var pending []int
	inComment := false
	for pos := bom(src); pos < len(src); {
		line, next := lineAt(src, pos)
		text := strings.TrimSpace(string(line))
		switch {
		case inComment:
			if _, after, ok := strings.Cut(text, "*/"); ok {
				inComment = false
				if strings.TrimSpace(after) != "" {
					return h
				}
			}
		case text == "":
			h.plusBuild = append(h.plusBuild, pending...)
			pending = nil
		case constraint.IsGoBuild(text):
			if h.goBuild < 0 {
				h.goBuild = pos
			}
		case constraint.IsPlusBuild(text):
			pending = append(pending, pos)
		case strings.HasPrefix(text, "//"):
		case strings.HasPrefix(text, "/*"):
			_, after, ends := strings.Cut(text[2:], "*/")
			if ends && strings.TrimSpace(after) != "" {
				return h
			}
			inComment = !ends
		default:
			return h
		}
		pos = next
	}
	return h
}

// lineAt returns the line at pos, without its end, and where the next one begins.
func lineAt(src []byte, pos int) (line []byte, next int) {
	if i := bytes.IndexByte(src[pos:], '\n'); i >= 0 {
		return src[pos : pos+i], pos + i + 1
	}
	return src[pos:], len(src)
}

// bom returns the length of a byte order mark, which has to stay first.
func bom(src []byte) int {
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		return 3
	}
	return 0
}

// eol returns how the file's lines end.
func eol(src []byte) string {
	if line, next := lineAt(src, 0); next > len(line) && bytes.HasSuffix(line, []byte("\r")) {
		return "\r\n"
	}
	return "\n"
}

// expr returns the file's constraint, or nil.
func (h header) expr(src []byte) (constraint.Expr, error) {
	starts := h.plusBuild
	if h.goBuild >= 0 {
		starts = []int{h.goBuild}
	}
	var all constraint.Expr
	for _, pos := range starts {
		line, _ := lineAt(src, pos)
		x, err := constraint.Parse(strings.TrimSpace(string(line)))
		if err != nil {
			return nil, fmt.Errorf("its build constraint %q: %w", line, err)
		}
		if all == nil {
			all = x
		} else {
			all = &constraint.AndExpr{X: all, Y: x}
		}
	}
	return all, nil
}

// possible tells whether some build has the file, given what some tags are.
func possible(x constraint.Expr, fixed map[string]bool) bool {
	var tags []string
	x.Eval(func(tag string) bool { tags = append(tags, tag); return true })
	x.Eval(func(tag string) bool { tags = append(tags, tag); return false })
	slices.Sort(tags)
	tags = slices.Compact(tags)
	if len(tags) > 16 {
		return true // too many to try
	}
	for mask := range 1 << len(tags) {
		if x.Eval(func(tag string) bool {
			if v, ok := fixed[tag]; ok {
				return v
			}
			i, _ := slices.BinarySearch(tags, tag)
			return mask>>i&1 != 0
		}) {
			return true
		}
	}
	return false
}

// constrain adds a term, "dst" or "!dst", to the build constraint of a file.
// Unconstrain is its inverse.
func constrain(src []byte, term string) []byte {
	h := readHeader(src)
	nl := eol(src)
	if h.goBuild < 0 && h.plusBuild == nil {
		at := bom(src)
		return slices.Concat(src[:at], []byte("//go:build "+term+nl+nl), src[at:])
	}
	if n := len(h.plusBuild); n > 0 {
		_, next := lineAt(src, h.plusBuild[n-1])
		src = slices.Concat(src[:next], []byte("// +build "+term+nl), src[next:])
	}
	if h.goBuild >= 0 {
		h = readHeader(src)
		from, to := exprOf(src, h.goBuild)
		text := string(src[from:to])
		if x, err := constraint.Parse("//go:build " + text); err == nil {
			if _, isOr := x.(*constraint.OrExpr); isOr || enclosed(text) {
				text = "(" + text + ")"
			}
		}
		src = slices.Concat(src[:from], []byte(text+" && "+term), src[to:])
	}
	return src
}

// exprOf returns where the expression of a //go:build line stands.
func exprOf(src []byte, pos int) (from, to int) {
	line, _ := lineAt(src, pos)
	from = pos + bytes.Index(line, []byte("build")) + len("build")
	to = pos + len(bytes.TrimRight(line, " \t\r"))
	for from < to && (src[from] == ' ' || src[from] == '\t') {
		from++
	}
	return from, to
}

// enclosed tells whether one pair of parentheses encloses all of text.
func enclosed(text string) bool {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return c == ')' && i == len(text)-1
		}
	}
	return false
}

// unconstrain undoes constrain; it reports whether there was something to undo.
func unconstrain(src []byte, term string) ([]byte, bool) {
	h := readHeader(src)
	nl := eol(src)
	if whole := []byte("//go:build " + term + nl + nl); bytes.HasPrefix(src[bom(src):], whole) {
		at := bom(src)
		return slices.Concat(src[:at], src[at+len(whole):]), true
	}
	found := false
	if h.goBuild >= 0 {
		from, to := exprOf(src, h.goBuild)
		text, ok := strings.CutSuffix(string(src[from:to]), " && "+term)
		if !ok {
			return src, false
		}
		if enclosed(text) {
			text = text[1 : len(text)-1]
		}
		src = slices.Concat(src[:from], []byte(text), src[to:])
		h, found = readHeader(src), true
	}
	if n := len(h.plusBuild); n > 0 {
		line, next := lineAt(src, h.plusBuild[n-1])
		if strings.TrimRight(string(line), "\r") == "// +build "+term {
			src = slices.Concat(src[:h.plusBuild[n-1]], src[next:])
			found = true
		}
	}
	return src, found
}
