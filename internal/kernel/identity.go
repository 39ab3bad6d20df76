//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
)

// Resource limits by number; package syscall names a few of them.
const (
	rlimitStack = 3
	rlimitCore  = 4
	rlimits     = 16
)

// limit returns a resource limit: only that of open files means anything.
func (p *Process) limit(resource int) rlimit {
	const none = ^uint64(0)
	switch resource {
	case syscall.RLIMIT_NOFILE:
		return p.nofile
	case rlimitStack:
		return rlimit{8 << 20, none}
	case rlimitCore:
		return rlimit{0, none}
	}
	return rlimit{none, none}
}

func (p *Process) sysPrlimit(c *Call) (uintptr, syscall.Errno) {
	if pid := int(int32(c.Arg[0])); pid != 0 && pid != p.pid {
		return 0, syscall.ESRCH
	}
	resource := int(c.Arg[1])
	if resource < 0 || resource >= rlimits {
		return 0, syscall.EINVAL
	}
	old := p.limit(resource)
	if c.Ptr[2] != nil {
		if errno := p.setLimit(c, resource, 2); errno != 0 {
			return 0, errno
		}
	}
	if c.Ptr[3] != nil {
		return 0, put(c.Ptr[3], &old)
	}
	return 0, 0
}

func (p *Process) setLimit(c *Call, resource, arg int) syscall.Errno {
	var l rlimit
	if errno := get(&l, c.Ptr[arg]); errno != 0 {
		return errno
	}
	if l.cur > l.max {
		return syscall.EINVAL
	}
	if resource != syscall.RLIMIT_NOFILE {
		return 0
	}
	if l.max > fdRange {
		return syscall.EPERM // more than fs.nr_open
	}
	p.nofile = l
	return 0
}

func (p *Process) sysGetrlimit(c *Call, set bool) (uintptr, syscall.Errno) {
	resource := int(c.Arg[0])
	if resource < 0 || resource >= rlimits {
		return 0, syscall.EINVAL
	}
	if set {
		return 0, p.setLimit(c, resource, 1)
	}
	l := p.limit(resource)
	return 0, put(c.Ptr[1], &l)
}

func (p *Process) sysUname(c *Call) (uintptr, syscall.Errno) {
	var u [6][65]byte // what struct utsname is on every architecture
	copy(u[0][:64], "Linux")
	copy(u[1][:64], p.host.Name())
	copy(u[2][:64], "6.1.0")
	copy(u[3][:64], "#1 SMP")
	copy(u[4][:64], machine)
	copy(u[5][:64], "(none)")
	return 0, put(c.Ptr[0], &u)
}

func (p *Process) sysGetgroups(c *Call) (uintptr, syscall.Errno) {
	return 0, 0 // root's one group is its gid
}

// sysIDs is getresuid and getresgid.
func (p *Process) sysIDs(c *Call) (uintptr, syscall.Errno) {
	var root uint32
	for i := range 3 {
		if errno := put(c.Ptr[i], &root); errno != 0 {
			return 0, errno
		}
	}
	return 0, 0
}

// sysSetID is setuid and its kin: to root, nothing changes.
func (p *Process) sysSetID(c *Call, count int) (uintptr, syscall.Errno) {
	for i := range count {
		if id := int32(c.Arg[i]); id != 0 && id != -1 {
			p.unsupported(c.Trap, 0, "another user than root")
			return 0, syscall.EPERM
		}
	}
	return 0, 0
}

// sysKill is kill, tkill and tgkill, by where the process or thread and the
// signal are among the arguments.
func (p *Process) sysKill(c *Call, process, signal int) (uintptr, syscall.Errno) {
	pid, sig := int(int32(c.Arg[process])), int(int32(c.Arg[signal]))
	if sig < 0 || sig > 64 {
		return 0, syscall.EINVAL
	}
	switch pid {
	case p.pid, 0, -p.pid:
	case -1:
		return 0, syscall.ESRCH // nobody else is there
	default:
		return 0, syscall.ESRCH
	}
	if sig != 0 {
		p.Signal(syscall.Signal(sig))
	}
	return 0, 0
}

func (p *Process) sysExit(c *Call) (uintptr, syscall.Errno) {
	if p.opts.OnExit == nil {
		return p.refuse(c, syscall.ENOSYS, "exit by a raw system call")
	}
	p.opts.OnExit(int(int32(c.Arg[0])))
	return 0, 0
}

func (p *Process) sysGetrusage(c *Call) (uintptr, syscall.Errno) {
	cpu, _ := p.clock(clockProcessCPU)
	u := syscall.Rusage{Utime: syscall.NsecToTimeval(cpu), Maxrss: 64 << 10}
	return 0, put(c.Ptr[1], &u)
}

func (p *Process) sysSysinfo(c *Call) (uintptr, syscall.Errno) {
	up, _ := p.clock(clockBoottime)
	si := syscall.Sysinfo_t{Uptime: up / 1e9, Totalram: 4 << 30, Freeram: 2 << 30, Procs: 1, Unit: 1}
	return 0, put(c.Ptr[0], &si)
}

// sysAffinity is sched_getaffinity: one processor.
func (p *Process) sysAffinity(c *Call) (uintptr, syscall.Errno) {
	if c.Arg[1] < 8 {
		return 0, syscall.EINVAL
	}
	mask := uint64(1)
	return 8, put(c.Ptr[2], &mask)
}

// refuse reports a call that the simulator does not model, or that nothing may
// do in a simulated host.
func (p *Process) refuse(c *Call, errno syscall.Errno, detail string) (uintptr, syscall.Errno) {
	p.unsupported(c.Trap, ^uint64(0), detail)
	return 0, errno
}
