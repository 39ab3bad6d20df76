package seam

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Toolchain is the Go installation that the user's go command chooses in the
// user's folder, GOTOOLCHAIN and the toolchain line of go.mod considered.
type Toolchain struct {
	GOROOT     string // as the go command names it: overlay keys must be spelled the same
	Version    string // from GOROOT/VERSION, e.g. "go1.26.8"
	Release    string // one of Supported
	GOOS       string
	GOARCH     string
	GOMODCACHE string
	GOCACHE    string
	GOFLAGS    string // effective, whether from the environment or from go env -w
}

// Find asks the go command in PATH which toolchain it uses in dir ("" is the
// working directory), and refuses a release or platform that has no patches.
func Find(dir string) (*Toolchain, error) {
	gocmd, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("expected a go command in PATH, found none (%w); install Go, or add its bin folder to PATH", err)
	}
	cmd := exec.Command(gocmd, "env", "-json", "GOROOT", "GOVERSION", "GOOS", "GOARCH", "GOMODCACHE", "GOCACHE", "GOFLAGS")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output() //dst:ignore escape the go command knows its own root
	if err != nil {
		return nil, fmt.Errorf("cannot find the Go toolchain: %s env failed: %w\n%s", gocmd, err, strings.TrimSpace(stderr.String()))
	}
	var env struct{ GOROOT, GOVERSION, GOOS, GOARCH, GOMODCACHE, GOCACHE, GOFLAGS string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("cannot find the Go toolchain: expected JSON from %s env -json, found %q: %w", gocmd, out, err)
	}
	if env.GOROOT == "" {
		return nil, errors.New("the go command names no GOROOT; set GOROOT to a Go installation")
	}
	v, err := readVersion(env.GOROOT)
	if err != nil {
		return nil, err
	}
	release, ok := releaseOf(v)
	if !ok {
		return nil, &ReleaseError{Found: v, GOROOT: env.GOROOT}
	}
	// A go command and a GOROOT of two versions do not build anything; the
	// compiler's own message about it is hard to read.
	if number, _, _ := strings.Cut(env.GOVERSION, " "); number != v && !strings.HasPrefix(v, number+" ") {
		return nil, fmt.Errorf("the go command %s is %s, but GOROOT %s holds %s; unset GOROOT, or put GOROOT/bin first in PATH", gocmd, env.GOVERSION, env.GOROOT, v)
	}
	if err := checkPlatform(env.GOOS, env.GOARCH); err != nil {
		return nil, err
	}
	return &Toolchain{
		GOROOT: filepath.Clean(env.GOROOT), Version: v, Release: release,
		GOOS: env.GOOS, GOARCH: env.GOARCH,
		GOMODCACHE: env.GOMODCACHE, GOCACHE: env.GOCACHE, GOFLAGS: env.GOFLAGS,
	}, nil
}

// Go is the go command that belongs to the GOROOT.
func (t *Toolchain) Go() string { return filepath.Join(t.GOROOT, "bin", "go"+exeSuffix) }

// Relocate gives a GOROOT beneath GOMODCACHE a name outside it: a symbolic link
// in the cache folder. The go command puts the toolchains that it downloads into
// GOMODCACHE, and it refuses overlays for files there; it looks at names only.
func (t *Toolchain) Relocate(cache string) error {
	if !beneath(t.GOROOT, t.GOMODCACHE) {
		return nil
	}
	// The target is part of the name, so that a link is never changed once made.
	link := filepath.Join(cache, "goroot", t.Version+"-"+digest(t.GOROOT)[:8])
	if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
		return cacheError(err)
	}
	if err := os.Symlink(t.GOROOT, link); err != nil {
		if target, rerr := os.Readlink(link); rerr != nil || target != t.GOROOT {
			return cacheError(fmt.Errorf("expected a link to %s: %w; remove %s", t.GOROOT, err, link))
		}
	}
	t.GOROOT = link
	return nil
}

// beneath reports whether path lies inside dir, by name.
func beneath(path, dir string) bool {
	if dir == "" {
		return false
	}
	return strings.HasPrefix(filepath.Clean(path), filepath.Clean(dir)+string(filepath.Separator))
}
