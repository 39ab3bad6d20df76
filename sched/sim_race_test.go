//go:build dstsim && race

package sched_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst/sched"
)

// Two goroutines whose accesses lie seconds of virtual time apart race; what
// the kernel does for them in between orders nothing.
func TestRaceIsFound(t *testing.T) {
	if os.Getenv("DST_TEST_RACE") != "" {
		w := sched.New(1)
		shared := new(int)
		w.Run(func() {
			go func() {
				time.Sleep(time.Second)
				*shared = 1
				sched.EnterCall()
				sched.LeaveCall()
			}()
			go func() {
				time.Sleep(5 * time.Second)
				sched.EnterCall()
				sched.LeaveCall()
				*shared = 2
			}()
			time.Sleep(10 * time.Second)
		})
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestRaceIsFound$")
	cmd.Env = append(os.Environ(), "DST_TEST_RACE=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "WARNING: DATA RACE") || !strings.Contains(string(out), "sim_race_test.go:24") {
		t.Fatalf("expected a report of the race in line 24, got %v\n%s", err, out)
	}
}
