package seam

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

//go:embed all:files
var embedded embed.FS

// A set is all that makes one simulation build differ from the GOROOT.
type set struct {
	patches []Patch
	added   map[string]string // path below GOROOT/src → contents
}

// setFor returns the set for a release, one of Supported.
func setFor(release, goarch string) (*set, error) {
	added, err := addedFiles(embedded)
	if err != nil {
		return nil, err
	}
	return &set{patches: patches(release, goarch), added: added}, nil
}

// addedFiles reads the tree beneath files/: each name is a path below
// GOROOT/src with .txt appended.
func addedFiles(fsys fs.FS) (map[string]string, error) {
	added := make(map[string]string)
	err := fs.WalkDir(fsys, "files", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, ok := strings.CutSuffix(path, ".txt")
		if !ok {
			return fmt.Errorf("internal/seam/%s: expected a name that ends in .txt", path)
		}
		data, err := fs.ReadFile(fsys, path)
		added[strings.TrimPrefix(name, "files/")] = string(data)
		return err
	})
	return added, err
}

// A change is one file of the GOROOT before and after.
type change struct {
	file   string // path below GOROOT/src, slash separated
	before string
	after  string
	added  bool // the GOROOT has no such file
}

// changes applies the set to t's GOROOT, in memory, ordered by file.
func (s *set) changes(t *Toolchain) ([]change, error) {
	byFile := make(map[string]*change)
	for _, p := range s.patches {
		c := byFile[p.File]
		if c == nil {
			data, err := os.ReadFile(filepath.Join(t.GOROOT, "src", filepath.FromSlash(p.File)))
			if err != nil {
				return nil, fmt.Errorf("%s does not fit the simulation patches: expected the file src/%s: %w; use an unmodified Go of a supported release", t.Version, p.File, err)
			}
			c = &change{file: p.File, before: string(data), after: string(data)}
			byFile[p.File] = c
		}
		after, err := p.Apply(c.after)
		if err != nil {
			if ae, ok := errors.AsType[*AnchorError](err); ok {
				ae.Version = t.Version
			}
			return nil, err
		}
		c.after = after
	}
	for _, file := range slices.Sorted(maps.Keys(s.added)) {
		text := s.added[file]
		// An overlay would replace such a file without a word.
		_, err := os.Lstat(filepath.Join(t.GOROOT, "src", filepath.FromSlash(file)))
		if byFile[file] != nil || err == nil {
			return nil, fmt.Errorf("%s does not fit the simulation patches: it already has src/%s, which they add; use an unmodified Go of a supported release", t.Version, file)
		}
		byFile[file] = &change{file: file, after: text, added: true}
	}
	list := make([]change, 0, len(byFile))
	for _, c := range byFile {
		list = append(list, *c)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].file < list[j].file })
	return list, nil
}
