//go:build dstsim

package simrand_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simrand"
	"github.com/dstkit/dst/simrand/crypto"
	simrandv2 "github.com/dstkit/dst/simrand/v2"
)

func std() string {
	key := make([]byte, 8)
	crypto.Read(key)
	return fmt.Sprint(simrand.Int63(), simrand.Perm(4), simrandv2.Uint64(), simrandv2.N(int8(100)), key, crypto.Text())
}

var atInit = std()

// While packages are initialised, all draws come from a fixed stream, the same in
// every process; later, outside of worlds, they differ.
func TestStdOutside(t *testing.T) {
	const child = "DST_TEST_CHILD"
	if os.Getenv(child) != "" {
		fmt.Printf("drawn %s\n", atInit)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStdOutside$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "drawn "+atInit+"\n") {
		t.Errorf("this process drew %s while it was initialised, another\n%s", atInit, out)
	}
	if std() == std() {
		t.Error("the same was drawn twice")
	}
}

func TestStdOnHosts(t *testing.T) {
	draw := func(seed uint64) (s string) {
		w := sched.New(seed)
		if err := w.Run(func() {
			sched.Enter()
			h := w.NewHost("a")
			sched.Leave()
			done := make(chan bool)
			h.Go(func() { s = std(); done <- true })
			<-done
		}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if draw(1) != draw(1) {
		t.Error("a seed drew two things")
	}
	if draw(1) == draw(2) {
		t.Error("two seeds drew the same")
	}
}
