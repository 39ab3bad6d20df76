// Package doc takes an analyzer's documentation from its package's doc comment,
// so that go doc, the help command and the site say the same.
package doc

import "strings"

// Of returns what follows "# Analyzer NAME" in the comment of an embedded doc.go.
func Of(source string) string {
	_, text, ok := strings.Cut(source, "\n// # Analyzer ")
	if !ok {
		panic("doc.go: expected a section // # Analyzer NAME")
	}
	_, text, _ = strings.Cut(text, "\n//\n")
	text, _, _ = strings.Cut(text, "\npackage ")
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(line, "//")
		b.WriteString(strings.TrimPrefix(line, " "))
	}
	return b.String()
}

// URL is where an analyzer is described.
func URL(name string) string {
	return "https://github.com/dstkit/dst/blob/main/docs/dstvet.md#" + name
}
