package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

var fileName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,64}$`)

var errDigest = errors.New("the upload is not what its digest says")

// store is the folder of uploads.
type store struct {
	dir  string
	flaw Flaw
}

func openStore(dir string, flaw Flaw) (*store, error) {
	s := &store{filepath.Join(dir, "files"), flaw}
	if err := makeFolder(s.dir); err != nil {
		return nil, err
	}
	// What was under way when the process ended is of no use to anybody.
	left, err := filepath.Glob(filepath.Join(s.dir, "*.part"))
	if err != nil {
		return nil, err
	}
	for _, name := range left {
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// put stores an upload whose SHA-256 is digest, in hex, and returns when it is
// durable.
func (s *store) put(name, digest string, r io.Reader) (err error) {
	f, err := os.CreateTemp(s.dir, name+"-*.part")
	if s.flaw == WritesInPlace {
		f, err = os.Create(filepath.Join(s.dir, name))
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, h), r)
	if err == nil && sum(h) != digest {
		err = errDigest
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil || s.flaw == WritesInPlace {
		return err
	}
	if err = os.Rename(f.Name(), filepath.Join(s.dir, name)); err != nil || s.flaw == NoFolderSync {
		return err
	}
	return syncFolder(s.dir)
}

// get opens a file that is stored.
func (s *store) get(name string) (*os.File, error) { return os.Open(filepath.Join(s.dir, name)) }

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
