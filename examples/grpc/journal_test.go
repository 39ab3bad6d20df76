package grpc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A flaw is a mistake that somebody might make in the service or its clients.
type flaw int

const (
	none          flaw = iota
	ackUnsynced        // the journal answers before its file is synced
	showUnsynced       // watchers see entries before the file is synced
	forgetKeys         // a restarted journal does not know which keys it has
	resumeBehind       // a client that watches again begins one entry too early
	chatUnordered      // the journal answers a chat's keys as it comes to it
	noKeepAlive        // clients send no pings
	noDeadline         // clients give calls no deadline
	hardStop           // a front end that is told to stop does not wait for its calls
)

// A journal is a list of distinct keys, on disk. An entry that it has answered for, or
// has shown to a watcher, is there for good. Entries are synced many at a time.
type journal struct {
	flaw

	mu     sync.Mutex
	file   *os.File
	broken error // what the file holds is not known
	keys   []string
	index  map[string]uint64
	synced int           // entries that are there for good
	more   chan struct{} // closed when there are more of them, or never will be
}

// pace is how long the journal collects entries before it syncs them.
const pace = 50 * time.Millisecond

const noted = '\n' // ends an entry; one without was cut off

// openJournal reads the file, and makes it if it is not there.
func openJournal(path string, f flaw) (*journal, error) {
	j := &journal{flaw: f, index: map[string]uint64{}, more: make(chan struct{})}
	var err error
	if j.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(j.file)
	if err != nil {
		return nil, err
	}
	whole := bytes.LastIndexByte(data, noted) + 1
	for line := range bytes.Lines(data[:whole]) {
		j.add(string(line[:len(line)-1]))
	}
	if f == forgetKeys {
		clear(j.index)
	}
	if err := j.file.Truncate(int64(whole)); err != nil {
		return nil, err
	}
	if _, err := j.file.Seek(int64(whole), io.SeekStart); err != nil {
		return nil, err
	}
	// What was read may be no further than the page cache, and the name too.
	if err := j.file.Sync(); err != nil {
		return nil, err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return nil, err
	}
	j.synced = len(j.keys)
	go j.sync()
	return j, nil
}

func (j *journal) add(key string) {
	j.index[key] = uint64(len(j.keys))
	j.keys = append(j.keys, key)
}

// sync makes sure of what has been written, again and again.
func (j *journal) sync() {
	for {
		time.Sleep(pace)
		j.mu.Lock()
		written := len(j.keys)
		done := written == j.synced
		j.mu.Unlock()
		if done {
			continue
		}
		err := j.file.Sync()
		j.mu.Lock()
		if j.broken = err; err == nil {
			j.synced = written
		}
		j.news()
		j.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// news wakes all who wait for more.
func (j *journal) news() {
	close(j.more)
	j.more = make(chan struct{})
}

// put notes the key, unless it is there, and returns its place.
func (j *journal) put(ctx context.Context, key string) (uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at, ok := j.index[key]
	if !ok {
		if j.broken != nil {
			return 0, j.broken
		}
		if _, j.broken = fmt.Fprintf(j.file, "%s%c", key, noted); j.broken != nil {
			return 0, j.broken
		}
		at = uint64(len(j.keys))
		j.add(key)
		if j.flaw == showUnsynced {
			j.news()
		}
	}
	for at >= uint64(j.synced) && j.flaw != ackUnsynced {
		more := j.more
		j.mu.Unlock()
		var err error
		select {
		case <-more:
		case <-ctx.Done():
			err = ctx.Err()
		}
		j.mu.Lock()
		if err == nil {
			err = j.broken
		}
		if err != nil {
			return 0, err
		}
	}
	return at, nil
}

// after returns the entries from the given one on, and a channel that is closed when
// there are more.
func (j *journal) after(from uint64) ([]string, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	end := j.synced
	if j.flaw == showUnsynced {
		end = len(j.keys)
	}
	if from >= uint64(end) {
		return nil, j.more
	}
	return j.keys[from:end:end], j.more
}
