package main

import (
	"fmt"
	"strings"
)

const spaces = " \t\r\n"

// splitQuoted splits a list such as GOFLAGS into words. A word that begins
// with ' or " reaches to the next such character; there are no escapes.
func splitQuoted(s string) ([]string, error) {
	var words []string
	for {
		s = strings.TrimLeft(s, spaces)
		if s == "" {
			return words, nil
		}
		var word string
		if q := s[0]; q == '\'' || q == '"' {
			end := strings.IndexByte(s[1:], q)
			if end < 0 {
				return nil, fmt.Errorf("expected a closing %c after %s", q, s)
			}
			word, s = s[1:1+end], s[end+2:]
		} else if end := strings.IndexAny(s, spaces); end >= 0 {
			word, s = s[:end], s[end:]
		} else {
			word, s = s, ""
		}
		words = append(words, word)
	}
}

// joinQuoted is the reverse of splitQuoted.
func joinQuoted(words []string) (string, error) {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case w != "" && !strings.ContainsAny(w, spaces+`'"`):
			quoted[i] = w
		case !strings.Contains(w, "'"):
			quoted[i] = "'" + w + "'"
		case !strings.Contains(w, `"`):
			quoted[i] = `"` + w + `"`
		default:
			return "", fmt.Errorf("GOFLAGS cannot hold %s: it has both kinds of quotes, and GOFLAGS knows no escapes; use a path without quotes", w)
		}
	}
	return strings.Join(quoted, " "), nil
}

// shellQuote quotes s for a POSIX shell.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
