package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The JSON that go vet prints: package → analyzer → diagnostics or an error.
type (
	diagnostic struct {
		Category string          `json:"category,omitempty"`
		Posn     string          `json:"posn"`
		End      string          `json:"end,omitempty"`
		Message  string          `json:"message"`
		Fixes    json.RawMessage `json:"suggested_fixes,omitempty"`
		Related  []related       `json:"related,omitempty"`
	}
	related struct {
		Posn    string `json:"posn"`
		End     string `json:"end,omitempty"`
		Message string `json:"message"`
	}
)

// A finding is one diagnostic with what it belongs to.
type finding struct {
	pkg, analyzer string
	diagnostic
	file      string
	line, col int
}

type findings struct {
	list   []finding
	errors []string
}

// decode reads the objects that go vet -json prints, one a package, between lines
// that begin with #.
func decode(r io.Reader) (*findings, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") {
			text.WriteString(line)
		}
	}
	dec := json.NewDecoder(strings.NewReader(text.String()))
	f := new(findings)
	for {
		var tree map[string]map[string]json.RawMessage
		if err := dec.Decode(&tree); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		for _, pkg := range slices.Sorted(maps.Keys(tree)) {
			byName := tree[pkg]
			for _, name := range slices.Sorted(maps.Keys(byName)) {
				raw := byName[name]
				if err := f.add(pkg, name, raw); err != nil {
					return nil, err
				}
			}
		}
	}
	slices.Sort(f.errors)
	slices.SortFunc(f.list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col),
			cmp.Compare(a.analyzer, b.analyzer), cmp.Compare(a.Message, b.Message))
	})
	f.list = slices.CompactFunc(f.list, func(a, b finding) bool {
		return a.Posn == b.Posn && a.analyzer == b.analyzer && a.Message == b.Message
	})
	f.mergeImports()
	return f, nil
}

func (f *findings) add(pkg, name string, raw json.RawMessage) error {
	var list []diagnostic
	if err := json.Unmarshal(raw, &list); err != nil {
		var failed struct{ Error string }
		if json.Unmarshal(raw, &failed) == nil && failed.Error != "" {
			f.errors = append(f.errors, fmt.Sprintf("%s: %s: %s", pkg, name, failed.Error))
			return nil
		}
		return fmt.Errorf("%s: %s: %w", pkg, name, err)
	}
	for _, d := range list {
		file, line, col := split(d.Posn)
		f.list = append(f.list, finding{pkg, name, d, file, line, col})
	}
	return nil
}

// mergeImports leaves one of the findings that several packages have for importing
// the same one.
func (f *findings) mergeImports() {
	count := make(map[string]int)
	for _, x := range f.list {
		if x.Category == "import" {
			count[x.Message]++
		}
	}
	kept := f.list[:0]
	told := make(map[string]bool)
	for _, x := range f.list {
		if x.Category == "import" {
			if told[x.Message] {
				continue
			}
			told[x.Message] = true
			if n := count[x.Message] - 1; n == 1 {
				x.Message += " (and in 1 more package)"
			} else if n > 1 {
				x.Message += fmt.Sprintf(" (and in %d more packages)", n)
			}
		}
		kept = append(kept, x)
	}
	f.list = kept
}

// split takes file:line:col apart.
func split(posn string) (file string, line, col int) {
	file = posn
	for _, n := range []*int{&col, &line} {
		i := strings.LastIndexByte(file, ':')
		if i < 0 {
			return file, line, col
		}
		v, err := strconv.Atoi(file[i+1:])
		if err != nil {
			return file, line, col
		}
		*n, file = v, file[:i]
	}
	return file, line, col
}

// shorten makes a path relative to the working directory where that is below it.
func shorten(file, wd string) string {
	if rel, err := filepath.Rel(wd, file); err == nil && wd != "" && filepath.IsLocal(rel) {
		return rel
	}
	return file
}

func workDir() string {
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	return wd
}

// printText prints a line a finding: file:line:col: message (analyzer).
func (f *findings) printText(w io.Writer) error {
	wd := workDir()
	for _, x := range f.list {
		if _, err := fmt.Fprintf(w, "%s:%d:%d: %s (%s)\n", shorten(x.file, wd), x.line, x.col, x.Message, x.analyzer); err != nil {
			return err
		}
	}
	return nil
}

// printJSON prints one object for all packages, in the form of go vet -json.
func (f *findings) printJSON(w io.Writer) error {
	tree := make(map[string]map[string][]diagnostic)
	for _, x := range f.list {
		if tree[x.pkg] == nil {
			tree[x.pkg] = make(map[string][]diagnostic)
		}
		tree[x.pkg][x.analyzer] = append(tree[x.pkg][x.analyzer], x.diagnostic)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "\t")
	enc.SetEscapeHTML(false)
	return enc.Encode(tree)
}
