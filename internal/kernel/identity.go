//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
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

// Hostname returns the name that the host has given itself, or its own.
func (p *Process) Hostname() string {
	if p.top.hostname != "" {
		return p.top.hostname
	}
	return p.host.Machine().Name()
}

func (p *Process) sysSethostname(c *Call) (uintptr, syscall.Errno) {
	if p.creds.uid[1] != 0 {
		return 0, syscall.EPERM
	}
	var name [64]byte
	if int(c.Arg[1]) < 0 || c.Arg[1] > uintptr(len(name)) {
		return 0, syscall.EINVAL
	}
	b, errno := buffer(c.Ptr[0], c.Arg[1])
	if errno != 0 {
		return 0, errno
	}
	if len(b) > 0 {
		sched.CopyIn(name[:len(b)], unsafe.Pointer(&b[0]))
	}
	p.top.hostname = string(name[:len(b)])
	return 0, 0
}

func (p *Process) sysUname(c *Call) (uintptr, syscall.Errno) {
	var u [6][65]byte // what struct utsname is on every architecture
	copy(u[0][:64], "Linux")
	copy(u[1][:64], p.Hostname())
	copy(u[2][:64], "6.1.0")
	copy(u[3][:64], "#1 SMP")
	copy(u[4][:64], machine)
	copy(u[5][:64], "(none)")
	return 0, put(c.Ptr[0], &u)
}

// creds are who the process runs as: real, effective and saved identities. The
// zero creds are root's. Files do not look at them: see "The process" in the
// package documentation.
type creds struct {
	uid, gid [3]uint32
	groups   []uint32
}

func (p *Process) sysGetgroups(c *Call) (uintptr, syscall.Errno) {
	n := len(p.creds.groups)
	if c.Arg[0] == 0 {
		return uintptr(n), 0
	}
	if int(int32(c.Arg[0])) < n {
		return 0, syscall.EINVAL
	}
	if n > 0 {
		b, errno := buffer(c.Ptr[1], uintptr(4*n))
		if errno != 0 {
			return 0, errno
		}
		for i := range p.creds.groups {
			sched.CopyOut(unsafe.Pointer(&b[4*i]), bytesOf(&p.creds.groups[i]))
		}
	}
	return uintptr(n), 0
}

func (p *Process) sysSetgroups(c *Call) (uintptr, syscall.Errno) {
	if p.creds.uid[1] != 0 {
		return 0, syscall.EPERM
	}
	if c.Arg[0] > 65536 {
		return 0, syscall.EINVAL
	}
	b, errno := buffer(c.Ptr[1], 4*c.Arg[0])
	if errno != 0 {
		return 0, errno
	}
	list := make([]uint32, c.Arg[0])
	for i := range list {
		sched.CopyIn(bytesOf(&list[i]), unsafe.Pointer(&b[4*i]))
	}
	p.creds.groups = list
	return 0, 0
}

// sysIDs is getresuid and getresgid.
func (p *Process) sysIDs(c *Call, ids *[3]uint32) (uintptr, syscall.Errno) {
	for i := range ids {
		if errno := put(c.Ptr[i], &ids[i]); errno != 0 {
			return 0, errno
		}
	}
	return 0, 0
}

// sysSetID is setuid, setreuid and setresuid, by how many identities are given,
// and their kin for groups: root may become anybody, others only who they are.
func (p *Process) sysSetID(c *Call, ids *[3]uint32, count int) (uintptr, syscall.Errno) {
	const keep = ^uint32(0)
	root := p.creds.uid[1] == 0
	id := [3]uint32{uint32(c.Arg[0]), keep, keep}
	for i := 1; i < count; i++ {
		id[i] = uint32(c.Arg[i])
	}
	if count == 1 {
		if id[0] == keep {
			return 0, syscall.EINVAL
		}
		id[1] = id[0]
		if root {
			id[2] = id[0]
		} else {
			id[0] = keep
		}
	}
	for i, x := range id {
		known := x == keep || x == ids[0] || x == ids[1] || x == ids[2] && (count != 2 || i == 1)
		if !root && !known {
			return 0, syscall.EPERM
		}
	}
	was := ids[0]
	for i, x := range id {
		if x != keep {
			ids[i] = x
		}
	}
	if count == 2 && (id[0] != keep || id[1] != keep && id[1] != was) {
		ids[2] = ids[1]
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
	targets := p.targets(pid)
	if len(targets) == 0 {
		return 0, syscall.ESRCH
	}
	if sig != 0 {
		for _, q := range targets {
			q.Signal(syscall.Signal(sig)) // of a dead one: nothing
		}
	}
	return 0, 0
}

func (p *Process) sysSetpgid(c *Call) (uintptr, syscall.Errno) {
	pid, pgid := int(int32(c.Arg[0])), int(int32(c.Arg[1]))
	if pgid < 0 {
		return 0, syscall.EINVAL
	}
	for _, q := range append([]*Process{p}, p.children...) {
		if q.pid == pid || pid == 0 && q == p {
			if pgid == 0 {
				pgid = q.pid
			}
			q.pgid = pgid
			return 0, 0
		}
	}
	return 0, syscall.ESRCH
}

func (p *Process) sysGetpgid(c *Call) (uintptr, syscall.Errno) {
	pid := int(int32(c.Arg[0]))
	if pid == 0 {
		return uintptr(p.pgid), 0
	}
	for _, q := range p.targets(max(pid, 1)) {
		return uintptr(q.pgid), 0
	}
	return 0, syscall.ESRCH
}

func (p *Process) sysExit(c *Call) (uintptr, syscall.Errno) {
	if p.opts.OnExit == nil {
		return p.refuse(c, syscall.ENOSYS, "exit by a raw system call")
	}
	p.end(int(uint8(c.Arg[0])), 0)
	return 0, 0
}

// What every simulated machine has. The processor time is what the runtime charges
// for steps, the world's: there is no other.
const (
	processors  = 4
	totalMemory = 8 << 30
	freeMemory  = 6 << 30
	resident    = 64 << 20
	tick        = int64(1e9 / 100) // of USER_HZ
)

// usage is what the process has used.
func (p *Process) usage() syscall.Rusage {
	cpu, _ := p.clock(clockProcessCPU)
	return syscall.Rusage{Utime: syscall.NsecToTimeval(cpu), Maxrss: resident >> 10}
}

func (p *Process) sysGetrusage(c *Call) (uintptr, syscall.Errno) {
	u := p.usage()
	switch int(int32(c.Arg[0])) {
	case syscall.RUSAGE_SELF, 1: // 1: the thread
	case syscall.RUSAGE_CHILDREN:
		u = syscall.Rusage{}
	default:
		return 0, syscall.EINVAL
	}
	return 0, put(c.Ptr[1], &u)
}

// sysTimes is times(2): in ticks of 10 ms.
func (p *Process) sysTimes(c *Call) (uintptr, syscall.Errno) {
	cpu, _ := p.clock(clockProcessCPU)
	up, _ := p.clock(clockBoottime)
	if c.Ptr[0] != nil {
		t := syscall.Tms{Utime: cpu / tick}
		if errno := put(c.Ptr[0], &t); errno != 0 {
			return 0, errno
		}
	}
	return uintptr(up / tick), 0
}

func (p *Process) sysSysinfo(c *Call) (uintptr, syscall.Errno) {
	up, _ := p.clock(clockBoottime)
	si := syscall.Sysinfo_t{Uptime: up / 1e9, Totalram: totalMemory, Freeram: freeMemory, Procs: uint16(1 + len(p.top.family)), Unit: 1}
	return 0, put(c.Ptr[0], &si)
}

// sysAffinity is sched_getaffinity.
func (p *Process) sysAffinity(c *Call) (uintptr, syscall.Errno) {
	if c.Arg[1] < 8 {
		return 0, syscall.EINVAL
	}
	mask := uint64(1<<processors - 1)
	return 8, put(c.Ptr[2], &mask)
}

// refuse reports a call that the simulator does not model, or that nothing may
// do in a simulated host.
func (p *Process) refuse(c *Call, errno syscall.Errno, detail string) (uintptr, syscall.Errno) {
	p.unsupported(c.Trap, ^uint64(0), detail)
	return 0, errno
}
