package dst

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/dstkit/dst/sched"
)

// A failure is one thing that went wrong in a run.
type failure struct {
	at    int64  // virtual time
	text  string // what went wrong
	stack string // where, or ""
}

// maxFailures bounds how many failures of one run are kept. The first is what
// matters; those that follow are often its consequences.
const maxFailures = 20

// errStopped is what the scheduler is given when a failure ends the run.
var errStopped = errors.New("dst: stopped by a failure")

// fail keeps a failure. It is called in kernel context.
func (w *World) fail(text, stack string) {
	if len(w.failures) == maxFailures {
		w.unsaid++
		return
	}
	w.failures = append(w.failures, failure{w.sw.Now(), text, stack})
}

// report keeps a failure and, with stop, ends the world.
func (w *World) report(stop bool, text, stack string) {
	sched.Enter()
	w.fail(text, stack)
	if stop {
		w.stop()
	}
	sched.Leave()
}

// stop ends the world because of a failure, in kernel context.
func (w *World) stop() {
	w.over = true
	w.sw.Stop(errStopped)
}

// Failf marks the seed as failed, as [testing.T.Errorf] marks a test. The run
// goes on. It may be called from any goroutine of the world.
func (w *World) Failf(format string, args ...any) {
	w.in()
	w.report(false, caller()+fmt.Sprintf(format, args...), "")
}

// Fatalf marks the seed as failed and ends its world. The calling goroutine
// exits: its deferred calls run as far as they do not wait.
func (w *World) Fatalf(format string, args ...any) {
	w.in()
	w.fatal(caller() + fmt.Sprintf(format, args...))
}

func (w *World) fatal(text string) {
	w.report(true, text, "")
	runtime.Goexit()
}

// caller tells where the exported function that calls it was called: "x_test.go:12: ".
func caller() string {
	if _, file, line, ok := runtime.Caller(2); ok {
		return fmt.Sprintf("%s:%d: ", filepath.Base(file), line)
	}
	return ""
}

// cutStack reduces a stack of debug.Stack to what lies between the panic and
// the plumbing beneath the test's own function.
func cutStack(stack string) string {
	if i := strings.LastIndex(stack, "\npanic("); i >= 0 {
		stack = stack[i+1:]
	} else if _, rest, ok := strings.Cut(stack, "\n"); ok {
		stack = rest // the line "goroutine 7 [running]:"
	}
	for _, below := range []string{"\ngithub.com/dstkit/dst.(*World).main(", "\ngithub.com/dstkit/dst.(*Host).boot.", "\ngithub.com/dstkit/dst.(*Host).do."} {
		if i := strings.Index(stack, below); i >= 0 {
			stack = stack[:i+1]
		}
	}
	return stack
}
