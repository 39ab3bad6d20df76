package goleveldb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dstkit/dst/examples/internal/ledger"
	"github.com/dstkit/dst/examples/internal/outage"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// A flaw is a mistake of whoever uses the library.
type flaw int

const (
	none         flaw = iota
	mixed             // four writes of ten have no Sync, and are taken for durable once a later one has
	transactions      // some changes are made by leveldb.Transaction
	inPlace           // the store is made under its name
	noSync            // Options.NoSync
	noOption          // WriteOptions without Sync are taken for durable
	noBatch           // a change is made key by key
	noView            // a look reads without a snapshot
	numFlaws
)

func (f flaw) String() string {
	return [...]string{"none", "mixed", "transactions", "inPlace", "noSync", "noOption", "noBatch", "noView"}[f]
}

// A store keeps the keys of all writers, with the writer in front.
type store struct {
	*leveldb.DB
	writers int
	flaw    flaw
}

var _ outage.Store = store{}

func options(f flaw) *opt.Options {
	return &opt.Options{
		// Small, so that tables are written, merged and removed all the time.
		WriteBuffer: 20 << 10, CompactionTableSize: 8 << 10, CompactionTotalSize: 24 << 10, BlockSize: 1 << 10,
		NoSync: f == noSync,
	}
}

// open opens the store, or makes one: under another name, so that a crash leaves none
// or a whole one.
func open(dir string, writers int, f flaw) (outage.Store, error) {
	path := filepath.Join(dir, "db")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && f != inPlace {
		temp := path + ".new"
		if err := os.RemoveAll(temp); err != nil {
			return nil, err
		}
		db, err := leveldb.OpenFile(temp, options(f))
		if err != nil {
			return nil, err
		}
		if err := db.Close(); err != nil {
			return nil, err
		}
		if err := outage.Fsync(temp); err != nil {
			return nil, err
		}
		if err := os.Rename(temp, path); err != nil {
			return nil, err
		}
	}
	if err := outage.Fsync(dir); err != nil {
		return nil, err
	}
	db, err := leveldb.OpenFile(path, options(f))
	if err != nil {
		return nil, err
	}
	return store{db, writers, f}, nil
}

func key(writer int, key string) []byte { return fmt.Appendf(nil, "w%d/%s", writer, key) }

func (s store) Apply(tx *ledger.Tx, durable bool) error {
	o := &opt.WriteOptions{Sync: durable && s.flaw != noOption}
	b := new(leveldb.Batch)
	for _, op := range tx.Ops {
		switch {
		case op.Clear:
			it := s.NewIterator(util.BytesPrefix(key(tx.Writer, "k")), nil)
			for it.Next() {
				b.Delete(it.Key())
			}
			it.Release()
			if err := it.Error(); err != nil {
				return err
			}
		case op.Delete:
			b.Delete(key(tx.Writer, op.Key))
		default:
			b.Put(key(tx.Writer, op.Key), []byte(op.Value))
		}
		if s.flaw == noBatch {
			if err := s.Write(b, o); err != nil {
				return err
			}
			b.Reset()
		}
	}
	if tx.Seq%10 == 0 && s.flaw == transactions { // a transaction, which writes a table of its own
		t, err := s.OpenTransaction()
		if err != nil {
			return err
		}
		if err := t.Write(b, nil); err != nil {
			t.Discard()
			return err
		}
		return t.Commit()
	}
	return s.Write(b, o)
}

func (s store) All() (got []map[string]string, err error) {
	snap, err := s.GetSnapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	it := snap.NewIterator(nil, nil)
	if s.flaw == noView {
		it.Release()
		it = s.NewIterator(nil, nil)
	}
	defer it.Release()
	for range s.writers {
		got = append(got, map[string]string{})
	}
	last := ""
	for it.Next() {
		k := string(it.Key())
		if k <= last {
			return nil, &ledger.Violation{Kind: "disorder", What: fmt.Sprintf("%q comes after %q", k, last)}
		}
		last = k
		w, name, _ := strings.Cut(k, "/")
		var i int
		fmt.Sscanf(w, "w%d", &i)
		got[i][name] = string(it.Value())
		if s.flaw == noView {
			time.Sleep(time.Microsecond)
		}
	}
	if err := it.Error(); err != nil {
		return nil, err
	}
	for i := range got { // each by itself, and backwards
		n := 0
		back := snap.NewIterator(util.BytesPrefix(key(i, "")), nil)
		for ok := back.Last(); ok; ok = back.Prev() {
			n++
		}
		back.Release()
		if err := back.Error(); err != nil {
			return nil, err
		}
		if n != len(got[i]) && s.flaw != noView {
			return nil, &ledger.Violation{Kind: "disorder", What: fmt.Sprintf("%d keys backwards, %d forwards", n, len(got[i]))}
		}
		for _, name := range ledger.Seq {
			v, err := snap.Get(key(i, name), nil)
			if err != nil && err != leveldb.ErrNotFound {
				return nil, err
			}
			if s.flaw == noView {
				if v, err = s.Get(key(i, name), nil); err == nil {
					got[i][name] = string(v)
				}
			} else if string(v) != got[i][name] {
				return nil, &ledger.Violation{Kind: "disorder", What: fmt.Sprintf("%q is %q by itself, %q among others", name, v, got[i][name])}
			}
		}
	}
	return got, nil
}

// Check has nothing to call: All reads every block, with its checksum.
func (s store) Check() error { return nil }

// Maintain compacts some of the keys, or all, or looks whether a second opening is
// locked out.
func (s store) Maintain(n int) error {
	switch n % 4 {
	case 0:
		return s.CompactRange(util.Range{})
	case 1:
		_, err := leveldb.OpenFile(filepath.Join(outage.Dir, "db"), nil)
		if err == nil {
			return &ledger.Violation{Kind: "lock", What: "the store could be opened twice"}
		}
		return nil
	default:
		return s.CompactRange(*util.BytesPrefix(key(n/4%s.writers, "")))
	}
}
