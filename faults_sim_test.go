//go:build dst

package dst_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/simnet"
)

var updateTables = flag.Bool("update", false, "rewrite the tables of docs/network.md")

// A scene is a client on one host and a server on another, with three
// connections: on "read" both wait for bytes, on "write" the client writes now
// and then, on "serve" the server does. Something happens, and the scene tells
// what each of them sees.
type scene struct {
	network string
	w       *dst.World           // nil on the machine
	mute    bool                 // the client does not dial
	gone    bool                 // the server's process ends, if another follows or not
	hold    bool                 // the server does not read what it is sent on "read"
	tune    func(c *net.TCPConn) // of the client's connections
	nat     *simnet.NAT          // that the client is behind
	home    *simnet.Gateway      // which is this
	period  time.Duration        // between writes
	limit   time.Duration        // for all of it

	mu       sync.Mutex
	addr     string
	client   map[string]net.Conn
	server   map[string]net.Conn
	listener net.Listener
	happened time.Time
	begin    chan bool
	cells    map[string]string
}

const serverPort = 7000

// on runs f on a host, and waits for it.
func (s *scene) on(host string, f func()) {
	if s.w == nil {
		f()
		return
	}
	s.w.Host(host).Do(f)
}

func (s *scene) start(host string, f func()) {
	if s.w == nil {
		go f()
		return
	}
	s.w.Host(host).Go(f)
}

func (s *scene) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// when tells when it happened.
func (s *scene) when() (t time.Time) {
	s.locked(func() { t = s.happened })
	return t
}

func (s *scene) tell(cell, text string) { s.locked(func() { s.cells[cell] = text }) }

// since is how long something took, if that is worth a word.
func (s *scene) since(begun time.Time) string {
	d := time.Since(begun)
	if s.w == nil || d < 50*time.Millisecond {
		return ""
	}
	return " after " + d.Round(10*time.Millisecond).String()
}

// short is an error without the addresses that it begins with.
func short(err error) string {
	text := err.Error()
	if errors.Is(err, io.EOF) {
		return "EOF"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		text = op.Err.Error()
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		text += " (" + errnoNames[errno] + ")"
	}
	return "`" + text + "`"
}

var errnoNames = map[syscall.Errno]string{
	syscall.ECONNRESET: "ECONNRESET", syscall.EPIPE: "EPIPE", syscall.ETIMEDOUT: "ETIMEDOUT", syscall.ECONNREFUSED: "ECONNREFUSED",
	syscall.ENETUNREACH: "ENETUNREACH", syscall.EHOSTUNREACH: "EHOSTUNREACH", syscall.EADDRINUSE: "EADDRINUSE", syscall.EMSGSIZE: "EMSGSIZE",
	syscall.EMFILE: "EMFILE", syscall.EADDRNOTAVAIL: "EADDRNOTAVAIL", syscall.EINVAL: "EINVAL", syscall.ENOENT: "ENOENT", syscall.EAGAIN: "EAGAIN",
	syscall.ENOTCONN: "ENOTCONN", syscall.EAFNOSUPPORT: "EAFNOSUPPORT",
}

// serve is the server's main.
func (s *scene) serve() error {
	if s.network == "udp" {
		return s.serveUDP()
	}
	l, err := net.Listen(s.network, s.addr)
	if err != nil {
		return err
	}
	s.locked(func() { s.listener, s.addr = l, l.Addr().String() })
	for {
		c, err := l.Accept()
		if err != nil {
			return nil
		}
		go func() {
			role := make([]byte, 1)
			if _, err := c.Read(role); err != nil {
				return
			}
			s.locked(func() { s.server[string(role)] = c })
			switch string(role) {
			case "r":
				if !s.hold {
					s.reads("server reads", c)
				}
			case "w":
				io.Copy(io.Discard, c)
			case "s":
				s.writes("server writes", c)
			}
		}()
	}
}

// serveUDP is the server's main for datagrams: it answers nothing, and writes to
// who asked for that.
func (s *scene) serveUDP() error {
	p, err := net.ListenPacket("udp", s.addr)
	if err != nil {
		return err
	}
	s.locked(func() { s.addr = p.LocalAddr().String() })
	buf := make([]byte, 2000)
	for {
		n, from, err := p.ReadFrom(buf)
		if err != nil {
			return nil
		}
		if string(buf[:n]) == "s" {
			go s.writesTo("server writes", func(b []byte) error { _, err := p.WriteTo(b, from); return err })
		}
	}
}

// reads tells what a Read that waits comes to.
func (s *scene) reads(cell string, c net.Conn) {
	for {
		if _, err := c.Read(make([]byte, 100)); err != nil {
			s.tell(cell, short(err)+s.since(s.when()))
			return
		}
	}
}

func (s *scene) writes(cell string, c net.Conn) {
	s.writesTo(cell, func(b []byte) error { _, err := c.Write(b); return err })
}

// writesTo writes every now and then, once it has happened, and tells how long
// that goes well.
func (s *scene) writesTo(cell string, write func(b []byte) error) {
	<-s.begin
	for n := 0; time.Since(s.when()) < s.limit; n++ {
		begun := time.Now()
		if err := write(make([]byte, 1000)); err != nil {
			text := short(err)
			switch {
			case n == 0:
				text += s.since(begun)
			case n == 1:
				text = "1 succeeds, then " + text
			case n <= 3:
				text = fmt.Sprintf("%d succeed, then %s", n, text)
			default:
				text = "succeed, then " + text + s.since(s.when())
			}
			s.tell(cell, text)
			return
		}
		time.Sleep(s.period)
	}
}

// dial makes one connection of the client, and says which it is.
func (s *scene) dial(role string) (net.Conn, error) {
	var c net.Conn
	var err error
	for range 100 {
		var addr string
		s.locked(func() { addr = s.addr })
		if c, err = net.Dial(s.network, addr); err == nil {
			break
		}
		time.Sleep(s.period / 10)
	}
	if err != nil {
		return nil, err
	}
	if t, ok := c.(*net.TCPConn); ok && s.tune != nil {
		s.tune(t)
	}
	s.locked(func() { s.client[role] = c })
	_, err = c.Write([]byte(role))
	return c, err
}

// play lets it happen, and returns what was seen.
func (s *scene) play(happen func(s *scene)) (map[string]string, error) {
	s.client, s.server, s.cells = map[string]net.Conn{}, map[string]net.Conn{}, map[string]string{}
	s.begin = make(chan bool)
	if s.w == nil {
		go s.serve()
		time.Sleep(s.period)
	} else {
		s.w.Host("client")
		s.w.Host("server", s.serve)
		s.w.Net().SetDefault(simnet.Link{Latency: simnet.Constant(time.Millisecond)})
		if s.nat != nil {
			s.home = s.w.Net().NAT("home", *s.nat, "client")
		}
	}
	var failed error
	s.on("client", func() {
		for _, role := range []string{"r", "w", "s"} {
			c, err := s.dial(role)
			if err != nil {
				failed = err
				return
			}
			switch role {
			case "r":
				go s.reads("read", c)
			case "w":
				go s.writes("write", c)
			case "s":
				go io.Copy(io.Discard, c)
			}
		}
	})
	if failed != nil {
		return nil, failed
	}
	time.Sleep(s.period)
	s.locked(func() { s.happened = time.Now() })
	happen(s)
	time.Sleep(s.period / 4) // the news travels
	close(s.begin)
	s.start("client", func() {
		if s.mute {
			s.tell("dial", "-")
			return
		}
		begun := time.Now()
		var addr string
		s.locked(func() { addr = s.addr })
		c, err := net.Dial(s.network, addr)
		if err != nil {
			s.tell("dial", short(err)+s.since(begun))
			return
		}
		s.tell("dial", "succeeds"+s.since(begun))
		c.Close()
	})
	for time.Since(s.when()) < s.limit {
		time.Sleep(s.period)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cell := range []string{"read", "write", "dial", "server reads", "server writes"} {
		if s.cells[cell] != "" {
			continue
		}
		switch s.cells[cell] = "waits"; {
		case strings.HasSuffix(cell, "write"), strings.HasSuffix(cell, "writes"):
			s.cells[cell] = "succeed"
		}
		if strings.HasPrefix(cell, "server") && s.gone || cell == "server reads" && (s.hold || s.network == "udp") {
			s.cells[cell] = "-"
		}
	}
	return maps.Clone(s.cells), nil
}

// each calls f for the server's connections, where they live.
func (s *scene) each(side string, f func(c *net.TCPConn)) {
	s.on(side, func() {
		conns := s.client
		if side == "server" {
			conns = s.server
		}
		for _, role := range []string{"r", "w", "s"} {
			var c net.Conn
			s.locked(func() { c = conns[role] })
			if t, ok := c.(*net.TCPConn); ok {
				f(t)
			}
		}
	})
}

// later undoes something, without keeping the scene.
func (s *scene) later(d time.Duration, f func()) {
	go func() {
		time.Sleep(d)
		f()
	}()
}

// A tableRow is one event. Those that are local happen on the machine as well.
type tableRow struct {
	name   string
	local  bool
	hold   bool
	mute   bool
	gone   bool
	tune   func(c *net.TCPConn)
	nat    *simnet.NAT
	happen func(s *scene)
}

// userTimeout is TCP_USER_TIMEOUT.
func userTimeout(d time.Duration) func(c *net.TCPConn) {
	return func(c *net.TCPConn) {
		rc, err := c.SyscallConn()
		if err == nil {
			rc.Control(func(fd uintptr) {
				err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, 18, int(d/time.Millisecond))
			})
		}
		if err != nil {
			panic(err)
		}
	}
}

func keepAlive(d time.Duration) func(c *net.TCPConn) {
	return func(c *net.TCPConn) { c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: d, Interval: d}) }
}

func withoutKeepAlive(c *net.TCPConn) { c.SetKeepAlive(false) }

func link(l simnet.Link) func(s *scene) {
	l.Latency = simnet.Constant(time.Millisecond)
	return func(s *scene) { s.w.Net().SetDefault(l) }
}

// hosts are the events that happen to hosts and links, to any kind of socket.
var hosts = []tableRow{
	{name: "nothing", local: true, happen: func(s *scene) {}},
	{name: "server: `Crash` (kill -9)", gone: true, happen: func(s *scene) { s.w.Host("server").Crash() }},
	{name: "server: `os.Exit`", gone: true, happen: func(s *scene) { s.w.Host("server").Go(func() { os.Exit(0) }); time.Sleep(time.Millisecond) }},
	{name: "server: `Crash`, `Restart`", gone: true, happen: func(s *scene) { s.w.Host("server").Restart() }},
	{name: "server: `PowerLoss`", gone: true, happen: func(s *scene) { s.w.Host("server").PowerLoss() }},
	{name: "server: `PowerLoss`, `Restart` after 10 s", gone: true, happen: func(s *scene) {
		s.w.Host("server").PowerLoss()
		s.later(10*time.Second, func() { s.w.Host("server").Restart() })
	}},
	{name: "server: `Pause`, `Resume` after 10 s", happen: func(s *scene) {
		s.w.Host("server").Pause()
		s.later(10*time.Second, func() { s.w.Host("server").Resume() })
	}},
	{name: "server: `Pause`", happen: func(s *scene) { s.w.Host("server").Pause() }},
	{name: "`Partition`, `Heal` after 10 s", happen: func(s *scene) {
		s.w.Net().Partition([]string{"server"})
		s.later(10*time.Second, func() { s.w.Net().Heal() })
	}},
	{name: "`Partition`", happen: func(s *scene) { s.w.Net().Partition([]string{"server"}) }},
	{name: "`Cut` from client to server", happen: func(s *scene) { s.w.Net().Cut("client", "server") }},
	{name: "`Cut` from server to client", happen: func(s *scene) { s.w.Net().Cut("server", "client") }},
	{name: "`Hold` from client to server, `Release` after 10 s", happen: func(s *scene) {
		s.w.Net().Hold("client", "server")
		s.later(10*time.Second, func() { s.w.Net().Release("client", "server") })
	}},
	{name: "`Down` of the server", happen: func(s *scene) { s.w.Net().Down("server") }},
	{name: "`Down` of the client", happen: func(s *scene) { s.w.Net().Down("client") }},
	{name: "`Down` of the client, `Up` after 10 s", happen: func(s *scene) {
		s.w.Net().Down("client")
		s.later(10*time.Second, func() { s.w.Net().Up("client") })
	}},
	{name: "client's NAT: `Rebind`", nat: &simnet.NAT{}, happen: func(s *scene) { s.home.Rebind() }},
	{name: "client's NAT, with `Reject`: `Rebind`", nat: &simnet.NAT{Reject: true}, happen: func(s *scene) { s.home.Rebind() }},
	{name: "link: `Duplicate`, `Reorder` 30 %", happen: link(simnet.Link{Duplicate: 0.3, Reorder: 0.3})},
	{name: "link: `MTU` 600", happen: func(s *scene) {
		s.w.Net().SetLink("client", "server", simnet.Link{MTU: 600, Latency: simnet.Constant(time.Millisecond)})
	}},
	{name: "link: `Bandwidth` 1 kbit/s, `Queue` 3000", mute: true, happen: link(simnet.Link{Bandwidth: 1000, Queue: 3000})},
}

// streams are the events of TCP alone.
var streams = []tableRow{
	{name: "server: `Close`", local: true, happen: func(s *scene) { s.each("server", func(c *net.TCPConn) { c.Close() }) }},
	{name: "server: `Close`, bytes unread", local: true, hold: true, happen: func(s *scene) {
		s.on("client", func() { s.client["r"].Write([]byte("unread")) })
		time.Sleep(s.period / 10)
		s.each("server", func(c *net.TCPConn) { c.Close() })
	}},
	{name: "server: `SetLinger(0)`, `Close`", local: true, happen: func(s *scene) {
		s.each("server", func(c *net.TCPConn) { c.SetLinger(0); c.Close() })
	}},
	{name: "server: `CloseWrite`", local: true, happen: func(s *scene) { s.each("server", func(c *net.TCPConn) { c.CloseWrite() }) }},
	{name: "server: `CloseRead`", local: true, happen: func(s *scene) { s.each("server", func(c *net.TCPConn) { c.CloseRead() }) }},
	{name: "client: `Close`", local: true, happen: func(s *scene) { s.each("client", func(c *net.TCPConn) { c.Close() }) }},
	{name: "client: a deadline passes", local: true, happen: func(s *scene) { s.each("client", func(c *net.TCPConn) { c.SetDeadline(time.Now()) }) }},
	{name: "server: `PowerLoss`; client without keep-alive", gone: true, tune: withoutKeepAlive, happen: func(s *scene) { s.w.Host("server").PowerLoss() }},
	{name: "server: `PowerLoss`; client with TCP_USER_TIMEOUT 10 s", gone: true, tune: userTimeout(10 * time.Second), happen: func(s *scene) { s.w.Host("server").PowerLoss() }},
	{name: "client's NAT forgets what is idle for 10 s (`TCPTimeout`)", nat: &simnet.NAT{TCPTimeout: 10 * time.Second}, happen: func(s *scene) {}},
	{name: "client with keep-alive of 5 s, behind that NAT", nat: &simnet.NAT{TCPTimeout: 10 * time.Second}, tune: keepAlive(5 * time.Second), happen: func(s *scene) {}},
}

var columns = []string{"read", "write", "dial", "server reads", "server writes"}

// table plays each event and makes a table of what was seen.
func table(t *testing.T, network string, rows []tableRow) string {
	var b strings.Builder
	head := append([]string{""}, columns...)
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, r := range rows {
		var seen map[string]string
		t.Run(r.name, func(t *testing.T) {
			dst.Run(t, func(w *dst.World) {
				s := &scene{network: network, w: w, addr: fmt.Sprintf("server:%d", serverPort), hold: r.hold, mute: r.mute, gone: r.gone, tune: r.tune, nat: r.nat, period: time.Second, limit: 40 * time.Minute}
				cells, err := s.play(r.happen)
				if err != nil {
					w.Fatalf("%v", err)
				}
				if seen == nil {
					seen = cells
				}
				for _, c := range columns {
					if cells[c] != seen[c] {
						w.Failf("%s: %s, and with another seed: %s", c, cells[c], seen[c])
					}
				}
			}, dst.Seeds(2))
			if r.local {
				onTheMachine(t, network, r, seen)
			}
		})
		line := []string{r.name}
		for _, c := range columns {
			line = append(line, seen[c])
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
	}
	return b.String()
}

// onTheMachine lets the same happen on the machine's loopback interface.
func onTheMachine(t *testing.T, network string, r tableRow, want map[string]string) {
	s := &scene{network: network, addr: "127.0.0.1:0", hold: r.hold, mute: r.mute, gone: r.gone, tune: r.tune, period: 20 * time.Millisecond, limit: 300 * time.Millisecond}
	cells, err := s.play(r.happen)
	if err != nil {
		t.Error(err)
	}
	for _, c := range columns {
		simulated, _, _ := strings.Cut(want[c], " after ")
		if cells[c] != simulated {
			t.Errorf("%s: on the machine %s, simulated %s", c, cells[c], simulated)
		}
	}
	if s.listener != nil {
		s.listener.Close()
	}
	for _, conns := range []map[string]net.Conn{s.client, s.server} {
		for _, c := range conns {
			c.Close()
		}
	}
}

// Each table of docs/network.md is what a simulation finds.
func TestFaultTables(t *testing.T) {
	checkTable(t, "TCP", table(t, "tcp", append(append([]tableRow(nil), streams...), hosts...)))
	checkTable(t, "UDP", table(t, "udp", hosts))
	checkTable(t, "dial", dialTable(t))
}

// checkTable compares a table with the one in the documentation.
func checkTable(t *testing.T, name, got string) {
	const file = "docs/network.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(string(b), begin)
	want, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for table %q", file, name)
	}
	if want == got || t.Failed() {
		return
	}
	if *updateTables {
		if err := os.WriteFile(file, []byte(before+begin+got+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		line := func(l []string) string {
			if i < len(l) {
				return l[i]
			}
			return "(nothing)"
		}
		if line(w) != line(g) {
			t.Errorf("table %q of %s, line %d (-update rewrites it):\nis     %s\nshould %s", name, file, i+1, line(w), line(g))
		}
	}
}

// dials are what a program asks for when it begins, or accepts.
var dials = []struct {
	name  string
	local bool
	do    func(a *attempt)
}{
	{"TCP: dial a port where nobody listens", true, func(a *attempt) { a.dial("tcp", a.unused()) }},
	{"TCP: dial a host name that there is not", false, func(a *attempt) { a.dial("tcp", "nobody:80") }},
	{"TCP: dial an address that no host has", false, func(a *attempt) { a.dial("tcp", "10.0.200.1:80") }},
	{"TCP: dial an address beyond the network", false, func(a *attempt) { a.dial("tcp", "192.0.2.1:80") }},
	{"TCP: dial IPv6 with \"tcp4\"", true, func(a *attempt) { a.dial("tcp4", "[::1]:80") }},
	{"TCP: dial a listener whose backlog is full", false, func(a *attempt) {
		l := a.listen("tcp", "127.0.0.1:0")
		rc, _ := l.(*net.TCPListener).SyscallConn()
		rc.Control(func(fd uintptr) { a.must(syscall.Listen(int(fd), 0)) })
		a.must(a.quiet("tcp", l.Addr().String()))
		a.dial("tcp", l.Addr().String())
	}},
	{"TCP: the same, with a context of 2 s", false, func(a *attempt) {
		l := a.listen("tcp", "127.0.0.1:0")
		rc, _ := l.(*net.TCPListener).SyscallConn()
		rc.Control(func(fd uintptr) { a.must(syscall.Listen(int(fd), 0)) })
		a.must(a.quiet("tcp", l.Addr().String()))
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		var d net.Dialer
		_, err := d.DialContext(ctx, "tcp", l.Addr().String())
		a.result(err)
	}},
	{"TCP: listen where somebody listens", true, func(a *attempt) {
		l := a.listen("tcp", "127.0.0.1:0")
		_, err := net.Listen("tcp", l.Addr().String())
		a.result(err)
	}},
	{"TCP: listen on an address of another host", true, func(a *attempt) { _, err := net.Listen("tcp", "203.0.113.7:0"); a.result(err) }},
	{"TCP: Accept, and the listener is closed", true, func(a *attempt) {
		l := a.listen("tcp", "127.0.0.1:0")
		time.AfterFunc(10*time.Millisecond, func() { l.Close() })
		_, err := l.Accept()
		a.result(err)
	}},
	{"TCP: Accept, and a deadline passes", true, func(a *attempt) {
		l := a.listen("tcp", "127.0.0.1:0")
		l.(*net.TCPListener).SetDeadline(time.Now().Add(10 * time.Millisecond))
		_, err := l.Accept()
		a.result(err)
	}},
	{"TCP: Accept without a descriptor left", false, func(a *attempt) {
		l := a.listen("tcp", "127.0.0.1:0")
		a.must(a.quiet("tcp", l.Addr().String()))
		a.must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: 3}))
		_, err := l.Accept()
		a.result(err)
	}},
	{"TCP: dial without a descriptor left", false, func(a *attempt) {
		l := a.listen("tcp", "127.0.0.1:0")
		a.must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: 3}))
		a.dial("tcp", l.Addr().String())
	}},
	{"UDP: listen where somebody listens", true, func(a *attempt) {
		p, err := net.ListenPacket("udp", "127.0.0.1:0")
		a.must(err)
		defer p.Close()
		_, err = net.ListenPacket("udp", p.LocalAddr().String())
		a.result(err)
	}},
	{"UDP: write to a port that nobody has, then read", true, func(a *attempt) {
		c, err := net.Dial("udp", a.unused())
		a.must(err)
		defer c.Close()
		_, err = c.Write([]byte("x"))
		a.must(err)
		_, err = c.Read(make([]byte, 1))
		a.result(err)
	}},
	{"UDP: write more than a datagram holds", true, func(a *attempt) {
		c, err := net.Dial("udp", a.unused())
		a.must(err)
		defer c.Close()
		_, err = c.Write(make([]byte, 65508))
		a.result(err)
	}},
	{"UDP: write to an address beyond the network", false, func(a *attempt) {
		p, err := net.ListenPacket("udp4", ":0")
		a.must(err)
		_, err = p.WriteTo([]byte("x"), &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9})
		a.result(err)
	}},
	{"Unix: dial a name that is not there", true, func(a *attempt) { a.dial("unix", a.path()) }},
	{"Unix: dial a socket that nobody has open any more", true, func(a *attempt) {
		l := a.listen("unix", a.path())
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
		a.dial("unix", a.path())
	}},
	{"Unix: listen where a socket was left behind", true, func(a *attempt) {
		l := a.listen("unix", a.path())
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
		_, err := net.Listen("unix", a.path())
		a.result(err)
	}},
	{"Unix: read, and the other end is closed", true, func(a *attempt) {
		c, s := a.pair()
		s.Close()
		_, err := c.Read(make([]byte, 1))
		a.result(err)
	}},
	{"Unix: read, and the other end is closed with bytes unread", true, func(a *attempt) {
		c, s := a.pair()
		c.Write([]byte("unread"))
		s.Close()
		_, err := c.Read(make([]byte, 1))
		a.result(err)
	}},
	{"Unix: write, and the other end is closed", true, func(a *attempt) {
		c, s := a.pair()
		s.Close()
		_, err := c.Write([]byte("x"))
		a.result(err)
	}},
	{"Unix: write, and the other end has done CloseRead", true, func(a *attempt) {
		c, s := a.pair()
		s.(*net.UnixConn).CloseRead()
		_, err := c.Write([]byte("x"))
		a.result(err)
	}},
	{"Unix: read, and the other end has done CloseWrite", true, func(a *attempt) {
		c, s := a.pair()
		s.(*net.UnixConn).CloseWrite()
		_, err := c.Read(make([]byte, 1))
		a.result(err)
	}},
	{"Unix: write, nobody reads, and a deadline passes", true, func(a *attempt) {
		c, _ := a.pair()
		c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		_, err := c.Write(make([]byte, 10<<20))
		a.result(err)
	}},
}

// An attempt is one of dials.
type attempt struct {
	dir   string
	text  string
	begun time.Time
	close []io.Closer
}

func (a *attempt) path() string { return a.dir + "/fault.sock" }

func (a *attempt) must(err error) {
	if err != nil {
		panic(err)
	}
}

func (a *attempt) result(err error) {
	if err == nil {
		a.text = "succeeds"
		return
	}
	a.text = short(err)
	if d := time.Since(a.begun); d > 500*time.Millisecond {
		a.text += " after " + d.Round(10*time.Millisecond).String()
	}
}

func (a *attempt) dial(network, addr string) {
	c, err := net.Dial(network, addr)
	if err == nil {
		a.close = append(a.close, c)
	}
	a.result(err)
}

func (a *attempt) quiet(network, addr string) error {
	c, err := net.Dial(network, addr)
	if err == nil {
		a.close = append(a.close, c)
	}
	return err
}

func (a *attempt) listen(network, addr string) net.Listener {
	l, err := net.Listen(network, addr)
	a.must(err)
	a.close = append(a.close, l)
	return l
}

// unused is an address where nobody listens.
func (a *attempt) unused() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	a.must(err)
	defer l.Close()
	return l.Addr().String()
}

func (a *attempt) pair() (c, s net.Conn) {
	l := a.listen("unix", a.path())
	c, err := net.Dial("unix", a.path())
	a.must(err)
	s, err = l.Accept()
	a.must(err)
	a.close = append(a.close, c, s)
	return c, s
}

func dialTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| what | comes to |\n|---|---|\n")
	for _, d := range dials {
		var text string
		t.Run(d.name, func(t *testing.T) {
			dst.Run(t, func(w *dst.World) {
				w.Host("other")
				w.Host("host").Do(func() {
					a := &attempt{dir: "/tmp", begun: time.Now()}
					d.do(a)
					if text == "" {
						text = a.text
					}
					if a.text != text {
						w.Failf("%s, and with another seed: %s", a.text, text)
					}
				})
			}, dst.Seeds(2))
			if !d.local {
				return
			}
			a := &attempt{dir: t.TempDir(), begun: time.Now()}
			d.do(a)
			for _, c := range a.close {
				c.Close()
			}
			if a.text != text {
				t.Errorf("on the machine %s, simulated %s", a.text, text)
			}
		})
		fmt.Fprintf(&b, "| %s | %s |\n", d.name, text)
	}
	return b.String()
}
