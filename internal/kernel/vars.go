//go:build linux && (amd64 || arm64)

package kernel

import (
	"flag"
	"os"

	"github.com/dstkit/dst/sched"
)

// What std keeps in plain variables of the process, each simulated one has for
// itself. Programs assign them, too.
func init() {
	sched.Own(&os.Args)
	sched.Own(&os.Stdin)
	sched.Own(&os.Stdout)
	sched.Own(&os.Stderr)
	sched.Own(&flag.CommandLine)
}

// setArgs makes os.Args a copy of the process's arguments. It is not instrumented, and
// copies by hand, as copy is: the race detector would take what the kernel writes for a
// race with the program, which may read it at any time.
//
//go:norace
func (p *Process) setArgs() {
	args := make([]string, len(p.args))
	for i, a := range p.args {
		args[i] = a
	}
	sched.SetOwn(p.host, &os.Args, args)
}

// setVars gives them the values that a process begins with.
func (p *Process) setVars() {
	h := p.host
	p.setArgs()
	if in := stdFile(0, "/dev/stdin"); in != nil {
		sched.SetOwn(h, &os.Stdin, in)
		sched.SetOwn(h, &os.Stdout, stdFile(1, "/dev/stdout"))
		sched.SetOwn(h, &os.Stderr, stdFile(2, "/dev/stderr"))
	}
	if flags := sched.Owned(h, &flag.CommandLine); flags != nil {
		*flags = copyFlags(*flags, p.args[0])
	}
}
