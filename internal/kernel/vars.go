//go:build linux && (amd64 || arm64)

package kernel

import (
	"flag"
	"os"
	"slices"

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

// setVars gives them the values that a process begins with.
func (p *Process) setVars() {
	h := p.host
	sched.SetOwn(h, &os.Args, slices.Clone(p.args))
	if in := stdFile(0, "/dev/stdin"); in != nil {
		sched.SetOwn(h, &os.Stdin, in)
		sched.SetOwn(h, &os.Stdout, stdFile(1, "/dev/stdout"))
		sched.SetOwn(h, &os.Stderr, stdFile(2, "/dev/stderr"))
	}
	if flags := sched.Owned(h, &flag.CommandLine); flags != nil {
		*flags = copyFlags(*flags, p.args[0])
	}
}
