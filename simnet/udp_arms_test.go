//go:build linux && (amd64 || arm64)

package simnet

import (
	"net/netip"
	"syscall"
	"testing"
)

func TestBindConflicts(t *testing.T) {
	type b struct {
		family int
		addr   string
		opts   []string
	}
	reuse, port, only := []string{"reuseaddr"}, []string{"reuseport"}, []string{"v6only"}
	for _, c := range []struct {
		name   string
		first  b
		second b
		want   syscall.Errno
	}{
		{"same", b{inet, "127.0.0.1", nil}, b{inet, "127.0.0.1", nil}, syscall.EADDRINUSE},
		{"other address", b{inet, "127.0.0.1", nil}, b{inet, "127.0.0.2", nil}, 0},
		{"wildcard after", b{inet, "127.0.0.1", nil}, b{inet, "0.0.0.0", nil}, syscall.EADDRINUSE},
		{"wildcard before", b{inet, "0.0.0.0", nil}, b{inet, "127.0.0.1", nil}, syscall.EADDRINUSE},
		{"reuseaddr both", b{inet, "127.0.0.1", reuse}, b{inet, "127.0.0.1", reuse}, 0},
		{"reuseaddr second", b{inet, "127.0.0.1", nil}, b{inet, "127.0.0.1", reuse}, syscall.EADDRINUSE},
		{"reuseaddr first", b{inet, "127.0.0.1", reuse}, b{inet, "127.0.0.1", nil}, syscall.EADDRINUSE},
		{"reuseport both", b{inet, "127.0.0.1", port}, b{inet, "127.0.0.1", port}, 0},
		{"reuseport and reuseaddr", b{inet, "127.0.0.1", port}, b{inet, "127.0.0.1", reuse}, syscall.EADDRINUSE},
		{"dual then v4", b{inet6, "[::]", nil}, b{inet, "127.0.0.1", nil}, syscall.EADDRINUSE},
		{"dual then v4 wildcard", b{inet6, "[::]", nil}, b{inet, "0.0.0.0", nil}, syscall.EADDRINUSE},
		{"v4 then dual", b{inet, "127.0.0.1", nil}, b{inet6, "[::]", nil}, syscall.EADDRINUSE},
		{"v6only then v4", b{inet6, "[::]", only}, b{inet, "0.0.0.0", nil}, 0},
		{"v4 then v6only", b{inet, "0.0.0.0", nil}, b{inet6, "[::]", only}, 0},
		{"v6 and v4 loopback", b{inet6, "[::1]", nil}, b{inet, "127.0.0.1", nil}, 0},
		{"mapped and v4", b{inet6, "[::ffff:127.0.0.1]", nil}, b{inet, "127.0.0.1", nil}, syscall.EADDRINUSE},
		{"mapped and v6", b{inet6, "[::ffff:127.0.0.1]", nil}, b{inet6, "[::1]", nil}, 0},
		{"dual and v6", b{inet6, "[::]", nil}, b{inet6, "[::1]", nil}, syscall.EADDRINUSE},
		{"dual and v6only", b{inet6, "[::]", nil}, b{inet6, "[::]", only}, syscall.EADDRINUSE},
		{"dual and v4, reuseaddr", b{inet6, "[::]", reuse}, b{inet, "0.0.0.0", reuse}, 0},
		{"group and wildcard, reuseaddr", b{inet, "239.1.1.1", reuse}, b{inet, "0.0.0.0", reuse}, 0},
		{"group and address", b{inet, "239.1.1.1", nil}, b{inet, "127.0.0.1", nil}, 0},
		{"two groups", b{inet, "239.1.1.1", nil}, b{inet, "239.1.1.2", nil}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			twoArms(t, func(a *arm) {
				first := a.bound(c.first.family, c.first.addr+":0", c.first.opts...)
				second := a.open(c.second.family)
				for _, o := range c.second.opts {
					a.check(o, second.set(o, 1), 0)
				}
				host := netip.MustParseAddrPort(c.second.addr + ":0").Addr()
				addr := at(host.String(), first)
				a.check("second bind", second.bind(addr), c.want)
				if c.want != 0 { // free once the first is closed
					first.close()
					a.check("bind again", second.bind(addr), 0)
				}
			})
		})
	}
}

func TestBind(t *testing.T) {
	twoArms(t, func(a *arm) {
		s := a.open(inet)
		a.equal("unbound", s.local(), "0.0.0.0:0")
		a.equal("unbound 6", a.open(inet6).local(), "[::]:0")
		a.check("foreign", s.bind("203.0.113.9:0"), syscall.EADDRNOTAVAIL)
		a.check("foreign 6", a.open(inet6).bind("[2001:db8::9]:0"), syscall.EADDRNOTAVAIL)
		a.check("ephemeral", s.bind("127.0.0.1:0"), 0)
		p := netip.MustParseAddrPort(s.local()).Port()
		if p < firstEphemeral || p > lastEphemeral {
			a.Errorf("port %d", p)
		}
		a.check("again", s.bind("127.0.0.1:0"), syscall.EINVAL)
		a.check("again, foreign", s.bind("203.0.113.9:0"), syscall.EADDRNOTAVAIL)
		a.check("a 127 address", a.open(inet).bind("127.1.2.3:0"), 0)
		a.check("broadcast", a.open(inet).bind("255.255.255.255:0"), 0)
		a.check("group", a.open(inet).bind("224.0.0.251:0"), 0)
		only := a.bound(inet6, "[::1]:0", "v6only")
		a.check("v6only after bind", only.set("v6only", 0), syscall.EINVAL)
		only = a.open(inet6)
		a.check("v6only", only.set("v6only", 1), 0)
		a.check("mapped on v6only", only.bind("[::ffff:127.0.0.1]:0"), syscall.EINVAL)
		m := a.bound(inet6, "[::ffff:127.0.0.1]:0")
		a.equal("mapped", host(m.local()), "::ffff:127.0.0.1")
		w := a.bound(inet6, "[::ffff:0.0.0.0]:0")
		a.equal("mapped wildcard", host(w.local()), "::ffff:0.0.0.0")
		g := a.bound(inet, "224.0.0.251:0")
		a.equal("group", host(g.local()), "224.0.0.251")
	})
}

func TestSendErrors(t *testing.T) {
	twoArms(t, func(a *arm) {
		r := a.bound(inet, "127.0.0.1:0")
		s := a.open(inet)
		a.check("no peer", s.send("x", ""), syscall.EDESTADDRREQ)
		a.check("port 0", s.send("x", "127.0.0.1:0"), syscall.EINVAL)
		a.check("v6 address", s.send("x", "[::1]:9"), syscall.EAFNOSUPPORT)
		a.check("connect v6 address", s.connect("[::1]:9"), syscall.EAFNOSUPPORT)
		a.check("largest", s.send(big[:65507], r.local()), 0)
		a.gets("largest", r, big[:65507])
		a.check("too large", s.send(big[:65508], r.local()), syscall.EMSGSIZE)
		a.check("far too large", s.send(big, r.local()), syscall.EMSGSIZE)
		a.check("broadcast", s.send("x", "127.255.255.255:9"), syscall.EACCES)
		a.check("connect broadcast", s.connect("127.255.255.255:9"), syscall.EACCES)
		a.check("option", s.set("broadcast", 1), 0)
		a.check("broadcast", s.send("x", "127.255.255.255:9"), 0)
		a.check("empty", s.send("", r.local()), 0)
		if payload, _, err := r.recv(); payload != "" || err != nil {
			a.Errorf("empty: %q, %v", payload, err)
		}

		r6, s6 := a.bound(inet6, "[::1]:0"), a.open(inet6)
		a.check("largest 6", s6.send(big[:65527], r6.local()), 0)
		a.gets("largest 6", r6, big[:65527])
		a.check("too large 6", s6.send(big[:65528], r6.local()), syscall.EMSGSIZE)
		a.check("port 0", s6.send("x", "[::1]:0"), syscall.EINVAL)
		a.check("no peer 6", s6.send("x", ""), syscall.EDESTADDRREQ)

		lo := a.bound(inet, "127.0.0.1:0")
		leaves := syscall.ENETUNREACH
		if a.real && !a.alone {
			leaves = syscall.EINVAL // there is a route
		}
		a.check("loopback source leaves", lo.send("x", "10.255.0.1:9"), leaves)
		only := a.open(inet6)
		a.check("v6only", only.set("v6only", 1), 0)
		a.check("mapped on v6only", only.send("x", "[::ffff:127.0.0.1]:9"), syscall.ENETUNREACH)
		a.check("connect mapped on v6only", only.connect("[::ffff:127.0.0.1]:9"), syscall.ENETUNREACH)
		bound6 := a.bound(inet6, "[::1]:0")
		a.check("mapped from v6", bound6.send("x", "[::ffff:127.0.0.1]:9"), syscall.ENETUNREACH)
		bound4 := a.bound(inet6, "[::ffff:127.0.0.1]:0")
		a.check("v6 from mapped", bound4.send("x", "[::1]:9"), syscall.EAFNOSUPPORT)
		a.check("connect v6 from mapped", bound4.connect("[::1]:9"), syscall.EAFNOSUPPORT)
		df := a.bound(inet, "127.0.0.1:0", "dontfragment")
		a.check("whole", df.send(big[:65507], r.local()), 0)
	})
}

func TestConnect(t *testing.T) {
	twoArms(t, func(a *arm) {
		peer, other := a.bound(inet, "127.0.0.1:0"), a.bound(inet, "127.0.0.1:0")
		s := a.open(inet)
		a.equal("no peer", s.remote(), netip.AddrPort{}.String())
		a.check("connect", s.connect(peer.local()), 0)
		a.equal("source", host(s.local()), "127.0.0.1")
		a.equal("peer", s.remote(), peer.local())
		a.check("from other", other.send("other", s.local()), 0)
		a.check("from peer", peer.send("peer", s.local()), 0)
		a.gets("filtered", s, "peer")
		a.gets("nothing else", s, "")
		a.check("send", s.send("hi", ""), 0)
		a.equal("from", a.gets("peer", peer, "hi"), s.local())
		a.check("send elsewhere while connected", s.send("there", other.local()), 0)
		a.gets("other", other, "there")
		a.check("connect again", s.connect(other.local()), 0)
		a.equal("new peer", s.remote(), other.local())
		a.check("bind after connect", s.bind("127.0.0.1:0"), syscall.EINVAL)
		a.check("disconnect", s.disconnect(), 0)
		a.equal("disconnected", s.remote(), netip.AddrPort{}.String())
		a.equal("gave up its port", s.local(), "0.0.0.0:0")
		a.check("bind after disconnect", s.bind("127.0.0.1:0"), 0)

		b := a.bound(inet, "127.0.0.1:0")
		was := b.local()
		a.check("connect bound", b.connect(peer.local()), 0)
		a.check("disconnect bound", b.disconnect(), 0)
		a.equal("bound to :0, address kept and port given up", b.local(), "127.0.0.1:0")
		b = a.open(inet)
		a.check("bind to a port", b.bind(was), 0)
		a.check("connect bound", b.connect(peer.local()), 0)
		a.check("disconnect bound", b.disconnect(), 0)
		a.equal("port kept", b.local(), was)

		w := a.bound(inet, "0.0.0.0:0")
		a.check("connect wildcard", w.connect(peer.local()), 0)
		a.equal("wildcard became", host(w.local()), "127.0.0.1")

		z := a.open(inet)
		a.check("connect 0.0.0.0", z.connect(at("0.0.0.0", peer)), 0)
		a.equal("is loopback", z.remote(), peer.local())
		a.check("send to 0.0.0.0", other.send("zero", at("0.0.0.0", peer)), 0)
		a.gets("zero", peer, "zero")
		z = a.bound(inet, "127.0.0.7:0")
		p7 := a.bound(inet, "127.0.0.7:0")
		a.check("0.0.0.0 from 127.0.0.7", z.send("seven", at("0.0.0.0", p7)), 0)
		a.gets("is that address", p7, "seven")

		five := a.open(inet)
		a.check("connect 127.0.0.5", five.connect("127.0.0.5:9"), 0)
		a.equal("source", host(five.local()), "127.0.0.1")
		a.check("port 0", a.open(inet).connect("127.0.0.1:0"), 0)

		peer6 := a.bound(inet6, "[::1]:0")
		z6 := a.open(inet6)
		a.check("connect ::", z6.connect(at("::", peer6)), 0)
		a.equal("is ::1", z6.remote(), peer6.local())
		a.equal("source", host(z6.local()), "::1")
		d := a.open(inet6)
		a.check("connect mapped", d.connect(at("::ffff:127.0.0.1", peer)), 0)
		a.equal("source", host(d.local()), "::ffff:127.0.0.1")
		a.equal("peer", host(d.remote()), "::ffff:127.0.0.1")
		a.check("send mapped", d.send("mapped", ""), 0)
		from := a.gets("mapped", peer, "mapped")
		a.check("answer", peer.send("answer", from), 0)
		a.equal("from", host(a.gets("answer", d, "answer")), "::ffff:127.0.0.1")
		a.check("disconnect dual", d.disconnect(), 0)
		a.equal("dual again", d.local(), "[::]:0")
	})
}

func TestRefused(t *testing.T) {
	twoArms(t, func(a *arm) {
		gone := a.bound(inet, "127.0.0.1:0")
		dead := gone.local()
		gone.close()
		s := a.open(inet)
		a.check("connect", s.connect(dead), 0)
		a.check("send", s.send("x", ""), 0)
		_, _, err := s.recv()
		a.check("recv", err, syscall.ECONNREFUSED)
		_, _, err = s.recv()
		a.check("once", err, syscall.EAGAIN)
		a.check("send", s.send("x", ""), 0)
		a.check("send after", s.send("x", ""), syscall.ECONNREFUSED)
		a.check("and again", s.send("x", ""), 0)
		a.check("SO_ERROR", s.soError(), syscall.ECONNREFUSED)
		a.check("SO_ERROR once", s.soError(), 0)
		_, _, err = s.recv()
		a.check("gone", err, syscall.EAGAIN)

		u := a.bound(inet, "127.0.0.1:0")
		a.check("unconnected", u.send("x", dead), 0)
		_, _, err = u.recv()
		a.check("is not told", err, syscall.EAGAIN)

		// The error comes before what was received.
		self := a.bound(inet, "127.0.0.1:0")
		r := a.bound(inet, "127.0.0.1:0")
		a.check("connect", r.connect(self.local()), 0)
		a.check("data", self.send("data", r.local()), 0)
		self.close()
		a.check("send", r.send("x", ""), 0)
		_, _, err = r.recv()
		a.check("error first", err, syscall.ECONNREFUSED)
		a.gets("then data", r, "data")

		// Errors of the arguments come before the pending one.
		a.check("send", r.send("x", ""), 0)
		a.check("too large", r.send(big[:65508], ""), syscall.EMSGSIZE)
		a.check("still there", r.send("x", ""), syscall.ECONNREFUSED)

		six := a.open(inet6)
		a.check("connect 6", six.connect("[::1]:"+dead[len("127.0.0.1:"):]), 0)
		a.check("send 6", six.send("x", ""), 0)
		_, _, err = six.recv()
		a.check("recv 6", err, syscall.ECONNREFUSED)
	})
}

func TestWhichSocket(t *testing.T) {
	twoArms(t, func(a *arm) {
		wild := a.bound(inet, "0.0.0.0:0", "reuseaddr")
		addr := at("127.0.0.1", wild)
		spec := a.open(inet)
		spec.set("reuseaddr", 1)
		a.check("bind", spec.bind(addr), 0)
		s := a.bound(inet, "127.0.0.1:0")
		a.check("send", s.send("1", addr), 0)
		a.gets("specific", spec, "1")
		a.check("send", s.send("2", at("127.0.0.2", wild)), 0)
		a.gets("wildcard", wild, "2")
		last := a.open(inet)
		last.set("reuseaddr", 1)
		a.check("bind", last.bind(addr), 0)
		a.check("send", s.send("3", addr), 0)
		a.gets("last binder", last, "3")
		a.check("connect", spec.connect(s.local()), 0)
		a.check("send", s.send("4", addr), 0)
		a.gets("connected", spec, "4")
		spec.close()
		last.close()
		a.check("send", s.send("5", addr), 0)
		a.gets("wildcard again", wild, "5")

		dual := a.open(inet6)
		dual.set("reuseaddr", 1)
		a.check("bind dual", dual.bind(at("::", wild)), 0)
		a.check("send", s.send("6", addr), 0)
		a.gets("v4 before dual", wild, "6")
		wild.close()
		a.check("send", s.send("7", addr), 0)
		a.equal("mapped", host(a.gets("dual", dual, "7")), "::ffff:127.0.0.1")
		six := a.bound(inet6, "[::1]:0")
		a.check("send", six.send("8", at("::1", dual)), 0)
		a.equal("v6", host(a.gets("dual", dual, "8")), "::1")
	})
}

func TestReusePortGroup(t *testing.T) {
	twoArms(t, func(a *arm) {
		first := a.bound(inet, "127.0.0.1:0", "reuseport")
		group := []socket{first}
		for range 3 {
			s := a.open(inet)
			s.set("reuseport", 1)
			a.check("bind", s.bind(first.local()), 0)
			group = append(group, s)
		}
		total, used := 0, 0
		for range 64 {
			s := a.bound(inet, "127.0.0.1:0")
			a.check("send", s.send("a", first.local()), 0)
			a.check("send", s.send("b", first.local()), 0)
			s.close()
		}
		for _, g := range group {
			n := 0
			for {
				_, _, err := g.recv()
				if err != nil {
					break
				}
				n++
			}
			total += n
			if n > 0 {
				used++
			}
			if n%2 != 0 {
				a.Errorf("a flow met two sockets")
			}
		}
		a.equal("received", total, 128)
		a.equal("sockets used", used, 4)
	})
}

func TestReceiveBuffer(t *testing.T) {
	twoArms(t, func(a *arm) {
		for _, size := range []int{0, 1, 100, 150, 300, 640, 1000, 1472, 3000, 7000, 16000, 32000, 60000, 65507} {
			r := a.open(inet)
			for _, c := range [][2]int{{0, 2304}, {1, 2304}, {1000, 2304}, {1153, 2306}, {5000, 10000}} {
				r.set("rcvbuf", c[0])
				a.equal("rcvbuf", r.get("rcvbuf"), c[1])
				r.set("sndbuf", c[0])
				a.equal("sndbuf", r.get("sndbuf"), max(4608, c[1]))
			}
			r.set("rcvbuf", 100000)
			a.equal("rcvbuf", r.get("rcvbuf"), 200000)
			a.check("bind", r.bind("127.0.0.1:0"), 0)
			s := a.open(inet)
			for range 300 {
				a.check("send", s.send(big[:size], r.local()), 0)
			}
			a.equal("next", r.get("inq"), size)
			n := 0
			for ; ; n++ {
				if _, _, err := r.recv(); err != nil {
					break
				}
			}
			if size == 0 || size == 1000 || size == 65507 {
				a.Logf("%d datagrams of %d bytes fit", n, size)
			}
			if want := 200000 / truesize(size); n != want {
				a.Errorf("%d datagrams of %d bytes fit, want %d", n, size, want)
			}
		}
	})
}

func TestShutdown(t *testing.T) {
	twoArms(t, func(a *arm) {
		s, peer := a.bound(inet, "127.0.0.1:0"), a.bound(inet, "127.0.0.1:0")
		a.check("not connected", s.shutdown(true, false), syscall.ENOTCONN)
		a.gets("nonblocking", s, "")
		a.check("send", peer.send("data", s.local()), 0)
		a.gets("data still comes", s, "data")
		a.check("not connected", s.shutdown(false, true), syscall.ENOTCONN)
		a.check("send", s.send("x", peer.local()), syscall.EPIPE)
		c := a.open(inet)
		a.check("connect", c.connect(peer.local()), 0)
		a.check("connected", c.shutdown(false, true), 0)
		a.check("send", c.send("x", ""), syscall.EPIPE)
	})
}

func TestOptions(t *testing.T) {
	twoArms(t, func(a *arm) {
		s, s6 := a.open(inet), a.open(inet6)
		a.equal("ttl", s.get("ttl"), 64)
		a.equal("hops", s6.get("hops"), 64)
		a.equal("mcttl", s.get("mcttl"), 1)
		a.equal("mchops", s6.get("mchops"), 1)
		for _, c := range []struct {
			s      socket
			option string
			value  int
			want   syscall.Errno
			after  int
		}{
			{s, "ttl", 0, syscall.EINVAL, 64}, {s, "ttl", 256, syscall.EINVAL, 64}, {s, "ttl", 7, 0, 7}, {s, "ttl", -1, 0, 64}, {s, "ttl", -2, syscall.EINVAL, 64},
			{s6, "hops", 0, 0, 0}, {s6, "hops", 256, syscall.EINVAL, 0}, {s6, "hops", 7, 0, 7}, {s6, "hops", -1, 0, 64}, {s6, "hops", -2, syscall.EINVAL, 64},
			{s, "mcttl", 0, 0, 0}, {s, "mcttl", 256, syscall.EINVAL, 0}, {s, "mcttl", 9, 0, 9}, {s, "mcttl", -1, 0, 1},
			{s6, "mchops", 0, 0, 0}, {s6, "mchops", 256, syscall.EINVAL, 0}, {s6, "mchops", 9, 0, 9}, {s6, "mchops", -1, 0, 1},
			{s, "tos", 0x10, 0, 0x10}, {s6, "tclass", 0x20, 0, 0x20}, {s6, "tclass", 256, syscall.EINVAL, 0x20}, {s6, "tclass", -1, 0, 0},
		} {
			a.check(c.option, c.s.set(c.option, c.value), c.want)
			a.equal(c.option, c.s.get(c.option), c.after)
		}
		a.check("v6only on v4", s.set("v6only", 1), syscall.ENOPROTOOPT)
		a.check("mcif", s.set("mcif", 999), syscall.EADDRNOTAVAIL)
		a.check("mcif6", s6.set("mcif6", 999), syscall.ENODEV)
	})
}

func TestMulticastOnLoopback(t *testing.T) {
	const group, other = "239.7.7.7", "239.7.7.8"
	twoArms(t, func(a *arm) {
		s := a.open(inet)
		a.check("send through lo", s.set("mcif", 1), 0)
		a.check("source", s.bind("127.0.0.1:0"), 0)
		r1 := a.bound(inet, "0.0.0.0:0", "reuseaddr")
		to := at(group, r1)
		share := func(addr string) socket {
			r := a.open(inet)
			r.set("reuseaddr", 1)
			a.check("bind", r.bind(at(addr, r1)), 0)
			return r
		}
		r2, byGroup, byOther := share("0.0.0.0"), share(group), share(other)
		a.check("nobody", s.send("0", to), 0)
		a.gets("not a member", r1, "")

		a.check("join", r1.join(group, 1), 0)
		a.check("twice", r1.join(group, 1), syscall.EADDRINUSE)
		a.check("no group", r1.join("127.0.0.1", 1), syscall.EINVAL)
		a.check("no interface", r1.join(group, 999), syscall.ENODEV)
		a.check("leave what was not joined", r1.leave(other, 1), syscall.EADDRNOTAVAIL)
		a.check("send", s.send("1", to), 0)
		a.equal("from", a.gets("joined", r1, "1"), s.local())
		a.gets("did not join, IP_MULTICAST_ALL", r2, "1")
		a.gets("bound to the group", byGroup, "1")
		a.gets("bound to another group", byOther, "")
		a.check("mcall", r2.set("mcall", 0), 0)
		a.check("send", s.send("2", to), 0)
		a.gets("joined", r1, "2")
		a.gets("did not join", r2, "")
		a.check("loop off", s.set("loop", 0), 0)
		a.check("send", s.send("3", to), 0)
		a.gets("lo loops all the same", r1, "3")
		a.check("ttl 0", s.set("mcttl", 0), 0)
		a.check("send", s.send("4", to), 0)
		a.gets("ttl 0", r1, "4")
		a.check("leave", r1.leave(group, 1), 0)
		a.check("send", s.send("5", to), 0)
		a.gets("left", r1, "")
		a.check("leave twice", r1.leave(group, 1), syscall.EADDRNOTAVAIL)

		many := a.open(inet)
		for i := range 20 {
			a.check("join", many.join(netip.AddrFrom4([4]byte{239, 9, 9, byte(i)}).String(), 1), 0)
		}
		a.check("too many", many.join("239.9.9.99", 1), syscall.ENOBUFS)
	})
}

func TestMulticast6OnLoopback(t *testing.T) {
	const group = "ff15::7"
	twoArms(t, func(a *arm) {
		s, r := a.open(inet6), a.bound(inet6, "[::]:0")
		a.check("send through lo", s.set("mcif6", 1), 0)
		to := at(group, r)
		a.check("join", r.join(group, 1), 0)
		a.check("twice", r.join(group, 1), syscall.EADDRINUSE)
		a.check("no group", r.join("::1", 1), syscall.EINVAL)
		a.check("no interface", r.join(group, 999), syscall.ENODEV)
		a.check("leave no group", r.leave("::1", 1), syscall.EINVAL)
		a.check("leave other", r.leave("ff15::8", 1), syscall.EADDRNOTAVAIL)
		a.check("no route through lo", s.send("1", to), syscall.ENETUNREACH)
		a.check("leave", r.leave(group, 1), 0)
	})
}

func TestBroadcastOnLoopback(t *testing.T) {
	twoArms(t, func(a *arm) {
		s := a.bound(inet, "127.0.0.1:0", "broadcast")
		r := a.bound(inet, "0.0.0.0:0", "reuseaddr")
		to := at("127.255.255.255", r)
		spec, all := a.open(inet), a.open(inet)
		spec.set("reuseaddr", 1)
		all.set("reuseaddr", 1)
		a.check("bind", spec.bind(at("127.0.0.1", r)), 0)
		a.check("bind", all.bind(to), 0)
		a.check("send", s.send("1", to), 0)
		a.gets("wildcard", r, "1")
		a.gets("bound to the broadcast address", all, "1")
		a.gets("bound to another", spec, "")
	})
}
