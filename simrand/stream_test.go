package simrand

import (
	"testing"

	"github.com/dstkit/dst/sched"
)

func TestFromStream(t *testing.T) {
	draw := func(seed uint64, name string) (list [5]int64) {
		r := FromStream(sched.New(seed).Stream(name))
		for i := range list {
			list[i] = r.Int64()
		}
		return list
	}
	if draw(1, "work") != draw(1, "work") {
		t.Error("a seed drew two things")
	}
	if draw(1, "work") == draw(2, "work") || draw(1, "work") == draw(1, "net") {
		t.Error("two seeds, or two streams, drew the same")
	}
}
