package dst

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dstkit/dst/sched"
)

// compareFile compares the trace of a seed with the one that lies in dir from an
// earlier run, in this process or another. If there is none, it leaves its own.
func (r *runner) compareFile(dir string, w *World) {
	path := filepath.Join(dir, fileName(fmt.Sprintf("%s %s_seed=%d.trace", packagePath(), r.t.Name(), w.seed)))
	earlier, err := readTrace(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o777); err != nil {
			w.fail(fmt.Sprintf("the trace cannot be kept: %v", err), "")
			return
		}
		err := writeFile(path, func(f *os.File) error { return w.sw.Trace().WriteText(f) })
		if err != nil {
			w.fail(fmt.Sprintf("the trace cannot be kept: %v", err), "")
		}
	case err != nil:
		w.fail(fmt.Sprintf("the trace of an earlier run cannot be read; remove it: %s: %v", path, err), "")
	default:
		if d := w.sw.Trace().DiffText(earlier); d != nil {
			w.parted(d)
		}
	}
}

func readTrace(path string) (*sched.TraceText, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return sched.ReadTrace(f)
}

// writeFile writes a file whole or not at all.
func writeFile(path string, write func(f *os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".dst-*")
	if err != nil {
		return err
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
