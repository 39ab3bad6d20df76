//go:build dst

package main_test

import (
	"testing"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/examples/walstore/store"
	"github.com/dstkit/dst/examples/walstore/wal"
	"github.com/dstkit/dst/simfs"
)

var bugs = []wal.Bug{wal.NoSync, wal.TornAccepted, wal.DirNotSynced, store.EarlyAck, wal.StopsEarly}
var models = []simfs.Model{simfs.Ordered, simfs.Any}

func TestStore(t *testing.T) {
	for _, model := range models {
		t.Run(model.String(), func(t *testing.T) {
			acks := 0
			dst.Run(t, func(w *dst.World) {
				s := newTrial(w, wal.NoBug, model)
				if err := s.test(); err != nil {
					w.Failf("%v", err)
				}
				acks += len(s.acks)
			}, dst.Seeds(300))
			t.Log(acks)
		})
	}
}

func TestBugs(t *testing.T) {
	for _, bug := range bugs {
		for _, model := range models {
			t.Run(string(bug)+"/"+model.String(), func(t *testing.T) {
				found, runs, first := 0, 0, error(nil)
				dst.Run(t, func(w *dst.World) {
					runs++
					if err := newTrial(w, bug, model).test(); err != nil {
						if found++; first == nil {
							first = err
						}
					}
				}, dst.Seeds(300))
				t.Log(found, runs, first)
			})
		}
	}
}
