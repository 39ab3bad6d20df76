package seam

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

// Merge adds the user's own overlay file to o and returns the file that holds
// both. Relative paths in it count from dir, the go command's working folder.
//
// The user's file may hold our entries already, when dstrewrite runs inside an
// environment made by dstrewrite env: these are dropped.
func (o *Overlay) Merge(user, dir string) (string, error) {
	abs := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path // "" tells the go command that the file is deleted
		}
		return filepath.Join(dir, path)
	}
	data, err := os.ReadFile(abs(user))
	if err != nil {
		return "", fmt.Errorf("cannot read your -overlay file: %w", err)
	}
	var theirs overlayJSON
	if err := json.Unmarshal(data, &theirs); err != nil {
		return "", fmt.Errorf("cannot read your -overlay file %s: expected JSON with a Replace object (see go help build): %w", user, err)
	}
	merged := make(map[string]string, len(o.replace)+len(theirs.Replace))
	for from, to := range o.replace {
		merged[from] = to
	}
	froms := make([]string, 0, len(theirs.Replace))
	for from := range theirs.Replace {
		froms = append(froms, from)
	}
	sort.Strings(froms) // of several conflicts, always tell the same one
	cache := filepath.Dir(o.Dir)
	extra := false
	for _, from := range froms {
		to := abs(theirs.Replace[from])
		if beneath(to, cache) {
			continue
		}
		clean := filepath.Clean(abs(from))
		if _, ok := o.replace[clean]; ok {
			return "", fmt.Errorf("your -overlay file %s replaces %s, which the simulation patches as well; remove that entry from your overlay, or build without dstrewrite", user, clean)
		}
		merged[clean] = to
		extra = true
	}
	if !extra {
		return o.File, nil
	}
	data, err = marshalOverlay(merged)
	if err != nil {
		return "", err
	}
	file := filepath.Join(o.Dir, "merged", digest(string(data))[:20]+".json")
	return file, cacheError(keep(file, data))
}
