//go:build linux && (amd64 || arm64)

package simnet

import (
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/dstkit/dst/internal/netns"
	"github.com/dstkit/dst/sched"
)

// As in arms_test.go: one body against the machine's own sockets on its
// loopback, and against the model.

type tcpArm struct {
	*arm
	open func(family int) stream
}

type stream interface {
	bind(addr string) error
	listen(backlog int) error
	accept() (stream, error)
	connect(addr string) error
	disconnect() error
	send(payload string) error
	recv() (string, error) // "" and nil: the end
	shutdown(read, write bool) error
	local() string
	remote() string
	soError() error
	set(option string, value int) error
	get(option string) int
	linger0()
	poll() string
	close()
}

func twoTCPArms(t *testing.T, body func(a *tcpArm)) {
	t.Run("machine", func(t *testing.T) {
		leave, alone := netns.Enter(t)
		defer leave()
		a := &arm{T: t, real: true, alone: alone}
		body(&tcpArm{arm: a, open: func(family int) stream {
			fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Skipf("no such sockets here: %v", err)
			}
			s := &realStream{realSocket{fd: fd, family: family}}
			t.Cleanup(s.close)
			return s
		}})
	})
	t.Run("model", func(t *testing.T) {
		n := New(sched.New(1))
		s := n.AddHost("a")
		a := &arm{T: t}
		body(&tcpArm{arm: a, open: func(family int) stream { return &modelStream{s.NewTCP(family)} }})
	})
}

// pair returns the two ends of a connection, and the listening socket.
func (a *tcpArm) pair() (x, y, l stream) {
	a.Helper()
	l = a.listens(inet, "127.0.0.1:0")
	x = a.open(inet)
	a.check("connect", x.connect(l.local()), syscall.EINPROGRESS)
	y = a.accepts(l)
	a.settle(x)
	return x, y, l
}

// settle waits until a socket that connects knows the outcome.
func (a *tcpArm) settle(x stream) {
	for try := 0; try < 1000 && x.poll() == ""; try++ {
		time.Sleep(time.Millisecond)
	}
}

func (a *tcpArm) listens(family int, addr string) stream {
	a.Helper()
	l := a.open(family)
	a.check("bind", l.bind(addr), 0)
	a.check("listen", l.listen(10), 0)
	return l
}

func (a *tcpArm) accepts(l stream) stream {
	a.Helper()
	for try := 0; ; try++ {
		y, err := l.accept()
		if err == syscall.EAGAIN && a.real && try < 1000 {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			a.Fatalf("accept: %v", err)
		}
		return y
	}
}

func (a *tcpArm) gets(what string, s stream, want string, then syscall.Errno) {
	a.Helper()
	got, err := s.recv()
	a.equal(what, got, want)
	if want != "" {
		_, err = s.recv()
	}
	a.check(what+", then", err, then)
}

// polls checks readiness, once the machine had the time to get there.
func (a *tcpArm) polls(what string, s stream, want string) {
	a.Helper()
	got := s.poll()
	for try := 0; a.real && try < 50 && got != want; try++ {
		time.Sleep(time.Millisecond)
		got = s.poll()
	}
	a.equal(what, got, want)
}

type modelStream struct{ t *TCP }

func (m *modelStream) bind(addr string) error    { return errOf(m.t.Bind(ap(addr))) }
func (m *modelStream) listen(backlog int) error  { return errOf(m.t.Listen(backlog)) }
func (m *modelStream) connect(addr string) error { return errOf(m.t.Connect(ap(addr))) }
func (m *modelStream) disconnect() error         { return errOf(m.t.Disconnect()) }
func (m *modelStream) local() string             { return m.t.LocalAddr().String() }
func (m *modelStream) remote() string            { return m.t.RemoteAddr().String() }
func (m *modelStream) soError() error            { return errOf(m.t.PendingError()) }
func (m *modelStream) close()                    { m.t.Close() }
func (m *modelStream) linger0()                  { m.t.LingerOn, m.t.LingerTime = true, 0 }

func (m *modelStream) shutdown(read, write bool) error { return errOf(m.t.Shutdown(read, write)) }

func (m *modelStream) accept() (stream, error) {
	c, errno := m.t.Accept()
	return &modelStream{c}, errOf(errno)
}

func (m *modelStream) send(payload string) error {
	_, errno := m.t.Send([]byte(payload), false)
	return errOf(errno)
}

func (m *modelStream) recv() (string, error) {
	buf := make([]byte, 1<<17)
	n, errno := m.t.Recv(buf, false)
	return string(buf[:n]), errOf(errno)
}

func (m *modelStream) set(option string, value int) error {
	switch t, on := m.t, value != 0; option {
	case "reuseaddr":
		t.ReuseAddr = on
	case "reuseport":
		t.ReusePort = on
	case "v6only":
		return errOf(t.SetV6Only(on))
	case "rcvbuf":
		t.SetRcvBuf(value, false)
	case "sndbuf":
		t.SetSndBuf(value, false)
	case "maxseg":
		return errOf(t.SetMaxSeg(value))
	case "keepidle":
		return errOf(t.SetKeepIdle(time.Duration(value) * time.Second))
	case "keepintvl":
		return errOf(t.SetKeepInterval(time.Duration(value) * time.Second))
	case "keepcnt":
		return errOf(t.SetKeepCount(value))
	case "tos":
		return errOf(t.SetTOS(value))
	}
	return nil
}

func (m *modelStream) get(option string) int {
	switch t := m.t; option {
	case "rcvbuf":
		return t.RcvBuf()
	case "maxseg":
		return t.MaxSeg()
	case "keepidle":
		return int(t.KeepIdle() / time.Second)
	case "keepintvl":
		return int(t.KeepInterval() / time.Second)
	case "keepcnt":
		return t.KeepCount()
	case "tos":
		return t.TOS()
	case "inq":
		return t.Unread()
	}
	panic(option)
}

const (
	pollIn    = 0x1
	pollOut   = 0x4
	pollErr   = 0x8
	pollHup   = 0x10
	pollRdHup = 0x2000
)

func pollText(bits int) string {
	var s []string
	for _, b := range []struct {
		bit  int
		name string
	}{{pollIn, "in"}, {pollOut, "out"}, {pollErr, "err"}, {pollHup, "hup"}, {pollRdHup, "rdhup"}} {
		if bits&b.bit != 0 {
			s = append(s, b.name)
		}
	}
	return strings.Join(s, " ")
}

func (m *modelStream) poll() string {
	bits := 0
	for _, b := range []struct {
		on  bool
		bit int
	}{{m.t.Readable(), pollIn}, {m.t.Writable(), pollOut}, {m.t.Failed(), pollErr}, {m.t.HangUp(), pollHup}, {m.t.PeerClosed(), pollRdHup}} {
		if b.on {
			bits |= b.bit
		}
	}
	return pollText(bits)
}

type realStream struct{ realSocket }

func (r *realStream) listen(backlog int) error { return syscall.Listen(r.fd, backlog) }

func (r *realStream) accept() (stream, error) {
	fd, _, err := syscall.Accept4(r.fd, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &realStream{realSocket{fd: fd, family: r.family}}, nil
}

func (r *realStream) send(payload string) error {
	_, err := syscall.SendmsgN(r.fd, []byte(payload), nil, nil, syscall.MSG_NOSIGNAL)
	return err
}

func (r *realStream) recv() (string, error) {
	s, _, err := r.realSocket.recv()
	return s, err
}

func (r *realStream) linger0() {
	syscall.SetsockoptLinger(r.fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
}

func (r *realStream) poll() string {
	p := struct {
		fd              int32
		events, revents int16
	}{fd: int32(r.fd), events: pollIn | pollOut | pollRdHup}
	var now syscall.Timespec
	syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return pollText(int(p.revents))
}

func init() {
	for name, o := range map[string][2]int{
		"maxseg":    {syscall.IPPROTO_TCP, syscall.TCP_MAXSEG},
		"keepidle":  {syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE},
		"keepintvl": {syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL},
		"keepcnt":   {syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT},
	} {
		realOptions[name] = o
	}
}

func TestTCPArmsConnect(t *testing.T) {
	twoTCPArms(t, func(a *tcpArm) {
		x := a.open(inet)
		a.equal("unbound", x.local(), "0.0.0.0:0")
		a.polls("new", x, "out hup")
		a.check("send", x.send("x"), syscall.EPIPE)
		_, err := x.recv()
		a.check("recv", err, syscall.ENOTCONN)
		a.check("shutdown", a.open(inet).shutdown(true, true), syscall.ENOTCONN)
		_, err = x.accept()
		a.check("accept", err, syscall.EINVAL)
		a.check("v6 address", x.connect("[::1]:9"), syscall.EAFNOSUPPORT)
		a.check("broadcast", x.connect("127.255.255.255:9"), syscall.ENETUNREACH)

		l := a.listens(inet, "127.0.0.1:0")
		a.polls("listening", l, "")
		a.check("connect a listening socket", l.connect("127.0.0.1:9"), syscall.EISCONN)
		a.check("recv", second(l.recv()), syscall.ENOTCONN)
		a.check("send", l.send("x"), syscall.EPIPE)
		_, err = l.accept()
		a.check("accept", err, syscall.EAGAIN)
		a.check("connect", x.connect(l.local()), syscall.EINPROGRESS)
		a.polls("connected", x, "out")
		a.polls("to accept", l, "in")
		a.check("SO_ERROR", x.soError(), 0)
		a.check("connect again", x.connect(l.local()), 0)
		a.check("connect again", x.connect(l.local()), syscall.EISCONN)
		a.check("bind", x.bind("127.0.0.1:0"), syscall.EINVAL)
		a.check("listen", x.listen(1), syscall.EINVAL)
		y := a.accepts(l)
		a.equal("local", x.local(), y.remote())
		a.equal("remote", x.remote(), y.local())
		a.check("send", x.send("hello"), 0)
		a.polls("data", y, "in out")
		a.equal("FIONREAD", y.get("inq"), 5)
		a.gets("recv", y, "hello", syscall.EAGAIN)
	})
}

func second(_ string, err error) error { return err }

func TestTCPArmsRefused(t *testing.T) {
	twoTCPArms(t, func(a *tcpArm) {
		b := a.open(inet)
		a.check("bind", b.bind("127.0.0.1:0"), 0) // does not listen
		x := a.open(inet)
		a.check("connect", x.connect(b.local()), syscall.EINPROGRESS)
		a.polls("refused", x, "in out err hup rdhup")
		a.check("connect", x.connect(b.local()), syscall.ECONNREFUSED)
		a.check("connect", x.connect(b.local()), syscall.EINPROGRESS)
		a.polls("refused", x, "in out err hup rdhup")
		a.check("SO_ERROR", x.soError(), syscall.ECONNREFUSED)
		a.check("cleared", x.soError(), 0)
		a.check("connect", x.connect(b.local()), syscall.ECONNABORTED)
		x = a.open(inet)
		x.connect(b.local())
		a.settle(x)
		a.check("recv", second(x.recv()), syscall.ECONNREFUSED)
		a.gets("recv", x, "", 0)
		a.check("send", x.send("x"), syscall.EPIPE)
		x = a.open(inet)
		x.connect(b.local())
		a.settle(x)
		a.check("send", x.send("x"), syscall.ECONNREFUSED)
	})
}

func TestTCPArmsHalfClose(t *testing.T) {
	twoTCPArms(t, func(a *tcpArm) {
		x, y, _ := a.pair()
		a.check("send", x.send("last"), 0)
		a.check("shutdown", x.shutdown(false, true), 0)
		a.polls("shut for writing", x, "out")
		a.polls("peer shut", y, "in out rdhup")
		a.check("send", x.send("x"), syscall.EPIPE)
		a.gets("recv", y, "last", 0)
		a.gets("recv", y, "", 0)
		a.check("send", y.send("answer"), 0)
		a.gets("recv", x, "answer", syscall.EAGAIN)
		a.check("shutdown", y.shutdown(false, true), 0)
		a.polls("both shut", y, "in out hup rdhup")
		a.polls("both shut", x, "in out hup rdhup")
		a.gets("recv", x, "", 0)
		a.check("send", x.send("x"), syscall.EPIPE)
		a.equal("peer", x.remote(), netip.AddrPort{}.String()) // ENOTCONN
		a.check("shutdown", x.shutdown(false, true), syscall.ENOTCONN)
	})
	twoTCPArms(t, func(a *tcpArm) {
		x, y, _ := a.pair()
		a.check("shutdown", x.shutdown(true, false), 0)
		a.polls("shut for reading", x, "in out rdhup")
		a.gets("recv", x, "", 0)
		a.check("send", y.send("data"), 0)
		a.gets("recv", x, "data", 0)
	})
}

func TestTCPArmsReset(t *testing.T) {
	twoTCPArms(t, func(a *tcpArm) {
		x, y, _ := a.pair()
		a.check("send", y.send("kept"), 0)
		a.polls("data", x, "in out")
		y.linger0()
		y.close()
		a.polls("reset", x, "in out err hup rdhup")
		a.gets("recv", x, "kept", syscall.ECONNRESET)
		a.gets("recv", x, "", 0)
		a.check("send", x.send("x"), syscall.EPIPE)
		a.check("shutdown", x.shutdown(false, true), syscall.ENOTCONN)
	})
	twoTCPArms(t, func(a *tcpArm) {
		x, y, _ := a.pair()
		a.check("send", x.send("unread"), 0)
		a.polls("data", y, "in out")
		y.close()
		a.polls("reset", x, "in out err hup rdhup")
		a.check("send", x.send("x"), syscall.ECONNRESET)
		a.check("send", x.send("x"), syscall.EPIPE)
		a.gets("recv", x, "", 0)
	})
	twoTCPArms(t, func(a *tcpArm) { // data for one that closed
		x, y, _ := a.pair()
		y.close()
		a.polls("closed", x, "in out rdhup")
		a.check("send", x.send("late"), 0)
		a.polls("reset", x, "in out err hup rdhup")
		a.check("send", x.send("x"), syscall.EPIPE)
		a.gets("recv", x, "", 0)
	})
	twoTCPArms(t, func(a *tcpArm) { // the end, and then a reset
		x, y, _ := a.pair()
		a.check("shutdown", x.shutdown(false, true), 0)
		a.polls("shut", y, "in out rdhup")
		x.linger0()
		x.close()
		a.polls("reset", y, "in out err hup rdhup")
		a.gets("recv", y, "", 0)
		a.check("SO_ERROR", y.soError(), syscall.EPIPE)
		a.check("send", y.send("x"), syscall.EPIPE)
	})
	twoTCPArms(t, func(a *tcpArm) { // never accepted
		l := a.listens(inet, "127.0.0.1:0")
		x := a.open(inet)
		x.connect(l.local())
		a.settle(x)
		l.close()
		a.polls("reset", x, "in out err hup rdhup")
		a.check("recv", second(x.recv()), syscall.ECONNRESET)
	})
	twoTCPArms(t, func(a *tcpArm) { // reset before it was accepted
		l := a.listens(inet, "127.0.0.1:0")
		x := a.open(inet)
		x.connect(l.local())
		a.settle(x)
		x.linger0()
		x.close()
		y := a.accepts(l)
		a.check("recv", second(y.recv()), syscall.ECONNRESET)
	})
}

func TestTCPArmsPorts(t *testing.T) {
	twoTCPArms(t, func(a *tcpArm) {
		x, y, l := a.pair()
		n := a.open(inet)
		a.check("bound", n.bind(l.local()), syscall.EADDRINUSE)
		y.close()
		a.gets("recv", x, "", 0)
		x.close() // y is in TIME_WAIT
		addr := l.local()
		l.close()
		time.Sleep(time.Millisecond)
		n = a.open(inet)
		a.check("TIME_WAIT", n.bind(addr), syscall.EADDRINUSE)
		n.set("reuseaddr", 1)
		// Both must have asked for it.
		a.check("TIME_WAIT, reuse of one", n.bind(addr), syscall.EADDRINUSE)

		l = a.open(inet)
		l.set("reuseaddr", 1)
		a.check("bind", l.bind("127.0.0.1:0"), 0)
		a.check("listen", l.listen(1), 0)
		n = a.open(inet)
		n.set("reuseaddr", 1)
		a.check("listening", n.bind(l.local()), syscall.EADDRINUSE)
		x = a.open(inet)
		x.connect(l.local())
		y = a.accepts(l)
		addr = l.local()
		l.close()
		a.check("connected", n.bind(addr), 0)
		a.check("listen", n.listen(1), 0)

		p, q := a.open(inet), a.open(inet)
		p.set("reuseaddr", 1)
		q.set("reuseaddr", 1)
		a.check("bind", p.bind("127.0.0.1:0"), 0)
		a.check("bind both", q.bind(p.local()), 0)
		a.check("listen", p.listen(1), 0)
		a.check("listen both", q.listen(1), syscall.EADDRINUSE)

		p, q = a.open(inet), a.open(inet)
		p.set("reuseport", 1)
		q.set("reuseport", 1)
		a.check("bind", p.bind("127.0.0.1:0"), 0)
		a.check("bind both", q.bind(p.local()), 0)
		a.check("listen", p.listen(1), 0)
		a.check("listen both", q.listen(1), 0)

		p = a.open(inet)
		a.check("listen unbound", p.listen(1), 0)
		a.equal("address", host(p.local()), "0.0.0.0")
		p = a.open(inet)
		a.check("bind foreign", p.bind("203.0.113.9:0"), syscall.EADDRNOTAVAIL)
	})
}

func TestTCPArmsMisc(t *testing.T) {
	twoTCPArms(t, func(a *tcpArm) {
		x := a.open(inet) // to itself
		a.check("bind", x.bind("127.0.0.1:0"), 0)
		a.check("connect", x.connect(x.local()), syscall.EINPROGRESS)
		a.polls("connected", x, "out")
		a.check("send", x.send("echo"), 0)
		a.gets("recv", x, "echo", syscall.EAGAIN)

		x, y, l := a.pair()
		a.check("disconnect", x.disconnect(), 0)
		a.check("recv", second(y.recv()), syscall.ECONNRESET)
		a.check("connect anew", x.connect(l.local()), syscall.EINPROGRESS)
		a.polls("connected", x, "out")
		a.accepts(l)

		a.check("shutdown", l.shutdown(true, false), 0)
		_, err := l.accept()
		a.check("accept", err, syscall.EINVAL)
		a.check("listen", l.listen(10), 0)

		x = a.open(inet)
		for _, c := range []struct {
			option string
			value  int
			want   syscall.Errno
			then   int
		}{
			{"keepidle", 0, syscall.EINVAL, 7200}, {"keepidle", 15, 0, 15}, {"keepidle", 32768, syscall.EINVAL, 15},
			{"keepintvl", 0, syscall.EINVAL, 75}, {"keepintvl", 15, 0, 15},
			{"keepcnt", 0, syscall.EINVAL, 9}, {"keepcnt", 127, 0, 127}, {"keepcnt", 128, syscall.EINVAL, 127},
			{"maxseg", 10, syscall.EINVAL, 536}, {"tos", 0x13, 0, 0x10},
		} {
			a.check(c.option, x.set(c.option, c.value), c.want)
			a.equal(c.option, x.get(c.option), c.then)
		}
	})
}
