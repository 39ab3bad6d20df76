//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
)

// A program is a function that stands for a file that can be run.
type program struct {
	path string
	main func() int
}

// Register puts a program at an absolute path of every host's disk: those that
// have booted, and those to come. What runs it gets a process of its own, of which
// main's result is the exit status.
func (k *Kernel) Register(path string, main func() int) error {
	if path == "" || path[0] != '/' || path[len(path)-1] == '/' || strings.Contains(path, "//") || strings.Contains(path, "/.") {
		return fmt.Errorf("the path %q must be absolute, without dots, and name a file", path)
	}
	if k.programAt(path) != nil {
		return fmt.Errorf("there is a program at %s already", path)
	}
	prog := &program{path, main}
	k.programs = append(k.programs, prog)
	for _, fs := range k.diskList {
		prog.install(fs)
	}
	return nil
}

func (prog *program) install(fs *simfs.Disk) {
	fs.Executable(prog.path, func() []byte { return []byte("a simulated program\n") })
}

func (k *Kernel) programAt(path string) *program {
	for _, prog := range k.programs {
		if prog.path == path {
			return prog
		}
	}
	return nil
}

// find returns the program that a path leads to.
func (p *Process) find(dir *simfs.Inode, path string) (*program, syscall.Errno) {
	n, errno := p.fs.Lookup(dir, path, true)
	if errno != 0 {
		return nil, errno
	}
	if n.Kind() != simfs.Generated && n.Kind() != simfs.Regular || n.Stat().Mode&0o111 == 0 {
		return nil, syscall.EACCES
	}
	return p.k.programAt(n.Where()), 0
}

// An ExecError tells that a simulated host tried to run a program that the test
// has not registered.
type ExecError struct {
	Call string // "fork/exec" or "exec"
	Name string
}

func (e *ExecError) Error() string {
	return fmt.Sprintf("%s of %s is refused in a simulated host: the machine's programs cannot be simulated; register a Go function in its place (World.Program)", e.Call, e.Name)
}

// Is makes it a permission error, as far as package errors goes.
func (e *ExecError) Is(target error) bool {
	return target == syscall.EPERM || target == os.ErrPermission
}

// refuseExec reports a program that is not there.
func (p *Process) refuseExec(call, name string) error {
	if p != nil && !p.dead {
		p.unsupported(syscall.SYS_EXECVE, 0, call+" of "+name+", which is no registered program")
	}
	return &ExecError{call, name}
}

// ForkExec is [syscall.ForkExec] of the process.
func (p *Process) ForkExec(argv0 string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	sched.Enter()
	defer sched.Leave()
	if p == nil || p.dead {
		return 0, syscall.ESRCH
	}
	if attr == nil {
		attr = &syscall.ProcAttr{}
	}
	c, err := p.fork(argv0, argv, attr)
	errno, _ := err.(syscall.Errno)
	if c == nil {
		p.k.w.Note(sched.KindSyscall, p.host.ID(), outcome(syscall.SYS_EXECVE, 0, max(errno, syscall.EPERM)))
		return 0, err
	}
	p.k.w.Note(sched.KindSyscall, p.host.ID(), outcome(syscall.SYS_EXECVE, uintptr(c.pid), 0))
	c.host.Go(func() { c.run(c.program.main) })
	return c.pid, nil
}

// fork makes a child that has not begun.
func (p *Process) fork(argv0 string, argv []string, attr *syscall.ProcAttr) (*Process, error) {
	if strings.IndexByte(argv0, 0) >= 0 {
		return nil, syscall.EINVAL
	}
	sys := attr.Sys
	if sys == nil {
		sys = &syscall.SysProcAttr{}
	}
	if sys.Chroot != "" || sys.Ptrace || sys.Cloneflags&^syscall.CLONE_VFORK != 0 || sys.Unshareflags != 0 || sys.UseCgroupFD {
		p.unsupported(syscall.SYS_CLONE, 1, "a process with a root directory, tracer, name spaces or cgroup of its own")
		return nil, syscall.EPERM
	}
	dir := p.cwd
	if attr.Dir != "" {
		n, errno := p.fs.Lookup(p.cwd, attr.Dir, true)
		if errno == 0 && !n.IsDir() {
			errno = syscall.ENOTDIR
		}
		if errno != 0 {
			return nil, errno
		}
		dir = n
	}
	prog, errno := p.find(dir, argv0)
	if prog == nil {
		if errno != 0 && len(p.k.programs) > 0 {
			return nil, errno // the host has programs, and this is none of them
		}
		return nil, p.refuseExec("fork/exec", argv0)
	}
	files := make([]*file, len(attr.Files))
	for i, fd := range attr.Files {
		if fd == ^uintptr(0) {
			continue // closed in the child
		}
		if files[i] = p.lookup(fd); files[i] == nil {
			return nil, syscall.EBADF
		}
	}
	k := p.k
	opts := Options{Args: argv, Output: p.opts.Output, Clock: p.opts.Clock, Executable: prog.path}
	c := k.newProcess(p.host.Machine().Child(fmt.Sprintf("%s/%s[%d]", p.host.Machine().Name(), base(prog.path), k.pids[p.host.Machine().ID()]+1)), p.stack, p.fs, opts)
	c.parent, c.top, c.program = p, p.top, prog
	c.cwd, c.umask, c.nofile, c.creds = dir, p.umask, p.nofile, p.creds
	c.signals.began = p.signals.inherited()
	c.signals.ignored = c.signals.began
	c.pgid = p.pgid
	if sys.Setsid || sys.Setpgid && sys.Pgid == 0 || sys.Foreground && sys.Pgid == 0 {
		c.pgid = c.pid
	} else if sys.Setpgid {
		c.pgid = sys.Pgid
	}
	if cred := sys.Credential; cred != nil {
		c.creds = creds{uid: [3]uint32{cred.Uid, cred.Uid, cred.Uid}, gid: [3]uint32{cred.Gid, cred.Gid, cred.Gid}}
	}
	if sys.PidFD != nil {
		*sys.PidFD = -1
	}
	c.env = map[string]string{}
	for _, v := range attr.Env {
		if key, value, ok := strings.Cut(v, "="); ok && key != "" {
			c.env[key] = value
		}
	}
	for i, f := range files {
		if i >= len(c.std) {
			c.std = append(c.std, slot{})
		}
		if f != nil {
			f.refs++
			c.std[i].f = f
			c.opened++
		}
	}
	p.children = append(p.children, c)
	c.top.family = append(c.top.family, c)
	c.opts.OnExit = c.ended
	return c, nil
}

// run is what the first goroutine of a child does.
func (p *Process) run(main func() int) {
	code := main()
	sched.Enter()
	p.ended(code, 0)
	sched.Leave()
	sched.Exit()
}

// Child reports whether another process of the host started this one.
func (p *Process) Child() bool { return p.parent != nil || p.top != p }

// Program returns the path of what a child runs.
func (p *Process) Program() string { return p.executable() }

// ended is the end of a child, by exit or by a signal. Its goroutines are
// destroyed; if the calling one is among them, it has to exit then.
func (p *Process) ended(code int, sig syscall.Signal) {
	if p.dead {
		return
	}
	p.status = syscall.WaitStatus(code & 0xff << 8)
	if sig != 0 {
		p.status = syscall.WaitStatus(sig)
	}
	p.Exit(code)
	p.host.Kill()
	for _, c := range p.children {
		c.parent = nil // init adopts it, and waits for it
		if c.dead {
			c.reaped()
		}
	}
	p.children = nil
	if p.parent == nil || p.parent.dead {
		p.reaped()
		return
	}
	p.parent.reaper.wakeAll()
	if p.parent.signals.ignored&signalBit(syscall.SIGCHLD) != 0 {
		p.reap() // nobody is to wait for it
		return
	}
	p.parent.Signal(syscall.SIGCHLD)
}

// reap forgets a dead child.
func (p *Process) reap() {
	p.parent.children = slices.DeleteFunc(p.parent.children, func(c *Process) bool { return c == p })
	p.reaped()
}

func (p *Process) reaped() {
	p.top.family = slices.DeleteFunc(p.top.family, func(c *Process) bool { return c == p })
}

// exitFamily ends all children of a host's own process, which has ended: they go
// with it, as in a container.
func (p *Process) exitFamily() {
	for _, c := range p.family {
		if !c.dead {
			c.Exit(128 + int(syscall.SIGKILL))
			c.host.Kill()
		}
	}
	p.family, p.children = nil, nil
}

const (
	waitNoHang  = 1
	waitExited  = 4
	waitNoWait  = 1 << 24
	waitAll     = 0
	waitPID     = 1
	waitPGID    = 2
	childExited = 1
	childKilled = 2
)

// child returns a dead child that is waited for, and whether there is any child
// that could be.
func (p *Process) child(match func(c *Process) bool) (dead *Process, any bool) {
	for _, c := range p.children {
		if match(c) {
			any = true
			if c.dead {
				return c, true
			}
		}
	}
	return nil, any
}

// waitChild is what wait4 and waitid have in common. It returns nil without an
// error if nobody is dead, and the call is not to wait.
func (p *Process) waitChild(c *Call, options uintptr, match func(c *Process) bool) (*Process, syscall.Errno) {
	dead, any := p.child(match)
	switch {
	case dead != nil:
		return dead, 0
	case !any:
		return nil, syscall.ECHILD
	case options&waitNoHang != 0:
		return nil, 0
	}
	return nil, p.waitFor(c, p.reaper, 0)
}

func (p *Process) sysWait4(c *Call) (uintptr, syscall.Errno) {
	pid := int(int32(c.Arg[0]))
	if c.Arg[2]&^(waitNoHang|2|8|0xe0000000) != 0 {
		return 0, syscall.EINVAL
	}
	dead, errno := p.waitChild(c, c.Arg[2], func(c *Process) bool {
		switch {
		case pid > 0:
			return c.pid == pid
		case pid == -1:
			return true
		case pid == 0:
			return c.pgid == p.pgid
		}
		return c.pgid == -pid
	})
	if dead == nil {
		return 0, errno
	}
	if c.Ptr[1] != nil {
		status := uint32(dead.status)
		if errno := put(c.Ptr[1], &status); errno != 0 {
			return 0, errno
		}
	}
	if c.Ptr[3] != nil {
		u := dead.usage()
		if errno := put(c.Ptr[3], &u); errno != 0 {
			return 0, errno
		}
	}
	dead.reap()
	return uintptr(dead.pid), 0
}

// A childInfo is what waitid tells of a child: struct siginfo_t.
type childInfo struct {
	signo, errno, code, _ int32
	pid                   int32
	uid                   uint32
	status                int32
	_                     [100]byte
}

func (p *Process) sysWaitid(c *Call) (uintptr, syscall.Errno) {
	kind, id := int(c.Arg[0]), int(int32(c.Arg[1]))
	if kind != waitAll && kind != waitPID && kind != waitPGID || c.Arg[3]&waitExited == 0 {
		return 0, syscall.EINVAL // stopped children are not told of
	}
	dead, errno := p.waitChild(c, c.Arg[3], func(c *Process) bool {
		switch kind {
		case waitPID:
			return c.pid == id
		case waitPGID:
			return c.pgid == id || id == 0 && c.pgid == p.pgid
		}
		return true
	})
	if errno != 0 {
		return 0, errno
	}
	var info childInfo
	if dead != nil {
		info = childInfo{signo: int32(syscall.SIGCHLD), code: childExited, pid: int32(dead.pid), uid: dead.creds.uid[0], status: int32(dead.status.ExitStatus())}
		if dead.status.Signaled() {
			info.code, info.status = childKilled, int32(dead.status.Signal())
		}
	}
	if c.Ptr[2] != nil {
		if errno := put(c.Ptr[2], &info); errno != 0 {
			return 0, errno
		}
	}
	if dead == nil {
		return 0, 0
	}
	if c.Ptr[4] != nil {
		u := dead.usage()
		if errno := put(c.Ptr[4], &u); errno != 0 {
			return 0, errno
		}
	}
	if c.Arg[3]&waitNoWait == 0 {
		dead.reap()
	}
	return 0, 0
}

// others returns the processes of the host that a pid, as kill(2) takes it, stands
// for.
func (p *Process) targets(pid int) (list []*Process) {
	for _, q := range append([]*Process{p.top}, p.top.family...) {
		switch {
		case pid > 0 && q.pid == pid, pid == 0 && q.pgid == p.pgid, pid < -1 && q.pgid == -pid, pid == -1 && q != p:
			list = append(list, q)
		}
	}
	return list
}

// Exec is [syscall.Exec] of the process: a child goes on as another program.
func (p *Process) Exec(argv0 string, argv, envv []string) error {
	sched.Enter()
	if p == nil || p.dead {
		sched.Leave()
		return syscall.ESRCH
	}
	err := p.exec(argv0, argv, envv)
	sched.Leave()
	if err == nil {
		sched.Exit()
	}
	return err
}

func (p *Process) exec(argv0 string, argv, envv []string) error {
	prog, errno := p.find(p.cwd, argv0)
	if prog == nil {
		if errno != 0 && len(p.k.programs) > 0 {
			return errno
		}
		return p.refuseExec("exec", argv0)
	}
	if !p.Child() {
		p.unsupported(syscall.SYS_EXECVE, 1, "exec by a host's own process; Host.Boot gives it another main")
		return syscall.EPERM
	}
	for _, slots := range [][]slot{p.std, p.high} {
		for i := range slots {
			if slots[i].f != nil && slots[i].cloexec {
				p.drop(&slots[i])
			}
		}
	}
	p.lowest = 0
	p.args, p.opts.Executable, p.program = slices.Clone(argv), prog.path, prog
	if len(argv) == 0 {
		p.args = []string{""}
	}
	clear(p.env)
	for _, v := range envv {
		if key, value, ok := strings.Cut(v, "="); ok && key != "" {
			p.env[key] = value
		}
	}
	p.signals.channels = nil
	for _, wp := range p.points {
		wp.Cancel() // its goroutine goes
	}
	// The process goes on in goroutines, and with memory, of its own.
	was := p.host
	p.host = was.Machine().Child(fmt.Sprintf("%s/%s[%d]", was.Machine().Name(), base(prog.path), p.pid))
	p.host.Process, was.Process = p, nil
	p.setVars()
	p.host.Go(func() { p.run(prog.main) })
	was.Kill()
	return nil
}
