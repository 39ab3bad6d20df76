//go:build linux && (amd64 || arm64)

package kernel

import (
	"math/bits"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
)

const (
	unixPathOff   = 2   // of sun_path in sockaddr_un
	maxUnixAddr   = 110 // size of sockaddr_un
	unixBuf       = 212992
	unixMaxBuf    = 212992 // net.core.wmem_max
	unixQueue     = 10     // net.unix.max_dgram_qlen
	unixSomaxconn = 4096
)

// Where a Unix socket is in its life.
const (
	unixFresh = iota
	unixListening
	unixConnected
)

// A unixSock is a Unix socket. What was sent lies in the receiver's queue, and
// is charged to the sender until it is read, as on Linux.
type unixSock struct {
	p     *Process
	f     *file // nil as long as it waits to be accepted
	kind  int   // SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET
	state uint8
	dead  bool

	addr string       // sun_path, with the zero at its end; "": not bound
	node *simfs.Inode // bound to

	peer           *unixSock // of a connected one; it may be dead
	queue          []*unixMsg
	charged        int // memory that what it sent takes
	sndbuf, rcvbuf int
	rdShut, wrShut bool
	err            syscall.Errno // SO_ERROR

	backlog int
	pending []*unixSock // to be accepted
	waiting []*unixSock // those who found the queue or the backlog full

	passCred bool // SO_PASSCRED
	cred     ucred
}

// A unixMsg is a datagram, or a piece of a stream.
type unixMsg struct {
	b     []byte
	read  int // how much of b was
	size  int // memory charged
	from  *unixSock
	files []*file
	cred  ucred
}

// A ucred is what SO_PEERCRED and SCM_CREDENTIALS tell.
type ucred struct {
	pid      int32
	uid, gid uint32
}

var (
	noCred     = ucred{0, ^uint32(0), ^uint32(0)}
	nobodyCred = ucred{0, 65534, 65534}
)

func (p *Process) cred() ucred { return ucred{pid: int32(p.pid)} }

// An abstractName is a name outside of the file system; each type of socket has
// names of its own.
type abstractName struct {
	kind int
	name string
}

func (p *Process) newUnixSock(kind int) *unixSock {
	return &unixSock{p: p, kind: kind, sndbuf: unixBuf, rcvbuf: unixBuf, cred: noCred}
}

// newUnix makes a Unix socket of f, whose sock tells the type.
func (f *file) newUnix() syscall.Errno {
	s := f.sock
	switch s.kind {
	case syscall.SOCK_STREAM, syscall.SOCK_DGRAM, syscall.SOCK_SEQPACKET:
	case syscall.SOCK_RAW:
		s.kind = syscall.SOCK_DGRAM
	default:
		return syscall.ESOCKTNOSUPPORT
	}
	if s.protocol != 0 && s.protocol != syscall.AF_UNIX {
		return syscall.EPROTONOSUPPORT
	}
	f.kind, f.unix = kindUnix, f.owner.newUnixSock(s.kind)
	f.unix.f = f
	return 0
}

func (u *unixSock) name() string {
	what := [...]string{syscall.SOCK_STREAM: "unix", syscall.SOCK_DGRAM: "unixgram", syscall.SOCK_SEQPACKET: "unixpacket"}[u.kind]
	if u.addr != "" {
		what += " " + shown(u.addr)
	}
	if u.peer != nil && u.peer.addr != "" {
		what += "->" + shown(u.peer.addr)
	}
	return what
}

func shown(addr string) string {
	if addr[0] == 0 {
		return "@" + addr[1:]
	}
	return addr[:len(addr)-1]
}

// changed tells of events of the socket.
func (u *unixSock) changed(key uint32) {
	if u.f != nil {
		u.f.changedBy(key)
	}
}

// stream tells whether the socket is of the kinds that listen and connect.
func (u *unixSock) stream() bool { return u.kind != syscall.SOCK_DGRAM }

func (u *unixSock) full() bool { return len(u.queue) > unixQueue }

// spacious tells whether there is so much room that a writer is told of it.
func (u *unixSock) spacious() bool { return u.state != unixListening && u.charged*4 <= u.sndbuf }

func (u *unixSock) events() (ev uint32) {
	if u.err != 0 {
		ev |= epollErr
	}
	if u.rdShut {
		ev |= epollRdHup | epollIn
		if u.wrShut {
			ev |= epollHup
		}
	}
	if len(u.queue) > 0 || len(u.pending) > 0 {
		ev |= epollIn
	}
	if u.stream() && u.state == unixFresh {
		ev |= epollHup
	}
	if u.spacious() {
		ev |= epollOut | syscall.EPOLLWRBAND
		if o := u.peer; !u.stream() && o != nil && o.peer != u && o.full() {
			ev &^= epollOut | syscall.EPOLLWRBAND
			o.await(u)
		}
	}
	return ev
}

// await enters one who is to be told when there is room.
func (u *unixSock) await(who *unixSock) {
	for _, w := range u.waiting {
		if w == who {
			return
		}
	}
	u.waiting = append(u.waiting, who)
}

// room tells those that wait.
func (u *unixSock) room() {
	waiting := u.waiting
	u.waiting = nil
	for _, w := range waiting {
		w.changed(epollOut | syscall.EPOLLWRBAND)
	}
}

// A unixAddr is a socket address as given.
type unixAddr struct {
	raw [maxSockaddr]byte
	n   int
}

func (a *unixAddr) get(ptr unsafe.Pointer, length uintptr) syscall.Errno {
	if length = uintptr(uint32(length)); length > maxSockaddr {
		return syscall.EINVAL
	}
	if a.n = int(length); length == 0 {
		return 0
	}
	if absurd(ptr) {
		return syscall.EFAULT
	}
	sched.CopyIn(a.raw[:length], ptr)
	return 0
}

func (a *unixAddr) family() int { return int(a.raw[0]) | int(a.raw[1])<<8 }

func (a *unixAddr) valid() bool {
	return a.n > unixPathOff && a.n <= maxUnixAddr && a.family() == syscall.AF_UNIX
}

// name is the address as getsockname tells it.
func (a *unixAddr) name() string {
	b := a.raw[unixPathOff:a.n]
	if b[0] == 0 {
		return string(b)
	}
	return string(zeroEnded(b)) + "\x00"
}

// encode is a name as a sockaddr_un.
func encodeUnix(raw *[maxSockaddr]byte, name string) []byte {
	raw[0] = syscall.AF_UNIX
	return raw[:unixPathOff+copy(raw[unixPathOff:], name)]
}

func (u *unixSock) sockname(c *Call, peer bool) syscall.Errno {
	who := u
	if peer {
		if who = u.peer; who == nil {
			return syscall.ENOTCONN
		}
	}
	var raw [maxSockaddr]byte
	return putSockaddr(c.Ptr[1], c.Ptr[2], encodeUnix(&raw, who.addr))
}

// find returns the socket of a name.
func (p *Process) findUnix(kind int, name string) (*unixSock, syscall.Errno) {
	if name[0] == 0 {
		if u := p.abstract[abstractName{kind, name}]; u != nil {
			return u, 0
		}
		return nil, syscall.ECONNREFUSED
	}
	n, errno := p.fs.Lookup(p.cwd, shown(name), true)
	if errno != 0 {
		return nil, errno
	}
	u, _ := n.Attached.(*unixSock)
	switch {
	case n.Kind() != simfs.Socket || u == nil:
		return nil, syscall.ECONNREFUSED
	case u.kind != kind:
		return nil, syscall.EPROTOTYPE
	}
	return u, 0
}

func (p *Process) bindUnix(u *unixSock, ptr unsafe.Pointer, length uintptr) syscall.Errno {
	var a unixAddr
	if errno := a.get(ptr, length); errno != 0 {
		return errno
	}
	if a.n == unixPathOff && a.family() == syscall.AF_UNIX {
		u.autobind()
		return 0
	}
	if !a.valid() {
		return syscall.EINVAL
	}
	name := a.name()
	if name[0] == 0 {
		switch {
		case u.addr != "":
			return syscall.EINVAL
		case p.abstract[abstractName{u.kind, name}] != nil:
			return syscall.EADDRINUSE
		}
		u.bindAbstract(name)
		return 0
	}
	if u.addr != "" {
		// The name is made before the kernel sees that it cannot be given.
		if n, _ := p.fs.Lookup(p.cwd, shown(name), false); n != nil {
			return syscall.EADDRINUSE
		}
		return syscall.EINVAL
	}
	n, errno := p.fs.Mknod(p.cwd, shown(name), simfs.Socket, 0o777&^p.umask)
	if errno == syscall.EEXIST {
		errno = syscall.EADDRINUSE
	}
	if errno != 0 {
		return errno
	}
	n.Attached = u
	u.addr, u.node = name, n
	u.f.renamed()
	return 0
}

func (u *unixSock) bindAbstract(name string) {
	if u.p.abstract == nil {
		u.p.abstract = map[abstractName]*unixSock{}
	}
	u.p.abstract[abstractName{u.kind, name}] = u
	u.addr = name
	u.f.renamed()
}

// autobind gives the socket a name that is free, unless it has one.
func (u *unixSock) autobind() {
	for u.addr == "" {
		u.p.autobind++
		hex := hexa(uint64(u.p.autobind & 0xfffff))
		name := "\x00" + "00000"[len(hex):] + hex
		if u.p.abstract[abstractName{u.kind, name}] == nil {
			u.bindAbstract(name)
		}
	}
}

func (u *unixSock) listen(backlog int) syscall.Errno {
	switch {
	case !u.stream():
		return syscall.EOPNOTSUPP
	case u.addr == "", u.state == unixConnected:
		return syscall.EINVAL
	}
	if backlog < 0 || backlog > unixSomaxconn {
		backlog = unixSomaxconn
	}
	u.backlog, u.state = backlog, unixListening
	u.cred = u.p.cred()
	u.room()
	return 0
}

func (p *Process) connectUnix(c *Call, u *unixSock) syscall.Errno {
	var a unixAddr
	if errno := a.get(c.Ptr[1], c.Arg[2]); errno != 0 {
		return errno
	}
	if a.n < unixPathOff {
		return syscall.EINVAL
	}
	if !u.stream() && a.family() == syscall.AF_UNSPEC {
		u.connectDgram(nil)
		return 0
	}
	if !a.valid() {
		return syscall.EINVAL
	}
	if u.passCred {
		u.autobind()
	}
	o, errno := p.findUnix(u.kind, a.name())
	if errno != 0 {
		return errno
	}
	if !u.stream() {
		if !o.takes(u) {
			return syscall.EPERM
		}
		u.connectDgram(o)
		return 0
	}
	switch {
	case o.state != unixListening || o.rdShut:
		return syscall.ECONNREFUSED
	case len(o.pending) > o.backlog:
		errno := p.waitUnix(c, u, 0, u.f.sock.opts.sndTimeout)
		if errno == errBlock {
			o.await(u)
		}
		return errno
	case u.state == unixConnected:
		return syscall.EISCONN
	case u.state == unixListening:
		return syscall.EINVAL
	}
	e := p.newUnixSock(u.kind)
	e.addr, e.passCred = o.addr, o.passCred
	e.pair(u)
	u.cred, e.cred = o.cred, p.cred()
	u.f.renamed()
	o.pending = append(o.pending, e)
	o.changed(epollIn)
	u.changed(epollOut)
	return 0
}

// pair connects two sockets.
func (u *unixSock) pair(o *unixSock) {
	u.peer, o.peer = o, u
	u.state, o.state = unixConnected, unixConnected
}

// takes tells whether u takes datagrams of from.
func (u *unixSock) takes(from *unixSock) bool { return u.peer == nil || u.peer == from }

// connectDgram connects a datagram socket, or with nil ends that.
func (u *unixSock) connectDgram(o *unixSock) {
	old := u.peer
	u.peer, u.state = o, unixFresh
	if o != nil {
		u.state = unixConnected
	}
	if old != nil && old != o && len(u.queue) > 0 {
		u.purge()
		if !old.dead && old.peer == u {
			old.err = syscall.ECONNRESET
			old.changed(epollErr)
		}
	}
	u.f.renamed()
	u.changed(epollOut)
}

func (p *Process) sysSocketpair(c *Call) (uintptr, syscall.Errno) {
	family, typ, proto := int(c.Arg[0]), int(c.Arg[1]), int(c.Arg[2])
	if typ&^(kindOfSock|syscall.SOCK_CLOEXEC|noBlock) != 0 {
		return 0, syscall.EINVAL
	}
	switch family {
	case syscall.AF_UNIX:
	case syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK:
		return 0, syscall.EOPNOTSUPP
	default:
		return 0, syscall.EAFNOSUPPORT
	}
	var pair [2]*file
	for i := range pair {
		s := &socket{family: family, kind: typ & kindOfSock, protocol: proto}
		s.opts.init()
		pair[i] = &file{owner: p, flags: syscall.O_RDWR | typ&noBlock, sock: s}
		if errno := pair[i].newUnix(); errno != 0 {
			return 0, errno
		}
	}
	a, b := pair[0].unix, pair[1].unix
	a.pair(b)
	a.cred, b.cred = p.cred(), p.cred()
	return p.enterPair(pair[0], pair[1], typ&syscall.SOCK_CLOEXEC != 0, c.Ptr[3])
}

func (p *Process) acceptUnix(c *Call, f *file) (uintptr, syscall.Errno) {
	flags, u := 0, f.unix
	if c.Trap == syscall.SYS_ACCEPT4 {
		flags = int(c.Arg[3])
	}
	switch {
	case flags&^(syscall.SOCK_CLOEXEC|noBlock) != 0:
		return 0, syscall.EINVAL
	case uint64(p.opened) >= p.nofile.cur:
		return 0, syscall.EMFILE
	case !u.stream():
		return 0, syscall.EOPNOTSUPP
	case u.state != unixListening:
		return 0, syscall.EINVAL
	case len(u.pending) > 0:
	case u.rdShut && f.blocking():
		return 0, syscall.EINVAL
	default:
		return 0, p.waitUnix(c, u, 0, f.sock.opts.rcvTimeout)
	}
	e := u.pending[0]
	u.pending[0] = nil
	u.pending = u.pending[1:]
	u.room()
	s := &socket{family: syscall.AF_UNIX, kind: u.kind, protocol: f.sock.protocol}
	s.opts.init()
	e.f = &file{kind: kindUnix, owner: p, flags: syscall.O_RDWR | flags&noBlock, sock: s, unix: e}
	fd, errno := p.enterNew(e.f, flags&syscall.SOCK_CLOEXEC != 0)
	if errno == 0 && c.Ptr[1] != nil {
		name := ""
		if e.peer != nil {
			name = e.peer.addr
		}
		var raw [maxSockaddr]byte
		errno = putSockaddr(c.Ptr[1], c.Ptr[2], encodeUnix(&raw, name))
	}
	return fd, errno
}

// waitUnix is EAGAIN, or has the call wait until the socket changes or the
// timeout, if there is one, passes.
func (p *Process) waitUnix(c *Call, u *unixSock, flags int, timeout int64) syscall.Errno {
	if !u.f.blocking() || flags&syscall.MSG_DONTWAIT != 0 || p.expired {
		return syscall.EAGAIN
	}
	due := p.deadline
	if !p.resumed && timeout > 0 {
		due = p.k.w.Now() + timeout
	}
	return p.waitFor(c, u.f, due)
}

func (u *unixSock) shutdown(rd, wr bool) {
	u.rdShut = u.rdShut || rd
	u.wrShut = u.wrShut || wr
	u.changed(^uint32(0))
	if o := u.peer; o != nil && u.stream() {
		o.rdShut = o.rdShut || wr
		o.wrShut = o.wrShut || rd
		o.changed(^uint32(0))
	}
	u.room()
}

// close is the end of the socket.
func (u *unixSock) close() {
	if u.dead {
		return
	}
	u.dead = true
	if u.node != nil {
		u.node.Attached = nil
	} else if key := (abstractName{u.kind, u.addr}); u.addr != "" && u.p.abstract[key] == u {
		delete(u.p.abstract, key)
	}
	if o := u.peer; o != nil && u.stream() {
		o.rdShut, o.wrShut = true, true
		if len(u.queue) > 0 || u.f == nil {
			o.err = syscall.ECONNRESET
		}
		o.changed(^uint32(0))
	}
	u.purge()
	for _, e := range u.pending {
		e.close()
	}
	u.peer, u.pending, u.f = nil, nil, nil
	u.room()
}

// purge drops what waits to be read.
func (u *unixSock) purge() {
	queue := u.queue
	u.queue = nil
	for _, m := range queue {
		m.drop()
	}
}

// drop ends a message, and tells its sender that there is room.
func (m *unixMsg) drop() {
	for _, f := range m.files {
		f.unref()
	}
	m.files = nil
	from := m.from
	from.charged -= m.size
	if !from.dead && from.spacious() {
		from.changed(epollOut | syscall.EPOLLWRBAND)
	}
	if p := from.p; len(p.messages) < maxMessages && cap(m.b) <= 4096 {
		m.from = nil
		p.messages = append(p.messages, m)
	}
}

// maxMessages is how many messages a process keeps to use them again.
const maxMessages = 256

// message returns a message with room for n bytes.
func (p *Process) message(n int) *unixMsg {
	k := len(p.messages)
	if k == 0 || n > 4096 {
		return &unixMsg{b: make([]byte, n)}
	}
	m := p.messages[k-1]
	p.messages = p.messages[:k-1]
	if n > cap(m.b) {
		m.b = make([]byte, n)
	}
	*m = unixMsg{b: m.b[:n]}
	return m
}

// take removes the first message.
func (u *unixSock) take(m *unixMsg) {
	u.queue[0] = nil
	u.queue = u.queue[1:]
	m.drop()
	if u.kind != syscall.SOCK_STREAM {
		u.room()
	}
}

// charge is the memory that Linux takes for a message with a first part of head
// bytes and the rest in pages.
func charge(head, rest int) int {
	const header, info, page = 256, 320, 4096
	return header + 1<<bits.Len(uint(max(head+info, 512)-1)) + (rest+page-1)&^(page-1)
}

func (u *unixSock) ownOption(name int) bool {
	switch name {
	case syscall.SO_SNDBUF, soSndBufForce, syscall.SO_RCVBUF, soRcvBufForce, syscall.SO_PASSCRED, syscall.SO_PEERCRED,
		syscall.SO_ACCEPTCONN, syscall.SO_ERROR:
		return true
	}
	return false
}

func (u *unixSock) setOption(level, name int, v *optval) syscall.Errno {
	switch {
	case level != syscall.SOL_SOCKET:
		return syscall.EOPNOTSUPP
	case !v.full():
		return syscall.EINVAL
	}
	n := int(v.n)
	switch name {
	case syscall.SO_SNDBUF, syscall.SO_RCVBUF:
		n = min(n, unixMaxBuf)
		if v.n < 0 {
			n = unixMaxBuf // as unsigned
		}
	}
	n = min(max(n, 0), 1<<30-1)
	switch name {
	case syscall.SO_SNDBUF, soSndBufForce:
		u.sndbuf = max(2*n, 4608)
		u.changed(epollOut)
	case syscall.SO_RCVBUF, soRcvBufForce:
		u.rcvbuf = max(2*n, 2304)
	case syscall.SO_PASSCRED:
		u.passCred = v.n != 0
	default:
		return syscall.ENOPROTOOPT
	}
	return 0
}

func (u *unixSock) getOption(level, name int, buf *optbuf) (v int32, n int, errno syscall.Errno) {
	if level != syscall.SOL_SOCKET {
		return 0, 0, syscall.EOPNOTSUPP
	}
	switch name {
	case syscall.SO_SNDBUF:
		return int32(u.sndbuf), -1, 0
	case syscall.SO_RCVBUF:
		return int32(u.rcvbuf), -1, 0
	case syscall.SO_PASSCRED:
		return b2i(u.passCred), -1, 0
	case syscall.SO_ACCEPTCONN:
		return b2i(u.state == unixListening), -1, 0
	case syscall.SO_ERROR:
		v = int32(u.err)
		u.err = 0
		return v, -1, 0
	case syscall.SO_PEERCRED:
		*(*ucred)(unsafe.Pointer(buf)) = u.cred
		return 0, int(unsafe.Sizeof(u.cred)), 0
	}
	return 0, 0, syscall.ENOPROTOOPT
}

// nextSize is FIONREAD.
func (u *unixSock) nextSize() (n int32, errno syscall.Errno) {
	if u.state == unixListening {
		return 0, syscall.EINVAL
	}
	for _, m := range u.queue {
		n += int32(len(m.b) - m.read)
		if u.kind == syscall.SOCK_DGRAM {
			break
		}
	}
	return n, 0
}
