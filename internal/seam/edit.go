package seam

import (
	"fmt"
	"regexp"
	"strings"
)

// An Edit replaces text of one file of the GOROOT.
type Edit struct {
	In      string // first line of the top-level declaration to look in, up to its "{" or "("; "" means the whole file
	Find    string // anchor: the exact text expected there
	Replace string // what it becomes; "$0" stands for the anchor itself
	Count   int    // how many times Find must occur; 0 means once
}

// A Patch is the edits of one file.
type Patch struct {
	File  string // path below GOROOT/src, slash separated
	Edits []Edit
}

// An AnchorError tells that a GOROOT's file does not read as a patch expects.
type AnchorError struct {
	Version string // Go release, e.g. "go1.26.8"; empty when not known
	File    string // path below GOROOT/src
	In      string // declaration searched, or ""
	Anchor  string // text looked for
	Want    int    // how often it was expected
	Got     int    // how often it was found; -1 when In itself was not found
}

func (e *AnchorError) Error() string {
	where := "the file"
	if e.In != "" {
		where = fmt.Sprintf("%q", e.In)
	}
	version := e.Version
	if version == "" {
		version = "this Go release"
	}
	if e.Got < 0 {
		return fmt.Sprintf("%s does not fit the simulation patches: %s has no declaration %q; use an unmodified Go of a supported release", version, e.File, e.In)
	}
	return fmt.Sprintf("%s does not fit the simulation patches: %s: anchor %q found %d times in %s, expected %d; use an unmodified Go of a supported release",
		version, e.File, firstLine(e.Anchor), e.Got, where, e.Want)
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i] + " …"
	}
	return s
}

// Apply returns src with the edits of p made, in order.
func (p *Patch) Apply(src string) (string, error) {
	for _, e := range p.Edits {
		start, end := 0, len(src)
		if e.In != "" {
			var ok bool
			if start, end, ok = declaration(src, e.In); !ok {
				return "", &AnchorError{File: p.File, In: e.In, Anchor: e.Find, Want: max(e.Count, 1), Got: -1}
			}
		}
		body := src[start:end]
		want := max(e.Count, 1)
		if got := strings.Count(body, e.Find); got != want {
			return "", &AnchorError{File: p.File, In: e.In, Anchor: e.Find, Want: want, Got: got}
		}
		body = strings.ReplaceAll(body, e.Find, strings.ReplaceAll(e.Replace, "$0", e.Find))
		src = src[:start] + body + src[end:]
	}
	return src, nil
}

var closing = regexp.MustCompile(`(?m)^[})].*$`)

// declaration finds the top-level declaration of a gofmt-ed file that starts
// with head: from the line that begins with it to the line that closes it.
func declaration(src, head string) (start, end int, ok bool) {
	i := strings.Index("\n"+src, "\n"+head)
	if i < 0 || strings.Contains(src[i+1:], "\n"+head) {
		return 0, 0, false
	}
	loc := closing.FindStringIndex(src[i:])
	if loc == nil {
		return 0, 0, false
	}
	return i, i + loc[1], true
}
