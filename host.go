package dst

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
	"github.com/dstkit/dst/simtime"
)

// A Host is one simulated machine: an address, a clock, a disk, and one process
// that runs a main function in goroutines of its own. Its methods are called
// from any goroutine of the world, also from those of the host itself.
type Host struct {
	w        *World
	name     string
	main     func() error // nil: nothing runs there but what Do and Go start
	env      map[string]string
	args     []string
	input    []byte // of the process's standard input
	maxFiles uint64 // 0: the default

	sh    *sched.Host
	stack *simnet.Stack
	disk  *simfs.Disk
	clock *simtime.Clock

	proc     *process // nil while down
	done     bool     // down because the process ended by itself with status 0
	stopping bool     // Stop was called in this incarnation
	err      error    // what the last process ended with
	waits    []*wait  // that end with the process
}

// Host declares a host that runs main, and boots it; or returns the host of that
// name, declaring an empty one if there is none. A nil main is the same as none.
//
// Main is the host's program: its goroutines, and the timers they set, belong
// to the host. When main returns, the process ends as a real one does, with all
// its goroutines. An error that main returns fails the seed, unless the host was
// being stopped: a program that is meant to end so returns nil. Main has not begun
// when Host returns, so that what is set then ([Host.Env], [Host.Args], files on
// [Host.Disk]) is there when it does.
//
// Hosts get addresses in the order of their declaration. A name is made of
// letters, digits and hyphens, at most 63 (RFC 1123), and not "dns", which is the
// network's name server ([simnet.NameServer]). Host panics if the name is none, or if the host has a main already.
func (w *World) Host(name string, main ...func() error) *Host {
	w.in()
	if len(main) > 1 {
		panic(fmt.Sprintf("dst: Host(%q) was given %d mains, want one at most", name, len(main)))
	}
	h, self := w.host(name, main)
	if self { // it has booted its own host anew
		sched.Exit()
	}
	return h
}

func (w *World) host(name string, main []func() error) (h *Host, self bool) {
	sched.Enter()
	defer sched.Leave()
	if stack := w.net.Lookup(name); stack != nil {
		h = w.hosts[stack.ID()-1]
	}
	program := len(main) == 1 && main[0] != nil
	switch {
	case h == nil:
		h = w.declare(name)
		if program {
			h.main = main[0]
		}
		h.boot()
	case program && h.main != nil:
		panic(fmt.Sprintf("dst: host %q is declared twice, both times with a main; to run another program there, use w.Host(%q).Boot(main)", name, name))
	case program:
		self = h.reboot(main[0])
	}
	return h, self
}

// declare makes a host that has not booted.
func (w *World) declare(name string) *Host {
	if err := checkName(name); err != "" {
		panic("dst: Host: " + err)
	}
	h := &Host{w: w, name: name}
	h.sh = w.sw.NewHost(name)
	h.stack = w.net.AddHost(name)
	h.disk = simfs.New(w.sw, name)
	h.clock = simtime.Of(h.sh)
	h.sh.Owner = h
	w.hosts = append(w.hosts, h)
	if w.spread != (simtime.Spread{}) {
		h.clock.Set(w.spread)
	}
	return h
}

// checkName tells what keeps name from being a host's name, or "".
func checkName(name string) string {
	const rules = "; a name is letters, digits and hyphens, at most 63, and begins and ends with a letter or digit"
	if name == "" {
		return "a host needs a name" + rules
	}
	if len(name) > 63 {
		return fmt.Sprintf("the name %q has %d characters", name, len(name)) + rules
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-' && i > 0 && i < len(name)-1:
		default:
			return fmt.Sprintf("the name %q has %q at %d", name, c, i) + rules
		}
	}
	return "" // the network refuses those that look like addresses
}

// Name returns the host's name.
func (h *Host) Name() string { return h.name }

// Addr returns the host's IPv4 address.
func (h *Host) Addr() netip.Addr { return h.stack.Addr() }

// Clock returns the host's clock, to read it or set it wrong.
func (h *Host) Clock() *simtime.Clock {
	h.w.in()
	return h.clock
}

// Disk returns the host's disk, which outlives its processes.
func (h *Host) Disk() *simfs.Disk {
	h.w.in()
	return h.disk
}

// Env sets variables ("KEY=value") of the environment of the host's process, now
// if it runs, and whenever it boots again. A process starts with an empty
// environment. It panics if a variable has no "=".
func (h *Host) Env(vars ...string) *Host {
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	for _, v := range vars {
		key, value, ok := strings.Cut(v, "=")
		if !ok || key == "" {
			panic(fmt.Sprintf("dst: Env of host %q: %q is not KEY=value", h.name, v))
		}
		if h.env == nil {
			h.env = map[string]string{}
		}
		h.env[key] = value
		if h.proc != nil {
			h.proc.Env()[key] = value
		}
	}
	return h
}

// Args sets the arguments of the host's process, the program's name first, now
// if it runs, and whenever it boots again. By default there is the host's name
// only. They are the process's os.Args, which package flag parses.
func (h *Host) Args(args ...string) *Host {
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	h.args = append([]string{}, args...)
	if h.proc != nil && len(args) > 0 {
		h.proc.SetArgs(h.args)
	}
	return h
}

// Running tells whether the host has a process: it was booted and has not
// ended. A paused host is running.
func (h *Host) Running() bool {
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	return h.proc != nil
}

// Err returns what the host's last process ended with: nil while one runs, and
// if it ended with status 0 or was ended by the test; what main returned; or an
// [*ExitError].
func (h *Host) Err() error {
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	return h.err
}

// Stdin sets what the host's process reads from its standard input, now if it runs,
// and whenever it boots again. After that, and by default, it is at its end.
func (h *Host) Stdin(text string) *Host {
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	h.input = []byte(text)
	if h.proc != nil {
		h.proc.SetInput(h.input)
	}
	return h
}

// MaxFiles sets how many descriptors a process of the host may have open
// (RLIMIT_NOFILE, soft and hard) from its next boot on, the three standard ones
// included; by default 4096. One more fails with EMFILE, "too many open files". It
// panics if n is not positive.
func (h *Host) MaxFiles(n int) *Host {
	if n <= 0 {
		panic(fmt.Sprintf("dst: MaxFiles of host %q: %d, must be positive", h.name, n))
	}
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	h.maxFiles = uint64(n)
	return h
}

// A Line is a line that a process of a host wrote to its standard output or
// error.
type Line struct {
	At   time.Duration // virtual time since the world began
	FD   int           // 1 or 2
	Text string        // without the newline
}

// Output returns the lines that the host's processes have written to their standard
// output and error, oldest first. A line that has no newline yet is not among them,
// unless the process has ended or the line is longer than 64 KiB, when it comes in
// pieces. Of a world's log, of which this is a part, about a megabyte is kept.
func (h *Host) Output() []Line {
	h.w.in()
	sched.Enter()
	defer sched.Leave()
	return h.w.journal.outputOf(h)
}

// An ExitError tells that a host's process exited with a status other than 0, by
// os.Exit or log.Fatal, or that a signal ended it.
type ExitError struct {
	Code   int            // as a shell shows it: 128 and the signal's number, if it was one
	Signal syscall.Signal // that ended it, or 0
}

func (e *ExitError) Error() string {
	if e.Signal != 0 {
		return "signal: " + e.Signal.String()
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
