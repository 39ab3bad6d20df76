//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"

	"github.com/dstkit/dst/simfs"
)

// A fileKind says what an open file is.
type fileKind uint8

const (
	kindConsole fileKind = iota // one of the standard descriptors
	kindDisk                    // of the host's file system
	kindUDP
	kindStream
	kindNetlink // NETLINK_ROUTE
	kindUnix
	kindPipe // from here on: no sockets
	kindEpoll
	kindEvent  // eventfd
	kindTimer  // timerfd
	kindFamily // no file: the children that a process waits for
)

// A file is an open file description: what descriptors made by dup share. The
// kinds are told apart by a switch, not an interface; see "Memory" in the
// package documentation.
type file struct {
	kind  fileKind
	owner *Process
	refs  int // descriptors that stand for it
	flags int // as F_GETFL tells: access mode, O_APPEND, O_NONBLOCK, …

	polls   []*pollDesc
	waiters []*WaitPoint
	watches []*watch // by epoll

	fd int // kindConsole: which

	// kindDisk
	node    *simfs.Inode
	off     int64
	names   []string // of a directory that is being listed
	content []byte   // of a generated file, made when it was opened
	path    string   // for reports
	errSeq  uint32   // failed write-backs of the node that it has told
	flock   bool     // the node knows of locks of the description

	sock *socket

	unix  *unixSock // kindUnix
	pipe  *pipe     // kindPipe
	epoll *epoll    // kindEpoll
	event *eventfd  // kindEvent
	timer *timerfd  // kindTimer
}

// A slot is one descriptor.
type slot struct {
	f       *file // nil: the number is free
	cloexec bool
}

type rlimit struct{ cur, max uint64 }

// slotOf returns the place of a descriptor number, or nil.
func (p *Process) slotOf(fd uintptr) *slot {
	fd = uintptr(uint32(fd))
	if i := fd - p.base; i < uintptr(len(p.high)) {
		return &p.high[i]
	}
	if fd < uintptr(len(p.std)) {
		return &p.std[fd]
	}
	return nil
}

// lookup returns the open file of a descriptor number, or nil.
func (p *Process) lookup(fd uintptr) *file {
	if s := p.slotOf(fd); s != nil {
		return s.f
	}
	return nil
}

// enter gives f the lowest free descriptor from a number on.
func (p *Process) enter(f *file, cloexec bool, from uintptr) (uintptr, syscall.Errno) {
	if uint64(p.opened) >= p.nofile.cur {
		return 0, syscall.EMFILE
	}
	i := p.lowest
	if from > p.base {
		if uint64(from-p.base) >= p.nofile.cur {
			return 0, syscall.EINVAL
		}
		i = max(i, int(from-p.base))
	}
	for i < len(p.high) && p.high[i].f != nil {
		i++
	}
	if uint64(i)+uint64(len(p.std)) >= p.nofile.cur && p.std[0].f != nil && p.std[1].f != nil && p.std[2].f != nil {
		return 0, syscall.EMFILE
	}
	for len(p.high) <= i {
		p.high = append(p.high, slot{})
	}
	p.high[i] = slot{f, cloexec}
	if from <= p.base {
		p.lowest = i + 1
	}
	f.refs++
	p.opened++
	return p.base + uintptr(i), 0
}

// enterNew is enter for a file that is dropped when it finds no place.
func (p *Process) enterNew(f *file, cloexec bool) (uintptr, syscall.Errno) {
	fd, errno := p.enter(f, cloexec, 0)
	if errno != 0 {
		f.release()
	}
	return fd, errno
}

// drop frees a descriptor, and its file with the last one.
func (p *Process) drop(s *slot) {
	f := s.f
	if f == nil {
		return
	}
	*s = slot{}
	p.opened--
	if f.kind == kindDisk {
		p.unlockAll(f.node)
	}
	f.unref()
}

// unref gives up one of the references to f.
func (f *file) unref() {
	if f.refs--; f.refs == 0 {
		f.release()
	}
}

func (p *Process) sysClose(c *Call) (uintptr, syscall.Errno) {
	if f := p.waited; f != nil { // the descriptor is closed, and the socket lingers
		if p.expired || !f.lingers() {
			f.sock.tcp.Notify = nil
			return 0, 0
		}
		return 0, p.waitFor(c, f, p.deadline)
	}
	fd := uintptr(uint32(c.Arg[0]))
	s := p.slotOf(fd)
	if s == nil || s.f == nil {
		return 0, syscall.EBADF
	}
	// A poll descriptor of this number goes with it, as from an epoll set.
	// Package internal/poll has closed it before.
	for _, pd := range s.f.polls {
		if pd.fd == fd {
			PollUnblock(pd.ctx())
			break
		}
	}
	f := s.f
	p.drop(s)
	if i := int(fd - p.base); fd >= p.base && i < p.lowest {
		p.lowest = i
	}
	if f.refs == 0 && f.lingers() {
		return 0, p.waitFor(c, f, p.k.w.Now()+int64(f.sock.tcp.LingerTime))
	}
	return 0, 0
}

// release frees what an open file holds.
func (f *file) release() {
	for len(f.polls) > 0 {
		pd := f.polls[len(f.polls)-1]
		PollUnblock(pd.ctx())
		pd.release()
	}
	switch f.kind {
	case kindDisk:
		f.unlock()
		f.node.Drop(f.writable())
	case kindUDP:
		f.sock.udp.Notify = nil
		f.sock.udp.Close()
	case kindStream:
		f.sock.tcp.Close()
		if f.owner.dead || !f.lingers() {
			f.sock.tcp.Notify = nil
		}
	case kindUnix:
		f.unix.close()
	case kindPipe:
		f.closePipe()
	case kindEpoll:
		f.epoll.close()
	case kindTimer:
		f.owner.k.w.Cancel(&f.timer.event)
	}
	for len(f.watches) > 0 {
		f.watches[0].remove()
	}
	f.wakeAll()
	f.node, f.content, f.names = nil, nil, nil
}

func (p *Process) sysDup(c *Call) (uintptr, syscall.Errno) {
	f := p.lookup(c.Arg[0])
	if f == nil {
		return 0, syscall.EBADF
	}
	return p.enter(f, false, 0)
}

// sysDup3 is dup3, and dup2 with three false.
func (p *Process) sysDup3(c *Call, three bool) (uintptr, syscall.Errno) {
	from, to, flags := uintptr(uint32(c.Arg[0])), uintptr(uint32(c.Arg[1])), 0
	if three {
		flags = int(c.Arg[2])
		if flags&^syscall.O_CLOEXEC != 0 || from == to {
			return 0, syscall.EINVAL
		}
	}
	f := p.lookup(from)
	if f == nil {
		return 0, syscall.EBADF
	}
	if from == to {
		return to, 0
	}
	i := to - p.base
	switch {
	case to < uintptr(len(p.std)):
	case to >= p.base && uint64(i) < min(p.nofile.cur, fdRange):
		for uintptr(len(p.high)) <= i {
			p.high = append(p.high, slot{})
		}
	default:
		// A low number would be a descriptor of the real kernel.
		p.unsupported(c.Trap, 0, "a descriptor number between 3 and a million")
		return 0, syscall.EBADF
	}
	s := p.slotOf(to)
	f.refs++ // before drop, which may close what both stand for
	p.drop(s)
	*s = slot{f, flags&syscall.O_CLOEXEC != 0}
	p.opened++
	return to, 0
}

// Constants that package syscall lacks.
const (
	fDupfdCloexec = 1030
	fGetPipeSize  = 1032
	fOfdGetlk     = 36
	fOfdSetlk     = 37
	fOfdSetlkw    = 38
)

func (p *Process) sysFcntl(c *Call) (uintptr, syscall.Errno) {
	s := p.slotOf(c.Arg[0])
	if s == nil || s.f == nil {
		return 0, syscall.EBADF
	}
	f := s.f
	if f.flags&oPath != 0 {
		switch int(c.Arg[1]) {
		case syscall.F_GETFL, syscall.F_GETFD, syscall.F_SETFD, syscall.F_DUPFD, fDupfdCloexec:
		default:
			return 0, syscall.EBADF
		}
	}
	const settable = syscall.O_APPEND | syscall.O_NONBLOCK | syscall.O_DIRECT | syscall.O_NOATIME | syscall.O_ASYNC
	switch cmd := int(c.Arg[1]); cmd {
	case syscall.F_GETFL:
		return uintptr(f.flags), 0
	case syscall.F_SETFL:
		f.flags = f.flags&^settable | int(c.Arg[2])&settable
		return 0, 0
	case syscall.F_GETFD:
		if s.cloexec {
			return syscall.FD_CLOEXEC, 0
		}
		return 0, 0
	case syscall.F_SETFD:
		s.cloexec = c.Arg[2]&syscall.FD_CLOEXEC != 0
		return 0, 0
	case syscall.F_DUPFD, fDupfdCloexec:
		return p.enter(f, cmd == fDupfdCloexec, uintptr(uint32(c.Arg[2])))
	case syscall.F_GETLK, syscall.F_SETLK, syscall.F_SETLKW, fOfdGetlk, fOfdSetlk, fOfdSetlkw:
		return p.sysRecordLock(c, f, cmd)
	case fGetPipeSize, fGetPipeSize - 1:
		return f.pipeSize(cmd == fGetPipeSize, c.Arg[2])
	}
	p.unsupported(c.Trap, uint64(c.Arg[1]), "command "+itoa(int(c.Arg[1])))
	return 0, syscall.EINVAL
}

// ready tells whether reading and writing would not block.
func (f *file) ready() (r, w bool) {
	switch f.kind {
	case kindUDP:
		return f.sock.udp.Readable() || f.sock.udp.Failed() || f.sock.udp.ReadShut(), f.sock.udp.Writable()
	case kindNetlink:
		return len(f.sock.replies) > 0, true
	case kindStream:
		// As the runtime takes what epoll tells: the end of what the peer sends
		// is for the reader, that of both directions and an error for both.
		t := f.sock.tcp
		if t.HangUp() || t.Failed() {
			return true, true
		}
		return t.Readable() || t.PeerClosed(), t.Writable()
	case kindUnix, kindPipe, kindEpoll, kindEvent, kindTimer:
		ev := f.events()
		return ev&(epollIn|epollHup|epollErr|epollRdHup) != 0, ev&(epollOut|epollHup|epollErr) != 0
	}
	return true, true
}

// pollable tells whether epoll takes the file.
func (f *file) pollable() bool { return f.kind != kindDisk && f.kind != kindConsole }

// blocking tells whether a call that cannot go on has to wait.
func (f *file) blocking() bool { return f.flags&syscall.O_NONBLOCK == 0 }

// name is what reports call the file.
func (f *file) name() string {
	switch f.kind {
	case kindConsole:
		return [...]string{"stdin", "stdout", "stderr"}[f.fd]
	case kindDisk:
		return f.path
	case kindNetlink:
		return "netlink"
	case kindUnix:
		return f.unix.name()
	case kindPipe:
		if f.node != nil {
			return f.path
		}
		return "pipe"
	case kindFamily:
		return "child"
	case kindEpoll, kindEvent, kindTimer:
		return [...]string{"epoll", "eventfd", "timerfd"}[f.kind-kindEpoll]
	}
	return f.sock.name()
}

func itoa(n int) string {
	if n < 0 {
		return "-" + itoa(-n)
	}
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
