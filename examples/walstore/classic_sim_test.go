//go:build dst

package main_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/examples/walstore/client"
	"github.com/dstkit/dst/examples/walstore/store"
	"github.com/dstkit/dst/examples/walstore/wal"
	"github.com/dstkit/dst/simfs"
)

// TestClassic is the story of the README: one put is acknowledged, and at that moment
// all three machines lose their power. Where nodes count as holding what they have not
// synced, the put is gone from all of them under some seeds.
func TestClassic(t *testing.T) {
	for _, bug := range []wal.Bug{wal.NoBug, store.EarlyAck} {
		for _, model := range models {
			t.Run(nameOf(bug)+"/"+model.String(), func(t *testing.T) {
				runs, lost := 0, 0
				dst.Run(t, func(w *dst.World) {
					runs++
					if err := classic(w, bug, model); err != nil {
						if lost++; bug == wal.NoBug {
							w.Failf("%v", err)
						}
					}
				}, dst.Seeds(25))
				t.Logf("an acknowledged put was lost under %d of %d seeds", lost, runs)
				if bug != wal.NoBug && runs >= 25 && lost == 0 {
					t.Error("that tests too little")
				}
			})
		}
	}
}

// classic puts twice, turns the power off and on, and gets.
func classic(w *dst.World, bug wal.Bug, model simfs.Model) (err error) {
	s := newTrial(w, bug, model)
	user := w.Host("user")
	ctx := context.Background()
	user.Do(func() {
		c := client.New(addrs[0])
		defer c.Close()
		for _, value := range []string{"1", "2"} {
			s.mu.Lock()
			s.tried[value] = "x"
			s.mu.Unlock()
			if _, e := c.Put(ctx, "x", value); e != nil {
				w.Fatalf("%v", e)
			}
		}
	})
	for id, name := range names {
		s.nodes[id].Store(nil)
		w.Host(name).PowerLoss()
	}
	time.Sleep(time.Second)
	for _, name := range names {
		w.Host(name).Restart()
	}
	user.Do(func() {
		limit, cancel := context.WithTimeout(ctx, calm)
		defer cancel()
		c := client.New(addrs[0])
		defer c.Close()
		if value, seq, e := c.Get(limit, "x"); e != nil || value != "2" {
			err = fmt.Errorf("x is %q, of put %d (%v); the store acknowledged 2", value, seq, e)
		}
	})
	return err
}
