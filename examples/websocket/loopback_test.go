package websocket

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The same server and readers on real sockets and a real file, undisturbed.
func TestLoopback(t *testing.T) {
	r, err := openRoom(filepath.Join(t.TempDir(), "room"), none)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(r)
	defer srv.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const each = 20
	seen := make(chan message, 4*each)
	for i := range 2 {
		r := newReader(fmt.Sprint("r", i), "ws"+strings.TrimPrefix(srv.URL, "http"), none, func(m message) { seen <- m }, func(error) {})
		go r.run(ctx)
		for k := range each {
			r.say(message{ID: fmt.Sprint(i, "-", k), Text: strings.Repeat("text ", k)})
		}
	}
	times := map[string]int{}
	for range 4 * each {
		select {
		case m := <-seen:
			times[m.ID]++
		case <-ctx.Done():
			t.Fatal("not all messages came")
		}
	}
	for id, n := range times {
		if n != 2 {
			t.Errorf("%s was seen %d times, want 2", id, n)
		}
	}
}
