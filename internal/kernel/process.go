//go:build linux && (amd64 || arm64)

package kernel

import (
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// FirstFD is the first descriptor number of a world's first process. No
// descriptor of the real kernel is as high.
const FirstFD = 1 << 20

const (
	fdRange   = 1 << 16 // numbers between two processes' first descriptors
	fdRanges  = 1 << 14 // processes until the ranges come around
	softFiles = 1024    // RLIMIT_NOFILE, as Linux starts its first process
	hardFiles = 4096
)

// A Kernel is what the processes of one world have in common.
type Kernel struct {
	// Unsupported, if set, is told of each thing that a process asked for and
	// the simulator does not model: name is the system call's ("socket"),
	// detail what about it ("a Unix socket"). It is called in kernel context,
	// once for each host and thing.
	Unsupported func(h *sched.Host, name, detail string)

	w   *sched.World
	net *simnet.Network

	slot      int            // index in kernels
	serial    uint64         // of this kernel, among all
	processes uint64         // booted so far
	cookies   uint64         // SO_COOKIE, given so far
	pids      map[uint32]int // the last pid, by host
	disks     map[*simfs.Disk]bool
	diskList  []*simfs.Disk // the same, in order
	programs  []*program
	reported  map[gap]bool

	husks     []mapping // of processes that died: what is there is nobody's
	polls     []*pollDesc
	freePolls []*pollDesc
	buffers   *buffers
}

// kernels finds a kernel by the slot number in the value that stands for a
// poll descriptor. Several worlds may run at once, on threads of their own.
//
//dst:ignore sharedstate the simulator's own, outside of worlds
var (
	kernels      [1024]atomic.Pointer[Kernel]
	kernelSerial atomic.Uint64
)

// New returns the kernel of a world. It holds one of 1024 slots until Close.
func New(w *sched.World, net *simnet.Network) *Kernel {
	k := &Kernel{
		w: w, net: net, serial: kernelSerial.Add(1),
		pids: map[uint32]int{}, disks: map[*simfs.Disk]bool{}, reported: map[gap]bool{},
		buffers: newBuffers(),
	}
	for i := range kernels {
		k.slot = (int(k.serial) + i) % len(kernels)
		if kernels[k.slot].CompareAndSwap(nil, k) {
			return k
		}
	}
	panic("kernel: 1024 worlds at once; Close those that ended")
}

// Close ends the kernel with its world. Processes should have exited; what
// they left is dropped, and their poll descriptors are stale from here on.
func (k *Kernel) Close() {
	for _, pd := range k.polls {
		if pd.f != nil {
			pd.release()
		}
	}
	k.polls, k.freePolls = nil, nil
	for _, m := range k.husks {
		machine3(syscall.SYS_MUNMAP, m.addr, m.size, 0)
	}
	k.husks = nil
	if k.buffers != nil {
		k.buffers.free()
		k.buffers = nil
	}
	kernels[k.slot].CompareAndSwap(k, nil)
}

// Options say how a process is booted. The zero value will do.
type Options struct {
	Args       []string // os.Args; by default the host's name
	Env        map[string]string
	Dir        string // working directory; "/" by default, as after a boot
	Executable string // where /proc/self/exe leads; /usr/local/bin/ and Args[0] by default
	NoFile     uint64 // limit of open files; 4096 by default

	// Output gets what the process writes to descriptors 1 and 2, line by
	// line, with the newline; the last line may lack it. It must not keep line.
	Output func(fd int, at int64, line []byte)
	// Clock tells the host's wall clock; by default it is the world's time.
	Clock func() int64
	// OnExit is told, in kernel context, when the process is to end: by exit,
	// exit_group, or a signal's default action (the code is then 128 and the
	// signal's number). It has to call Exit and to end the goroutines.
	OnExit func(code int, sig syscall.Signal)
	// OnStop is told when a signal stops the process, or lets it go on. By default
	// that is done to its goroutines.
	OnStop func(stop bool)
	Input  []byte // what can be read from descriptor 0; its end comes after that
}

// A Process is a host's process: its descriptors, its identity and its system
// calls. A host has one at a time.
type Process struct {
	k     *Kernel
	host  *sched.Host
	stack *simnet.Stack
	fs    *simfs.Disk
	opts  Options

	pid   int
	args  []string
	env   map[string]string
	rand  *sched.Stream
	cwd   *simfs.Inode
	umask uint32
	dead  bool

	godebug   map[string]string // settings in godebugOf
	godebugOf string            // GODEBUG as it was last read

	abstract map[abstractName]*unixSock // names bound outside of the file system
	autobind uint32                     // such names made so far
	messages []*unixMsg                 // to be used again
	opening  *file                      // a FIFO's end that the call being served opens

	nofile rlimit
	base   uintptr // number of high[0]
	std    []slot  // the low descriptors: three, and those that a child was given
	std3   [3]slot
	high   []slot
	lowest int // no slot of high below it is free
	opened int // descriptors in use

	maps []mapping // by address

	parent   *Process   // of a child
	top      *Process   // the host's own process
	children []*Process // alive, or dead and not waited for, in the order of their start
	family   []*Process // of the host's own process: all that descend from it
	reaper   *file      // what waits for children
	program  *program   // that a child runs
	status   syscall.WaitStatus
	pgid     int
	started  int64
	steps    int // of the wall clock
	creds    creds
	hostname string // if it was set
	procDir  *simfs.Inode

	signals signals
	input   []byte     // of descriptor 0
	console [2]console // descriptors 1 and 2
	cookies uint32     // netlink port numbers given

	block    *WaitPoint   // where the call being served has to wait
	points   []*WaitPoint // by number; see Process.resume
	idle     []*WaitPoint
	resumed  bool  // the call waited before
	expired  bool  // and its time was up
	deadline int64 // that it waited for, or 0
	progress int   // bytes that it had moved
	waited   *file // that it waited for, or nil

	*buffers
}

const maxPath = 4096

// buffers are what one call is served with; calls are served one at a time.
type buffers struct {
	scratch [1 << 16]byte // one datagram gathered or scattered
	path    [maxPath]byte // a path of the call being served
	path2   [maxPath]byte
}

// freeBuffers are those of kernels that were closed.
//
//dst:ignore sharedstate the simulator's own; a buffer is as good as another
var freeBuffers struct {
	sync.Mutex
	list []*buffers
}

func newBuffers() *buffers {
	freeBuffers.Lock()
	defer freeBuffers.Unlock()
	n := len(freeBuffers.list)
	if n == 0 {
		return new(buffers)
	}
	b := freeBuffers.list[n-1]
	freeBuffers.list = freeBuffers.list[:n-1]
	return b
}

func (b *buffers) free() {
	freeBuffers.Lock()
	defer freeBuffers.Unlock()
	freeBuffers.list = append(freeBuffers.list, b)
}

// Boot makes the process of a host and enters it as h.Process. The pid is 1000
// for a host's first process, and grows.
func (k *Kernel) Boot(h *sched.Host, stack *simnet.Stack, fs *simfs.Disk, opts Options) *Process {
	p := k.newProcess(h, stack, fs, opts)
	for fd := range p.std {
		p.std[fd].f = &file{kind: kindConsole, owner: p, fd: fd, refs: 1, flags: syscall.O_RDWR}
	}
	p.opened = len(p.std)
	h.Stepped = func(d int64) {
		if p.dead {
			return
		}
		p.steps++
		p.stepped(d)
	}
	return p
}

// newProcess makes a process without descriptors.
func (k *Kernel) newProcess(h *sched.Host, stack *simnet.Stack, fs *simfs.Disk, opts Options) *Process {
	p := &Process{k: k, host: h, stack: stack, fs: fs, opts: opts, umask: 0o022, buffers: k.buffers, input: opts.Input}
	p.top, p.reaper = p, &file{kind: kindFamily, owner: p}
	p.std, p.started = p.std3[:], k.w.Now()
	name := h.Machine().Name()
	pid, ok := k.pids[h.Machine().ID()]
	if !ok {
		pid = 999
	}
	p.pid = pid + 1
	p.pgid = p.pid
	k.pids[h.Machine().ID()] = p.pid
	p.base = FirstFD + uintptr(k.processes%fdRanges)*fdRange
	k.processes++

	p.args = opts.Args
	if len(p.args) == 0 {
		p.args = []string{name}
	}
	p.env = make(map[string]string, len(opts.Env))
	for key, value := range opts.Env {
		p.env[key] = value
	}
	p.rand = k.w.HostStream("rand", h.Name())
	p.nofile = rlimit{hardFiles, hardFiles}
	if opts.NoFile != 0 {
		p.nofile = rlimit{min(opts.NoFile, fdRange), min(opts.NoFile, fdRange)}
	}
	k.install(h.Machine(), stack, fs)
	fs.SetClock(p.now)
	p.cwd = fs.Root()
	if opts.Dir != "" {
		if n, errno := fs.Lookup(p.cwd, opts.Dir, true); errno == 0 && n.IsDir() {
			p.cwd = n
		}
	}
	h.Process = p
	p.setVars()
	return p
}

// Of returns the process that a host runs, or nil.
func Of(h *sched.Host) *Process {
	if h == nil {
		return nil
	}
	p, _ := h.Process.(*Process)
	return p
}

// Exit ends the process: its descriptors are closed, partial lines of output
// flushed, poll descriptors become stale. Its goroutines are the scheduler's
// to end. Exiting twice is harmless.
func (p *Process) Exit(code int) {
	if p.dead {
		return
	}
	p.dead = true
	p.exitFamily()
	p.dropRights()
	p.unmapAll()
	for i := range p.std {
		p.drop(&p.std[i])
	}
	for i := range p.high {
		p.drop(&p.high[i])
	}
	for i := range p.console {
		p.console[i].flush(p, i+1)
	}
	for _, wp := range p.points {
		p.k.w.Cancel(&wp.event)
		if wp.opening != nil {
			wp.opening.release()
		}
	}
	p.abstract, p.messages = nil, nil
	p.high, p.points, p.idle = nil, nil, nil
	if p.host.Process == p {
		p.host.Process = nil
	}
}

// Host returns the host that the process runs on.
func (p *Process) Host() *sched.Host { return p.host }

// PID returns the process's number.
func (p *Process) PID() int { return p.pid }

// Args returns the process's arguments.
func (p *Process) Args() []string { return p.args }

// SetArgs replaces them; there is one at least.
func (p *Process) SetArgs(args []string) {
	p.args = args
	p.setArgs()
}

// SetInput sets what is still to be read from descriptor 0.
func (p *Process) SetInput(b []byte) { p.input = b }

// Env returns the process's environment, which is the caller's to change.
func (p *Process) Env() map[string]string { return p.env }

// Stack returns the network side of the process's host.
func (p *Process) Stack() *simnet.Stack { return p.stack }

// Disk returns the file system of the process's host.
func (p *Process) Disk() *simfs.Disk { return p.fs }

// Open returns how many descriptors the process has open.
func (p *Process) Open() int { return p.opened }

// now is the host's wall clock.
func (p *Process) now() int64 {
	if p.opts.Clock != nil {
		return p.opts.Clock()
	}
	return p.k.w.Now()
}

// A gap is something that the simulator does not model.
type gap struct {
	host uint32
	trap uintptr
	what uint64
}

// unsupported reports a gap. What tells apart the details of one call.
func (p *Process) unsupported(trap uintptr, what uint64, detail string) {
	g := gap{p.host.ID(), trap, what}
	if p.k.reported[g] {
		return
	}
	p.k.reported[g] = true
	if p.k.Unsupported != nil {
		p.k.Unsupported(p.host, Name(trap), detail)
	}
}

// A console collects what is written to a standard descriptor into lines.
type console struct {
	line []byte
}

// maxLine bounds a line of output; a longer one comes in pieces.
const maxLine = 1 << 16

func (c *console) write(p *Process, fd int, b []byte) {
	for _, ch := range b {
		c.line = append(c.line, ch)
		if ch == '\n' || len(c.line) >= maxLine {
			c.flush(p, fd)
		}
	}
}

func (c *console) flush(p *Process, fd int) {
	if len(c.line) == 0 {
		return
	}
	if p.opts.Output != nil {
		p.opts.Output(fd, p.k.w.Now(), c.line)
	}
	c.line = c.line[:0]
}
