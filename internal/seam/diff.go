package seam

import (
	"io"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff writes what the patches do to t's GOROOT as a unified diff that
// patch -p1 applies to a copy of it.
func Diff(w io.Writer, t *Toolchain) error {
	s, err := setFor(t.Release, t.GOARCH)
	if err != nil {
		return err
	}
	return s.diff(w, t)
}

func (s *set) diff(w io.Writer, t *Toolchain) error {
	list, err := s.changes(t)
	if err != nil {
		return err
	}
	for _, c := range list {
		old := "a/src/" + c.file
		if c.added {
			old = "/dev/null"
		}
		if _, err := w.Write(diff.Diff(old, []byte(c.before), "b/src/"+c.file, []byte(c.after))); err != nil {
			return err
		}
	}
	return nil
}
