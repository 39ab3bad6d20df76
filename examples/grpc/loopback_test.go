package grpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The same journal, front end and client on real sockets and a real file, undisturbed.
func TestLoopback(t *testing.T) {
	life, stop := context.WithCancel(t.Context())
	done := make(chan error, 2)
	start := func(s service) string {
		begun := make(chan net.Addr, 1)
		go func() { done <- serve("127.0.0.1:0", s, none, life, begun) }()
		select {
		case addr := <-begun:
			return "passthrough:///" + addr.String()
		case err := <-done:
			t.Fatal(err)
			return ""
		}
	}
	j, err := openJournal(filepath.Join(t.TempDir(), "journal"), none)
	if err != nil {
		t.Fatal(err)
	}
	back, err := dial(start(ledger{j, life}), none)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dial(start(front{back, life}), none)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	var keys []string
	for i := range 30 {
		keys = append(keys, fmt.Sprint("key", i))
	}
	for _, key := range slices.Concat(keys[:10], keys[:10]) {
		if at, err := c.put(ctx, key); err != nil || keys[at] != key {
			t.Errorf("put of %s: %d, %v", key, at, err)
		}
	}
	if n, err := c.importKeys(ctx, keys[10:20]); n != 10 || err != nil {
		t.Errorf("import of 10: %d, %v", n, err)
	}
	if places, err := c.chat(ctx, keys[20:]); err != nil || len(places) != 10 || places[9] != 29 {
		t.Errorf("chat of 10: %v, %v", places, err)
	}
	var seen []string
	enough := errors.New("enough")
	err = c.watch(ctx, 5, func(key string) error {
		if seen = append(seen, key); len(seen) == 25 {
			return enough
		}
		return nil
	})
	if err != enough || !slices.Equal(seen, keys[5:]) {
		t.Errorf("watch from 5: %v, %v", seen, err)
	}
	ended := make(chan error)
	go func() { ended <- c.watch(ctx, 29, func(string) error { stop(); return nil }) }()
	if err := <-ended; status.Code(err) != codes.Unavailable {
		t.Errorf("watch, when the front end stops: %v", err)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
