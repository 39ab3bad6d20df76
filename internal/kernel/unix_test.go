//go:build linux && (amd64 || arm64)

package kernel

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// socketpair makes a pair of sockets that do not block.
func (a *arm) socketpair(kind int) (x, y int) {
	var fds [2]int32
	a.do("socketpair", syscall.SYS_SOCKETPAIR, syscall.AF_UNIX, kind|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0, ptr(&fds))
	a.fds = append(a.fds, int(fds[0]), int(fds[1]))
	return int(fds[0]), int(fds[1])
}

func (a *arm) unix(kind int) int {
	return a.open("socket", syscall.SYS_SOCKET, syscall.AF_UNIX, kind|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
}

// un makes an address: @name is abstract, "" is the family alone.
func un(name string) (unsafe.Pointer, int) {
	raw := new(syscall.RawSockaddrUnix)
	raw.Family = syscall.AF_UNIX
	b := unsafe.Slice((*byte)(unsafe.Pointer(&raw.Path)), len(raw.Path))
	copy(b, name)
	switch {
	case name == "":
		return unsafe.Pointer(raw), 2
	case name[0] == '@':
		b[0] = 0
		return unsafe.Pointer(raw), 2 + len(name)
	}
	return unsafe.Pointer(raw), 2 + len(name) + 1
}

func (a *arm) at(what string, trap uintptr, fd int, name string) {
	ptr, n := un(name)
	a.do(what, trap, fd, ptr, n)
}

// unixName is getsockname or getpeername.
func (a *arm) unixName(what string, trap uintptr, fd int, dir string) {
	var raw syscall.RawSockaddrUnix
	n := int32(unsafe.Sizeof(raw))
	_, errno := a.sys(trap, fd, ptr(&raw), ptr(&n))
	if errno != 0 {
		a.logf("%s: %s", what, errname(errno))
		return
	}
	a.logf("%s: %s", what, showUnix(&raw, n, dir))
}

func showUnix(raw *syscall.RawSockaddrUnix, n int32, dir string) string {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&raw.Path)), len(raw.Path))
	s := string(b[:max(0, n-2)])
	at := strings.Index(s, dir)
	if dir != "" && at >= 0 {
		s, n = strings.Replace(s, dir, "DIR", 1), n-int32(len(dir))
	}
	return fmt.Sprintf("family %d, %d bytes, %q", raw.Family, n, s)
}

func (a *arm) recvUnix(what string, fd, size, flags int, dir string) {
	b := make([]byte, size+1)
	var raw syscall.RawSockaddrUnix
	n := int32(unsafe.Sizeof(raw))
	r, errno := a.sys(syscall.SYS_RECVFROM, fd, bytesPtr(b), size, flags, ptr(&raw), ptr(&n))
	if errno != 0 {
		a.logf("%s: %s", what, errname(errno))
		return
	}
	a.logf("%s: %d %q from %s", what, r, b[:min(size, int(r), 40)], showUnix(&raw, n, dir))
}

func (a *arm) sendUnix(what string, fd int, text, to string) {
	var p unsafe.Pointer
	n := 0
	if to != "" {
		p, n = un(to)
	}
	if p == nil {
		a.do(what, syscall.SYS_SENDTO, fd, bytesPtr([]byte(text)), len(text), syscall.MSG_NOSIGNAL, 0, 0)
		return
	}
	a.do(what, syscall.SYS_SENDTO, fd, bytesPtr([]byte(text)), len(text), syscall.MSG_NOSIGNAL, p, n)
}

// asRoot is the number of a user or group, with 0 for this process's own: a host's is root.
func (a *arm) asRoot(id int32, own int) int32 {
	if a.p == nil && id == int32(own) {
		return 0
	}
	return id
}

func (a *arm) sockopt(name string, fd, opt int) {
	var v [3]int32
	n := int32(12)
	_, errno := a.sys(syscall.SYS_GETSOCKOPT, fd, syscall.SOL_SOCKET, opt, ptr(&v), ptr(&n))
	if opt == syscall.SO_PEERCRED {
		v[0] = b2i(v[0] != 0)
		v[1], v[2] = a.asRoot(v[1], os.Getuid()), a.asRoot(v[2], os.Getgid())
	}
	a.logf("%s: %v, %d bytes, %v", name, errno, n, v)
}

func TestUnixStreamsAsOnTheMachine(t *testing.T) {
	for _, kind := range []int{syscall.SOCK_STREAM, syscall.SOCK_SEQPACKET} {
		dir := t.TempDir()
		onBoth(t, func(a *arm) {
			if a.p != nil {
				dir = "/tmp"
			}
			path, other := filepath.Join(dir, "s"), filepath.Join(dir, "other")
			a.do("socket of no type", syscall.SYS_SOCKET, syscall.AF_UNIX, 9, 0)
			a.do("socket of a protocol", syscall.SYS_SOCKET, syscall.AF_UNIX, kind, 7)
			l := a.unix(kind)
			a.poll("new", l)
			a.unixName("getsockname", syscall.SYS_GETSOCKNAME, l, dir)
			a.unixName("getpeername", syscall.SYS_GETPEERNAME, l, dir)
			a.do("listen, not bound", syscall.SYS_LISTEN, l, 5)
			a.do("accept", syscall.SYS_ACCEPT4, l, 0, 0, 0)
			a.read("new", l, 5)
			a.sendUnix("new", l, "x", "")
			a.sendUnix("new", l, "x", path)
			a.sockopt("SO_PEERCRED", l, syscall.SO_PEERCRED)
			a.sockopt("SO_SNDBUF", l, syscall.SO_SNDBUF)
			a.sockopt("SO_RCVBUF", l, syscall.SO_RCVBUF)
			a.sockopt("SO_TYPE", l, syscall.SO_TYPE)
			a.sockopt("SO_DOMAIN", l, soDomain)
			p, n := un(path)
			a.do("bind short", syscall.SYS_BIND, l, p, 1)
			a.do("bind long", syscall.SYS_BIND, l, ptr(new([200]byte)), 111)
			a.do("bind longer", syscall.SYS_BIND, l, ptr(new([200]byte)), 129)
			a.do("bind inet", syscall.SYS_BIND, l, ptr(in4(loop4, 0)), 16)
			a.at("bind nowhere", syscall.SYS_BIND, l, dir+"/none/s")
			a.at("bind to a directory", syscall.SYS_BIND, l, dir)
			a.do("bind", syscall.SYS_BIND, l, p, n)
			a.at("bind again", syscall.SYS_BIND, l, path)
			a.at("bind again", syscall.SYS_BIND, l, other)
			a.at("bind again", syscall.SYS_BIND, l, "@abstract")
			a.at("autobind of a bound one", syscall.SYS_BIND, l, "")
			a.unixName("getsockname", syscall.SYS_GETSOCKNAME, l, dir)
			var st syscall.Stat_t
			a.do("stat", sysFSTATAT, int(int32(atFDCWD)), cstr(path), ptr(&st), 0)
			a.logf("mode %o size %d", st.Mode, st.Size)
			a.do("open", syscall.SYS_OPENAT, int(int32(atFDCWD)), cstr(path), syscall.O_RDWR, 0)
			x := a.unix(kind)
			a.at("bind taken", syscall.SYS_BIND, x, path)
			a.at("connect, nobody listens", syscall.SYS_CONNECT, x, path)
			a.at("connect to nothing", syscall.SYS_CONNECT, x, other)
			a.at("connect to a directory", syscall.SYS_CONNECT, x, dir)
			a.at("connect to no name", syscall.SYS_CONNECT, x, "")
			a.at("connect to nobody", syscall.SYS_CONNECT, x, "@nobody here")
			g := a.unix(syscall.SOCK_DGRAM)
			a.at("connect by another type", syscall.SYS_CONNECT, g, path)
			a.at("listen on a datagram socket", syscall.SYS_BIND, g, "@dst test gram")
			a.do("listen", syscall.SYS_LISTEN, g, 1)
			a.do("accept", syscall.SYS_ACCEPT4, g, 0, 0, 0)

			a.do("listen", syscall.SYS_LISTEN, l, 1)
			a.sockopt("SO_ACCEPTCONN", l, syscall.SO_ACCEPTCONN)
			a.sockopt("SO_PEERCRED of listening", l, syscall.SO_PEERCRED)
			a.poll("listening", l)
			a.at("connect of listening", syscall.SYS_CONNECT, l, path)
			a.do("accept nobody", syscall.SYS_ACCEPT4, l, 0, 0, 0)
			a.at("connect", syscall.SYS_CONNECT, x, path)
			a.at("connect again", syscall.SYS_CONNECT, x, path)
			a.poll("one waits", l, x)
			a.unixName("getpeername", syscall.SYS_GETPEERNAME, x, dir)
			a.sockopt("SO_PEERCRED", x, syscall.SO_PEERCRED)
			a.sendUnix("before it is accepted", x, "early", "")
			y := a.unix(kind)
			a.at("bind the client", syscall.SYS_BIND, y, other)
			a.at("connect", syscall.SYS_CONNECT, y, path)
			z := a.unix(kind)
			a.at("connect, full", syscall.SYS_CONNECT, z, path)
			a.do("accept of unknown flags", syscall.SYS_ACCEPT4, l, 0, 0, 1)
			sx := a.open("accept", syscall.SYS_ACCEPT4, l, 0, 0, syscall.SOCK_NONBLOCK)
			a.at("connect", syscall.SYS_CONNECT, z, path)
			var raw syscall.RawSockaddrUnix
			rn := int32(unsafe.Sizeof(raw))
			sy := a.open("accept", syscall.SYS_ACCEPT4, l, ptr(&raw), ptr(&rn), syscall.SOCK_NONBLOCK)
			a.logf("accepted %s", showUnix(&raw, rn, dir))
			a.unixName("getsockname", syscall.SYS_GETSOCKNAME, sy, dir)
			a.unixName("getpeername", syscall.SYS_GETPEERNAME, sy, dir)
			a.unixName("getpeername", syscall.SYS_GETPEERNAME, sx, dir)
			a.poll("accepted", sx, sy)
			a.recvUnix("early", sx, 10, 0, dir)
			a.recvUnix("nothing", sx, 10, 0, dir)
			a.sendUnix("named", y, "named", "")
			a.recvUnix("named", sy, 10, 0, dir)
			a.sendUnix("with an address", y, "x", path)

			// Boundaries.
			a.sendUnix("one", x, "one", "")
			a.sendUnix("empty", x, "", "")
			a.sendUnix("two", x, "two", "")
			var unread int32
			a.do("FIONREAD", syscall.SYS_IOCTL, sx, syscall.TIOCINQ, ptr(&unread))
			a.logf("is %d", unread)
			a.recvUnix("peek", sx, 2, syscall.MSG_PEEK, dir)
			a.recvUnix("peek", sx, 100, syscall.MSG_PEEK, dir)
			a.recvUnix("two of it", sx, 2, syscall.MSG_TRUNC, dir)
			a.recvUnix("more", sx, 100, 0, dir)
			a.recvUnix("more", sx, 100, 0, dir)
			a.recvUnix("more", sx, 100, 0, dir)
			if kind == syscall.SOCK_STREAM {
				a.sendUnix("one", x, "one", "")
				a.recvUnix("waitall", sx, 100, syscall.MSG_WAITALL|syscall.MSG_DONTWAIT, dir)
			}

			// Ends.
			a.do("shutdown", syscall.SYS_SHUTDOWN, x, 3)
			a.sendUnix("last", x, "last", "")
			a.do("shutdown", syscall.SYS_SHUTDOWN, x, syscall.SHUT_WR)
			a.poll("half shut", x, sx)
			a.sendUnix("shut", x, "x", "")
			a.recvUnix("last", sx, 100, 0, dir)
			a.recvUnix("end", sx, 100, 0, dir)
			a.sendUnix("other way", sx, "back", "")
			a.recvUnix("other way", x, 100, 0, dir)
			a.do("shutdown", syscall.SYS_SHUTDOWN, x, syscall.SHUT_RD)
			a.poll("shut", x, sx)
			a.sendUnix("to the shut", sx, "x", "")
			a.recvUnix("of the shut", x, 100, 0, dir)

			a.sendUnix("not read", y, "unread", "")
			a.close(sy)
			a.poll("closed with data", y)
			a.sockopt("SO_ERROR", y, syscall.SO_ERROR)
			a.sockopt("SO_ERROR", y, syscall.SO_ERROR)
			a.poll("closed with data", y)
			a.recvUnix("closed", y, 10, 0, dir)
			a.sendUnix("closed", y, "x", "")
			a.unixName("getpeername of closed", syscall.SYS_GETPEERNAME, y, dir)

			v, w := a.socketpair(kind)
			a.unixName("getsockname of a pair", syscall.SYS_GETSOCKNAME, v, dir)
			a.unixName("getpeername of a pair", syscall.SYS_GETPEERNAME, v, dir)
			a.sockopt("SO_PEERCRED", v, syscall.SO_PEERCRED)
			a.sendUnix("unread", v, "unread", "")
			a.sendUnix("answer", w, "answer", "")
			a.close(w)
			a.poll("reset", v)
			a.recvUnix("reset", v, 100, 0, dir)
			a.recvUnix("reset", v, 100, 0, dir)
			a.recvUnix("reset", v, 100, 0, dir)
			v, w = a.socketpair(kind)
			a.close(w)
			a.poll("ended", v)
			a.recvUnix("ended", v, 100, 0, dir)
			a.sendUnix("ended", v, "x", "")

			a.poll("not accepted", z)
			a.close(l)
			a.poll("never accepted", z)
			a.recvUnix("never accepted", z, 100, 0, dir)
			a.recvUnix("never accepted", z, 100, 0, dir)
			a.sendUnix("never accepted", z, "x", "")
			b := a.unix(kind)
			a.at("connect, closed", syscall.SYS_CONNECT, b, path)
			a.at("bind, in the way", syscall.SYS_BIND, b, path)
			a.do("unlink", syscall.SYS_UNLINKAT, int(int32(atFDCWD)), cstr(path), 0)
			a.at("connect, unlinked", syscall.SYS_CONNECT, b, path)
			a.at("bind", syscall.SYS_BIND, b, path)
			a.do("shutdown of listening", syscall.SYS_LISTEN, b, 0)
			a.do("shutdown of listening", syscall.SYS_SHUTDOWN, b, syscall.SHUT_RD)
			a.do("accept", syscall.SYS_ACCEPT4, b, 0, 0, 0)
			d := a.unix(kind)
			a.at("connect", syscall.SYS_CONNECT, d, path)

			// Abstract names.
			e := a.unix(kind)
			a.at("bind", syscall.SYS_BIND, e, "@dst test abstract")
			a.unixName("getsockname", syscall.SYS_GETSOCKNAME, e, dir)
			a.at("bind again", syscall.SYS_BIND, e, "@dst test abstract")
			f := a.unix(kind)
			a.at("bind taken", syscall.SYS_BIND, f, "@dst test abstract")
			a.at("bind, longer", syscall.SYS_BIND, f, "@dst test abstract\x00")
			g2 := a.unix(syscall.SOCK_DGRAM)
			a.at("bind, another type", syscall.SYS_BIND, g2, "@dst test abstract")
			a.do("listen", syscall.SYS_LISTEN, e, 5)
			h := a.unix(kind)
			a.at("connect", syscall.SYS_CONNECT, h, "@dst test abstract")
			a.unixName("getpeername", syscall.SYS_GETPEERNAME, h, dir)
			i := a.unix(kind)
			a.at("autobind", syscall.SYS_BIND, i, "")
			n32 := int32(unsafe.Sizeof(raw))
			a.do("getsockname", syscall.SYS_GETSOCKNAME, i, ptr(&raw), ptr(&n32))
			a.logf("%d bytes", n32)
		})
	}
}

func TestUnixDatagramsAsOnTheMachine(t *testing.T) {
	dir := t.TempDir()
	onBoth(t, func(a *arm) {
		if a.p != nil {
			dir = "/tmp"
		}
		path, other := filepath.Join(dir, "s"), filepath.Join(dir, "other")
		s, c := a.unix(syscall.SOCK_DGRAM), a.unix(syscall.SOCK_DGRAM)
		a.poll("new", s)
		a.sendUnix("to nothing", c, "x", path)
		a.sendUnix("to nobody", c, "x", "")
		a.at("bind", syscall.SYS_BIND, s, path)
		a.sendUnix("unnamed", c, "unnamed", path)
		a.poll("one", s, c)
		a.recvUnix("unnamed", s, 100, 0, dir)
		a.at("bind", syscall.SYS_BIND, c, other)
		for _, text := range []string{"named", "", "truncated", "truncated", "peeked"} {
			a.sendUnix("send", c, text, path)
		}
		var unread int32
		a.do("FIONREAD", syscall.SYS_IOCTL, s, syscall.TIOCINQ, ptr(&unread))
		a.logf("is %d", unread)
		a.recvUnix("recv", s, 100, 0, dir)
		a.recvUnix("recv", s, 100, 0, dir)
		a.recvUnix("recv", s, 4, 0, dir)
		a.recvUnix("recv", s, 4, syscall.MSG_TRUNC, dir)
		a.recvUnix("peek", s, 4, syscall.MSG_PEEK, dir)
		a.recvUnix("recv", s, 100, 0, dir)
		a.recvUnix("recv none", s, 100, 0, dir)
		a.sendUnix("to a directory", c, "x", dir)
		st := a.unix(syscall.SOCK_STREAM)
		a.at("bind", syscall.SYS_BIND, st, dir+"/stream")
		a.sendUnix("to a stream", c, "x", dir+"/stream")
		a.at("connect to a stream", syscall.SYS_CONNECT, c, dir+"/stream")

		// A queue holds ten, and one more.
		for i := range 13 {
			a.sendUnix("fill", c, fmt.Sprint(i), path)
		}
		a.poll("full, not connected", s, c)
		a.at("connect", syscall.SYS_CONNECT, c, path)
		a.poll("full, connected", s, c)
		a.unixName("getpeername", syscall.SYS_GETPEERNAME, c, dir)
		a.recvUnix("recv", s, 100, 0, dir)
		a.poll("room", s, c)
		a.sendUnix("fill", c, "more", "")
		a.sendUnix("fill", c, "more", "")
		for range 13 {
			a.recvUnix("drain", s, 100, 0, dir)
		}

		// One that is connected takes from its peer only.
		third := a.unix(syscall.SOCK_DGRAM)
		a.sendUnix("to the connected", third, "x", other)
		a.at("connect to the connected", syscall.SYS_CONNECT, third, other)
		a.sendUnix("to the other way", s, "x", other)
		a.recvUnix("other way", c, 100, 0, dir)
		unspec := make([]byte, 16)
		a.do("disconnect", syscall.SYS_CONNECT, c, bytesPtr(unspec), 16)
		a.sendUnix("disconnected", c, "x", "")
		a.unixName("getpeername", syscall.SYS_GETPEERNAME, c, dir)
		a.at("connect", syscall.SYS_CONNECT, c, path)
		a.close(s)
		a.poll("peer closed", c)
		a.sendUnix("peer closed", c, "x", "")
		a.sendUnix("peer closed", c, "x", "")
		a.sendUnix("by name", c, "x", path)

		x, y := a.socketpair(syscall.SOCK_DGRAM)
		a.sockopt("SO_PEERCRED", x, syscall.SO_PEERCRED)
		a.do("shutdown", syscall.SYS_SHUTDOWN, x, syscall.SHUT_RD)
		a.poll("shut", x, y)
		a.recvUnix("shut", x, 10, 0, dir)
		a.sendUnix("to the shut", y, "x", "")
		a.sendUnix("of the shut", x, "x", "")
		a.do("shutdown", syscall.SYS_SHUTDOWN, x, syscall.SHUT_WR)
		a.sendUnix("of the shut", x, "x", "")
		a.poll("shut", x, y)
		x, y = a.socketpair(syscall.SOCK_DGRAM)
		a.writeBytes("too long", x, 212992)
		a.writeBytes("too long", x, 212992-31)
		a.writeBytes("long enough", x, 212992-32)
		a.writeBytes("full", x, 1)
		a.poll("full", x, y)
		a.read("long", y, 10)
		a.poll("empty", x, y)
		a.close(y)
		a.writeBytes("closed", x, 1)
		a.writeBytes("closed", x, 1)
	})
}

func TestUnixOptionsAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		x, y := a.socketpair(syscall.SOCK_STREAM)
		for _, v := range []int32{0, 1000, 5000, 200000} {
			a.do("SO_SNDBUF", syscall.SYS_SETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_SNDBUF, ptr(&v), 4)
			a.sockopt("SO_SNDBUF", x, syscall.SO_SNDBUF)
			a.do("SO_RCVBUF", syscall.SYS_SETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_RCVBUF, ptr(&v), 4)
			a.sockopt("SO_RCVBUF", x, syscall.SO_RCVBUF)
		}
		one := int32(1)
		a.do("SO_PEERCRED", syscall.SYS_SETSOCKOPT, x, syscall.SOL_SOCKET, syscall.SO_PEERCRED, ptr(&one), 4)
		a.do("SO_PASSCRED", syscall.SYS_SETSOCKOPT, y, syscall.SOL_SOCKET, syscall.SO_PASSCRED, ptr(&one), 4)
		a.sockopt("SO_PASSCRED", y, syscall.SO_PASSCRED)
		a.sockopt("SO_ERROR", y, syscall.SO_ERROR)
		a.sockopt("SO_ACCEPTCONN", y, syscall.SO_ACCEPTCONN)
	})
}

// message is sendmsg or recvmsg.
func (a *arm) message(what string, trap uintptr, fd int, text []byte, control []byte, flags int) syscall.Msghdr {
	iov := syscall.Iovec{Base: unsafe.SliceData(text)}
	iov.SetLen(len(text))
	m := syscall.Msghdr{Iov: &iov, Iovlen: 1}
	if control != nil {
		m.Control = &control[0]
		m.SetControllen(len(control))
	}
	a.do(what, trap, fd, ptr(&m), flags)
	return m
}

func TestRightsAsOnTheMachine(t *testing.T) {
	for _, kind := range []int{syscall.SOCK_STREAM, syscall.SOCK_DGRAM, syscall.SOCK_SEQPACKET} {
		onBoth(t, func(a *arm) {
			x, y := a.socketpair(kind)
			r, w := a.pipe(syscall.O_NONBLOCK)
			send := func(fds ...int) {
				a.message("send", syscall.SYS_SENDMSG, x, []byte("with"), syscall.UnixRights(fds...), 0)
			}
			receive := func(room, flags int) (fds []int) {
				text := make([]byte, 10)
				control := make([]byte, syscall.CmsgSpace(room))
				m := a.message("receive", syscall.SYS_RECVMSG, y, text, control, flags)
				a.logf("%q, control %d, flags %#x", bytes.TrimRight(text, "\x00"), m.Controllen, m.Flags)
				msgs, err := syscall.ParseSocketControlMessage(control[:m.Controllen])
				for _, msg := range msgs {
					a.logf("level %d type %d, %d bytes, %v", msg.Header.Level, msg.Header.Type, len(msg.Data), err)
					if msg.Header.Type == syscall.SCM_RIGHTS {
						got, _ := syscall.ParseUnixRights(&msg)
						fds = append(fds, got...)
					} else {
						c := (*ucred)(unsafe.Pointer(&msg.Data[0]))
						a.logf("pid %v, uid %d, gid %d", c.pid != 0, a.asRoot(int32(c.uid), os.Getuid()), a.asRoot(int32(c.gid), os.Getgid()))
					}
				}
				a.fds = append(a.fds, fds...)
				return fds
			}
			send(99999999)
			send(r, w)
			got := receive(8, 0)
			if len(got) == 2 {
				a.writeBytes("by the copy", got[1], 5)
				a.read("by the first", r, 9)
				a.do("F_GETFD", syscall.SYS_FCNTL, got[0], syscall.F_GETFD)
			}
			// What is under way keeps a pipe open.
			send(w)
			a.close(w)
			for _, fd := range got {
				a.close(fd)
			}
			a.poll("writer under way", r)
			got = receive(4, msgCmsgCloexec)
			a.do("F_GETFD", syscall.SYS_FCNTL, got[0], syscall.F_GETFD)
			a.poll("writer back", r)
			send(got[0], got[0])
			a.close(got[0])
			receive(0, 0)
			a.poll("thrown away", r)
			r, w = a.pipe(syscall.O_NONBLOCK)
			send(w)
			send(r)
			a.close(w)
			a.recvUnix("without", y, 2, 0, "")
			a.recvUnix("without", y, 100, 0, "")
			a.recvUnix("without", y, 100, 0, "")
			a.poll("thrown away", r)

			one := int32(1)
			a.message("plain", syscall.SYS_SENDMSG, x, []byte("plain"), nil, 0)
			a.do("SO_PASSCRED", syscall.SYS_SETSOCKOPT, y, syscall.SOL_SOCKET, syscall.SO_PASSCRED, ptr(&one), 4)
			a.message("told", syscall.SYS_SENDMSG, x, []byte("told"), nil, 0)
			receive(12, 0)
			receive(12, 0)
			send(r)
			receive(64, 0)
			a.message("bad control", syscall.SYS_SENDMSG, x, []byte("x"), make([]byte, 16), 0)
			a.message("short control", syscall.SYS_SENDMSG, x, []byte("x"), make([]byte, 8), 0)
			receive(64, 0)
			send(x, y) // a cycle
			a.close(x)
			a.close(y)
		})
	}
}

// TestCycleOfRights: sockets under way through each other end with the process.
func TestCycleOfRights(t *testing.T) {
	p, w := newProcess(t, Options{})
	a := &arm{t: t, p: p, w: w}
	x, y := a.socketpair(syscall.SOCK_STREAM)
	timer := a.open("timerfd", syscall.SYS_TIMERFD_CREATE, clockMonotonic, 0)
	its := itimerspec{value: syscall.Timespec{Sec: 5}}
	a.do("settime", syscall.SYS_TIMERFD_SETTIME, timer, 0, ptr(&its), 0)
	a.message("send", syscall.SYS_SENDMSG, x, []byte("x"), syscall.UnixRights(x, y, timer), 0)
	f := p.lookup(uintptr(timer))
	p.Exit(0)
	if f.refs != 0 || f.timer.event.Queued() {
		t.Errorf("%d references are left", f.refs)
	}
}

// TestUnixBuffers does not compare to the byte: what a message takes beside its
// data differs between versions of Linux.
func TestUnixBuffers(t *testing.T) {
	fill := func(a *arm, step int) (total int) {
		x, y := a.socketpair(syscall.SOCK_STREAM)
		b := make([]byte, step)
		for {
			n, errno := a.sys(syscall.SYS_WRITE, x, bytesPtr(b), step)
			if errno != 0 {
				a.logf("%v", errno)
				break
			}
			total += int(n)
		}
		a.poll("full", x, y)
		for left := total; left > 0; {
			n, _ := a.sys(syscall.SYS_READ, y, bytesPtr(b), min(step, left))
			left -= int(n)
		}
		a.poll("empty", x, y)
		return total
	}
	for _, step := range []int{1, 100, 1000, 4000, 32768, 100000, 1000000} {
		totals := map[bool]int{}
		onBoth(t, func(a *arm) { totals[a.p == nil] = fill(a, step) })
		m, o := totals[true], totals[false]
		t.Logf("by %d: %d fit on the machine, %d here", step, m, o)
		if o < m/2 || o > m*2 {
			t.Errorf("by %d: %d fit on the machine, %d here", step, m, o)
		}
	}
}
