package bbolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dstkit/dst/examples/internal/ledger"
	"github.com/dstkit/dst/examples/internal/outage"
	"go.etcd.io/bbolt"
)

// A flaw is a mistake of whoever uses the library.
type flaw int

const (
	none       flaw = iota
	noSync          // Options.NoSync
	trustsPage      // a database is opened as it is, with what a crashed process wrote and did not sync
	inPlace         // a database is made under its name
	noDirSync       // so it is, and its folder is not synced
	failedSync      // fsync fails now and then: the process ends, and the next trusts the page cache
	twoTx           // a change is made by two transactions
	numFlaws
)

func (f flaw) String() string {
	return [...]string{"none", "noSync", "trustsPage", "inPlace", "noDirSync", "failedSync", "twoTx"}[f]
}

// A store has a bucket for each writer, and one for what all writers change.
type store struct {
	*bbolt.DB
	writers int
	flaw    flaw
}

var _ outage.Store = store{}

var shared, total = []byte("shared"), []byte("total")

func bucket(i int) []byte { return []byte(fmt.Sprint("writer", i)) }

// open opens the database, or makes one: under another name, so that a loss of power
// leaves none or a whole one.
func open(dir string, writers int, f flaw, o bbolt.Options) (outage.Store, error) {
	path := filepath.Join(dir, "db")
	o.Timeout, o.NoSync = time.Second, f == noSync
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && f != inPlace && f != noDirSync {
		if err := create(path, o); err != nil {
			return nil, err
		}
	}
	if f != noSync && f != trustsPage {
		if err := outage.Fsync(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	if err := whole(path); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(path, 0o600, &o)
	if err != nil {
		return nil, err
	}
	if f != noDirSync { // also if the last process had no time to
		if err := outage.Fsync(dir); err != nil {
			return nil, err
		}
	}
	db.MaxBatchDelay = 500 * time.Microsecond
	return store{db, writers, f}, nil
}

func create(path string, o bbolt.Options) error {
	temp := path + ".new"
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	db, err := bbolt.Open(temp, 0o600, &o)
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	if err := outage.Fsync(temp); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// whole looks whether the file has all pages that its meta pages speak of: the
// library does not, and a touch of one that is not there kills the program (SIGBUS).
func whole(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || len(b) == 0 {
		return nil
	}
	const page, magic = 4096, 0xED0CDAED
	for i := range 2 {
		if len(b) < (i+1)*page {
			break
		}
		meta := b[i*page+16:]
		if binary.LittleEndian.Uint32(meta) == magic {
			if pages := binary.LittleEndian.Uint64(meta[40:]); pages*page > uint64(len(b)) {
				return fmt.Errorf("SIGBUS to come: %d pages are used, the file has %d bytes", pages, len(b))
			}
		}
	}
	return nil
}

func (s store) Apply(tx *ledger.Tx, durable bool) error {
	ops := tx.Ops
	if s.flaw == twoTx {
		half := len(ops) / 2
		if err := s.change(tx, ops[:half], false); err != nil {
			return err
		}
		ops = ops[half:]
	}
	return s.change(tx, ops, true)
}

// change makes changes in one transaction, and counts it in the shared bucket.
func (s store) change(tx *ledger.Tx, ops []ledger.Op, count bool) error {
	do := s.Update
	if tx.Seq%3 == 0 {
		do = s.Batch // several writers' changes, perhaps, in one transaction
	}
	return do(func(t *bbolt.Tx) error {
		b, err := t.CreateBucketIfNotExists(bucket(tx.Writer))
		if err != nil {
			return err
		}
		for _, op := range ops {
			switch {
			case op.Clear: // as an operator would
				if err := t.DeleteBucket(bucket(tx.Writer)); err != nil {
					return err
				}
				if b, err = t.CreateBucket(bucket(tx.Writer)); err != nil {
					return err
				}
				if tx.Seq > 1 { // the new bucket is to have what is not cleared
					for _, key := range ledger.Seq {
						if err := b.Put([]byte(key), []byte(strconv.Itoa(tx.Seq-1))); err != nil {
							return err
						}
					}
				}
			case op.Delete:
				if err := b.Delete([]byte(op.Key)); err != nil {
					return err
				}
			default:
				if err := b.Put([]byte(op.Key), []byte(op.Value)); err != nil {
					return err
				}
			}
		}
		if !count {
			return nil
		}
		all, err := t.CreateBucketIfNotExists(shared)
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(all.Get(total)))
		return all.Put(total, []byte(strconv.Itoa(n+1)))
	})
}

// All also checks that the transactions of all writers are as many as were counted.
func (s store) All() (got []map[string]string, err error) {
	err = s.View(func(t *bbolt.Tx) error {
		for i := range s.writers {
			keys := map[string]string{}
			got = append(got, keys)
			b := t.Bucket(bucket(i))
			if b == nil {
				continue
			}
			last := ""
			if err := b.ForEach(func(k, v []byte) error {
				if string(k) <= last {
					return &ledger.Violation{Kind: "disorder", What: fmt.Sprintf("%q comes after %q", k, last)}
				}
				last = string(k)
				keys[last] = string(v)
				return nil
			}); err != nil {
				return err
			}
			for k, v := range keys {
				if string(b.Get([]byte(k))) != v {
					return &ledger.Violation{Kind: "disorder", What: fmt.Sprintf("%q is not found", k)}
				}
			}
		}
		n := 0
		if b := t.Bucket(shared); b != nil {
			n, _ = strconv.Atoi(string(b.Get(total)))
		}
		if sum := ledger.Total(got); n != sum {
			return &ledger.Violation{Kind: "torn", What: fmt.Sprintf("%d transactions were counted, writers have %d", n, sum)}
		}
		return nil
	})
	return got, err
}

// Check runs the library's own.
func (s store) Check() error {
	return s.View(func(t *bbolt.Tx) (err error) {
		for e := range t.Check() {
			err = e
		}
		return err
	})
}

// Maintain holds a reader for a while, so that pages cannot be freed, makes a copy of the
// database and looks whether it is one, or looks whether a second opening is locked out.
func (s store) Maintain(n int) error {
	switch n % 3 {
	case 0:
		return s.View(func(t *bbolt.Tx) error {
			time.Sleep(time.Duration(n/3%5000) * time.Microsecond)
			return nil
		})
	case 1:
		copied := filepath.Join("/tmp", "copy")
		if err := s.View(func(t *bbolt.Tx) error { return t.CopyFile(copied, 0o600) }); err != nil {
			return err
		}
		defer os.Remove(copied)
		db, err := bbolt.Open(copied, 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			return &ledger.Violation{Kind: "copy", What: err.Error()}
		}
		defer db.Close()
		c := store{db, s.writers, s.flaw}
		if err := c.Check(); err != nil {
			return &ledger.Violation{Kind: "copy", What: err.Error()}
		}
		_, err = c.All()
		return err
	default:
		for _, readOnly := range []bool{false, true} {
			db, err := bbolt.Open(s.Path(), 0o600, &bbolt.Options{Timeout: time.Millisecond, ReadOnly: readOnly})
			if err == nil {
				db.Close()
				return &ledger.Violation{Kind: "lock", What: "the database could be opened twice"}
			}
			if !errors.Is(err, bbolt.ErrTimeout) {
				return err
			}
		}
		return nil
	}
}
