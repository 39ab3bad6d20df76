//go:build dstsim && linux && (amd64 || arm64)

package kernel

import (
	"flag"
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

// These are defined by the overlay, in packages os and flag.
func rtStdFile(fd int, name string) *os.File
func rtCopyFlags(f *flag.FlagSet, name string) *flag.FlagSet

// stdFile returns a file for a standard descriptor of a process. It has no
// finalizer, which would close the machine's.
func stdFile(fd int, name string) *os.File { return rtStdFile(fd, name) }

// copyFlags returns a flag set with the flags that were defined in f, not parsed.
func copyFlags(f *flag.FlagSet, name string) *flag.FlagSet { return rtCopyFlags(f, name) }

func init() {
	rtSetSignals(func() osHandlers {
		if p := Of(sched.CurrentHost()); p != nil {
			return p
		}
		return nil
	})
}
