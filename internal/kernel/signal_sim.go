//go:build dstsim && linux && (amd64 || arm64)

package kernel

import (
	"os"

	"github.com/dstkit/dst/sched"
)

// osHandlers is how the overlay's package os/signal sees a process.
type osHandlers interface {
	Notify(c chan<- os.Signal, sig []os.Signal)
	Stop(c chan<- os.Signal)
	Ignore(sig []os.Signal)
	Reset(sig []os.Signal)
	Ignored(sig os.Signal) bool
}

// setSignals is defined by the overlay, in package os/signal.
func rtSetSignals(f func() osHandlers)

func init() {
	rtSetSignals(func() osHandlers {
		if p := Of(sched.CurrentHost()); p != nil {
			return p
		}
		return nil
	})
}
