package pebble

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/dstkit/dst/examples/internal/ledger"
	"github.com/dstkit/dst/examples/internal/outage"
)

// A flaw is a mistake of whoever uses the library.
type flaw int

const (
	none      flaw = iota
	noSync         // pebble.NoSync is taken for durable
	noWAL          // Options.DisableWAL
	noFsync        // a file system whose files do not sync
	noDirSync      // a file system whose folders do not sync
	noBatch        // a change is made key by key
	noView         // a look reads without a snapshot
	numFlaws
)

func (f flaw) String() string {
	return [...]string{"none", "noSync", "noWAL", "noFsync", "noDirSync", "noBatch", "noView"}[f]
}

// A store keeps the keys of all writers, with the writer in front.
type store struct {
	*pebble.DB
	writers int
	flaw    flaw
}

var _ outage.Store = store{}

// A logger ends the process where pebble wants that, as its own does.
type logger struct{}

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}
func (logger) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func options(f flaw) *pebble.Options {
	o := &pebble.Options{
		Logger: logger{},
		// Small, so that tables are written, merged and removed all the time.
		MemTableSize: 32 << 10, L0CompactionThreshold: 2, LBaseMaxBytes: 32 << 10,
		FormatMajorVersion: pebble.FormatNewest,
		DisableWAL:         f == noWAL,
		FS:                 files{vfs.Default, f},
	}
	for i := range o.TargetFileSizes {
		o.TargetFileSizes[i] = 8 << 10
	}
	return o
}

func open(dir string, writers int, f flaw) (outage.Store, error) {
	db, err := pebble.Open(filepath.Join(dir, "db"), options(f))
	if err != nil {
		return nil, err
	}
	return store{db, writers, f}, nil
}

func key(writer int, key string) []byte { return fmt.Appendf(nil, "w%d/%s", writer, key) }

func (s store) Apply(tx *ledger.Tx, durable bool) error {
	o := pebble.NoSync
	if durable && s.flaw != noSync && s.flaw != noWAL {
		o = pebble.Sync
	}
	b := s.NewBatch()
	defer func() { b.Close() }()
	for _, op := range tx.Ops {
		var err error
		switch {
		case op.Clear:
			err = b.DeleteRange(key(tx.Writer, "k"), key(tx.Writer, "l"), nil)
		case op.Delete:
			err = b.Delete(key(tx.Writer, op.Key), nil)
		default:
			err = b.Set(key(tx.Writer, op.Key), []byte(op.Value), nil)
		}
		if err != nil {
			return err
		}
		if s.flaw == noBatch {
			if err := b.Commit(o); err != nil {
				return err
			}
			b.Close()
			b = s.NewBatch()
		}
	}
	return b.Commit(o)
}

func (s store) All() (got []map[string]string, err error) {
	snap := s.NewSnapshot()
	defer snap.Close()
	var from pebble.Reader = snap
	if s.flaw == noView {
		from = s
	}
	for range s.writers {
		got = append(got, map[string]string{})
	}
	n, last := 0, ""
	it, err := from.NewIter(nil)
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		k := string(it.Key())
		if k <= last {
			it.Close()
			return nil, &ledger.Violation{Kind: "disorder", What: fmt.Sprintf("%q comes after %q", k, last)}
		}
		n, last = n+1, k
		w, name, _ := strings.Cut(k, "/")
		var i int
		fmt.Sscanf(w, "w%d", &i)
		v, err := it.ValueAndErr()
		if err != nil {
			it.Close()
			return nil, err
		}
		got[i][name] = string(v)
	}
	if err := it.Close(); err != nil {
		return nil, err
	}
	if it, err = from.NewIter(nil); err != nil {
		return nil, err
	}
	for ok := it.Last(); ok; ok = it.Prev() {
		n--
	}
	if err := it.Close(); err != nil {
		return nil, err
	}
	if n != 0 && s.flaw != noView {
		return nil, &ledger.Violation{Kind: "disorder", What: fmt.Sprintf("%d keys more forwards than backwards", n)}
	}
	for i := range got {
		for _, name := range ledger.Seq {
			v, c, err := from.Get(key(i, name))
			if err == pebble.ErrNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			if s.flaw == noView {
				got[i][name] = string(v)
			} else if string(v) != got[i][name] {
				return nil, &ledger.Violation{Kind: "disorder", What: fmt.Sprintf("%q is %q by itself, %q among others", name, v, got[i][name])}
			}
			if err := c.Close(); err != nil {
				return nil, err
			}
		}
	}
	return got, nil
}

// Check runs the library's own.
func (s store) Check() error { return s.CheckLevels(nil) }

// Maintain flushes, compacts, makes a checkpoint and looks whether it is one, or looks
// whether a second opening is locked out.
func (s store) Maintain(n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	switch n % 5 {
	case 0:
		return s.Compact(ctx, []byte("a"), []byte("z"), true)
	case 1:
		return s.Flush()
	case 2:
		db, err := pebble.Open(filepath.Join(outage.Dir, "db"), options(s.flaw))
		if err == nil {
			db.Close()
			return &ledger.Violation{Kind: "lock", What: "the store could be opened twice"}
		}
		return nil
	case 3:
		at := filepath.Join(outage.Dir, "checkpoint")
		if err := os.RemoveAll(at); err != nil {
			return err
		}
		if err := s.Checkpoint(at, pebble.WithFlushedWAL()); err != nil {
			return err
		}
		db, err := pebble.Open(at, options(s.flaw))
		if err != nil {
			return &ledger.Violation{Kind: "checkpoint", What: err.Error()}
		}
		defer db.Close()
		c := store{db, s.writers, s.flaw}
		if err := c.Check(); err != nil {
			return &ledger.Violation{Kind: "checkpoint", What: err.Error()}
		}
		_, err = c.All()
		return err
	default:
		i := n / 5 % s.writers
		return s.Compact(ctx, key(i, ""), key(i+1, ""), false)
	}
}

// files are vfs.Default, but for its locks: it keeps the names of those that are held in
// a package variable, which hosts share, and which outlives their processes. With a flaw,
// syncs are left out.
type files struct {
	vfs.FS
	flaw flaw
}

func (files) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (l files) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := l.FS.Create(name, c)
	if err == nil && l.flaw == noFsync {
		f = lazyFile{f}
	}
	return f, err
}

func (l files) OpenDir(name string) (vfs.File, error) {
	f, err := l.FS.OpenDir(name)
	if err == nil && l.flaw == noDirSync {
		f = lazyFile{f}
	}
	return f, err
}

func (l files) Unwrap() vfs.FS { return l.FS }

type lazyFile struct{ vfs.File }

func (lazyFile) Sync() error                { return nil }
func (lazyFile) SyncData() error            { return nil }
func (lazyFile) SyncTo(int64) (bool, error) { return false, nil }
