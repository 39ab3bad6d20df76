package seam

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// overlayFormat is part of every entry's key: raise it when the layout of an
// entry changes.
const overlayFormat = 1

var exeSuffix = map[string]string{"windows": ".exe"}[runtime.GOOS]

// An Overlay is a simulation build's standard library in the cache folder.
type Overlay struct {
	Dir  string // the cache entry
	File string // for the go command's -overlay
	Key  string // names the contents: equal keys are equal overlays

	replace map[string]string
}

// overlayJSON is what the go command reads (go help build, -overlay).
type overlayJSON struct {
	Replace map[string]string
}

// CacheDir is where overlays are kept.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep the simulation overlay in: %w; set XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "dst"), nil
}

// Make writes the overlay for t into the cache folder, or finds it there. It
// may change t.GOROOT (see [Toolchain.Relocate]).
func Make(t *Toolchain, cache string) (*Overlay, error) {
	s, err := setFor(t.Release, t.GOARCH)
	if err != nil {
		return nil, err
	}
	return s.make(t, cache)
}

// make renders every file in memory even when the entry exists: that takes
// milliseconds, always notices a GOROOT changed in place, and whether an entry
// is whole follows from comparing it, without a manifest that could be wrong
// in its turn.
func (s *set) make(t *Toolchain, cache string) (*Overlay, error) {
	if err := t.Relocate(cache); err != nil {
		return nil, err
	}
	list, err := s.changes(t)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "format %d\ngo %s\narch %s\ngoroot %s\n", overlayFormat, t.Version, t.GOARCH, t.GOROOT)
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.after
		if !c.added && strings.HasSuffix(c.file, ".go") {
			// Without this line, errors and stacks name the file in the cache.
			// It precedes any //go:build line, which comments may do.
			texts[i] = "//line " + t.source(c.file) + ":1\n" + c.after
		}
		// What a patch does to its file is all there is to a patch: no need to
		// hash the edits as well.
		fmt.Fprintf(h, "%s %d %t %s %s\n", c.file, len(texts[i]), c.added, digest(c.before), digest(texts[i]))
	}
	key := t.Version + "-" + hex.EncodeToString(h.Sum(nil))[:20]
	o := &Overlay{
		Dir:     filepath.Join(cache, key),
		File:    filepath.Join(cache, key, "overlay.json"),
		Key:     key,
		replace: make(map[string]string, len(list)),
	}
	for i, c := range list {
		file := filepath.Join(o.Dir, "src", filepath.FromSlash(c.file))
		if err := keep(file, []byte(texts[i])); err != nil {
			return nil, cacheError(err)
		}
		o.replace[t.source(c.file)] = file
	}
	data, err := marshalOverlay(o.replace)
	if err != nil {
		return nil, err
	}
	return o, cacheError(keep(o.File, data)) // last: an overlay.json has all its files
}

// source returns the path of a file as the go command spells it.
func (t *Toolchain) source(file string) string {
	return filepath.Join(t.GOROOT, "src", filepath.FromSlash(file))
}

func marshalOverlay(replace map[string]string) ([]byte, error) {
	data, err := json.MarshalIndent(overlayJSON{replace}, "", "\t")
	return append(data, '\n'), err
}

// keep makes file hold data, without touching it when it already does.
//
// A file is replaced whole, by rename. As an entry's name follows from its
// contents, all who write it at once write the same: no lock is needed, no
// reader meets a half-written file, and repairing an entry that was damaged does not
// pull files away from a build that reads the good ones.
func keep(file string, data []byte) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
		return nil
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

func cacheError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot keep the simulation overlay in the cache folder: %w (XDG_CACHE_HOME sets where it lies)", err)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// FirstBuild reports whether no build with this overlay was started before
// into this build cache, and notes that one is now. The race detector has a
// standard library of its own.
func (o *Overlay) FirstBuild(gocache string, race bool) bool {
	mark := filepath.Join(o.Dir, "built", digest(gocache)[:16]+"-race="+strconv.FormatBool(race))
	if _, err := os.Stat(mark); err == nil {
		return false
	}
	// Failing to note it repeats a message, nothing worse.
	_ = keep(mark, []byte(gocache+"\n"))
	return true
}
