//go:build dstsim

package simnet_test

import (
	"errors"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst"
	"github.com/dstkit/dst/internal/dropin"
	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simnet"
)

func second[T any](_ T, err error) error { return err }

// reaching are calls, one of each function, that would reach the machine.
var reaching = map[string]func() error{
	"Dial":               func() error { return second(simnet.Dial("tcp", "127.0.0.1:1")) },
	"DialTimeout":        func() error { return second(simnet.DialTimeout("tcp", "localhost:http", time.Second)) },
	"DialIP":             func() error { return second(simnet.DialIP("ip4:1", nil, &simnet.IPAddr{IP: simnet.IPv4zero})) },
	"DialTCP":            func() error { return second(simnet.DialTCP("tcp", nil, &simnet.TCPAddr{Port: 1})) },
	"DialUDP":            func() error { return second(simnet.DialUDP("udp", nil, &simnet.UDPAddr{Port: 1})) },
	"DialUnix":           func() error { return second(simnet.DialUnix("unix", nil, &simnet.UnixAddr{Name: "x", Net: "unix"})) },
	"Listen":             func() error { return second(simnet.Listen("tcp", ":0")) },
	"ListenPacket":       func() error { return second(simnet.ListenPacket("udp", ":0")) },
	"ListenIP":           func() error { return second(simnet.ListenIP("ip4:1", nil)) },
	"ListenMulticastUDP": func() error { return second(simnet.ListenMulticastUDP("udp", nil, nil)) },
	"ListenTCP":          func() error { return second(simnet.ListenTCP("tcp", nil)) },
	"ListenUDP":          func() error { return second(simnet.ListenUDP("udp", nil)) },
	"ListenUnix":         func() error { return second(simnet.ListenUnix("unix", nil)) },
	"ListenUnixgram":     func() error { return second(simnet.ListenUnixgram("unixgram", nil)) },
	"FileConn":           func() error { return second(simnet.FileConn(nil)) },
	"FileListener":       func() error { return second(simnet.FileListener(nil)) },
	"FilePacketConn":     func() error { return second(simnet.FilePacketConn(nil)) },
	"Interfaces":         func() error { return second(simnet.Interfaces()) },
	"InterfaceAddrs":     func() error { return second(simnet.InterfaceAddrs()) },
	"InterfaceByIndex":   func() error { return second(simnet.InterfaceByIndex(1)) },
	"InterfaceByName":    func() error { return second(simnet.InterfaceByName("lo")) },
	"LookupAddr":         func() error { return second(simnet.LookupAddr("127.0.0.1")) },
	"LookupCNAME":        func() error { return second(simnet.LookupCNAME("localhost")) },
	"LookupHost":         func() error { return second(simnet.LookupHost("localhost")) },
	"LookupIP":           func() error { return second(simnet.LookupIP("localhost")) },
	"LookupMX":           func() error { return second(simnet.LookupMX("localhost")) },
	"LookupNS":           func() error { return second(simnet.LookupNS("localhost")) },
	"LookupPort":         func() error { return second(simnet.LookupPort("tcp", "http")) },
	"LookupSRV":          func() error { _, _, err := simnet.LookupSRV("", "", "localhost"); return err },
	"LookupTXT":          func() error { return second(simnet.LookupTXT("localhost")) },
	"ResolveIPAddr":      func() error { return second(simnet.ResolveIPAddr("ip", "localhost")) },
	"ResolveTCPAddr":     func() error { return second(simnet.ResolveTCPAddr("tcp", "localhost:80")) },
	"ResolveUDPAddr":     func() error { return second(simnet.ResolveUDPAddr("udp", "127.0.0.1:http")) },
}

// outside calls everything, outside of hosts.
func outside(t *testing.T) {
	for name, f := range reaching {
		err := f()
		if !errors.Is(err, sched.ErrNotOnHost) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, ok := errors.AsType[simnet.Error](err); !ok {
			t.Errorf("%s: a %T is not an error of package net", name, err)
		}
		if !strings.Contains(err.Error(), "Host.Do") {
			t.Errorf("%s: %v: does not say what to do", name, err)
		}
	}
	// What needs no machine.
	for name, err := range map[string]error{
		"LookupHost":      second(simnet.LookupHost("10.0.0.1")),
		"LookupIP":        second(simnet.LookupIP("::1")),
		"LookupPort":      second(simnet.LookupPort("tcp", "80")),
		"ResolveIPAddr":   second(simnet.ResolveIPAddr("ip", "10.0.0.1")),
		"ResolveTCPAddr":  second(simnet.ResolveTCPAddr("tcp", "[::1]:80")),
		"ResolveUDPAddr":  second(simnet.ResolveUDPAddr("udp", ":0")),
		"ResolveUnixAddr": second(simnet.ResolveUnixAddr("unix", "/x")),
		"ParseMAC":        second(simnet.ParseMAC("02:00:00:00:00:01")),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := second(simnet.ResolveTCPAddr("tcp", "nonsense")); err == nil || errors.Is(err, sched.ErrNotOnHost) {
		t.Errorf("an address without a port: %v", err)
	}
	if a, b := simnet.Pipe(); a == nil || b == nil {
		t.Error("no pipe")
	}
}

// atInit is what a call gets while packages are initialised.
var _, atInit = simnet.Dial("tcp", "127.0.0.1:1")

func TestStdOutside(t *testing.T) {
	if got, want := slices.Sorted(maps.Keys(reaching)), dropin.ByStd("net").Refused(); !slices.Equal(got, want) {
		t.Errorf("tested are\n%q\nrefused\n%q", got, want)
	}
	if !errors.Is(atInit, sched.ErrNotOnHost) {
		t.Error(atInit)
	}
	outside(t)
	_, err := simnet.Dial("tcp", "10.0.0.1:80")
	if want := "dial tcp 10.0.0.1:80: " + sched.ErrNotOnHost.Error(); err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// The body of a test is outside as well; and a host is inside.
func TestStdOnHosts(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		outside(t)
		w.Host("server", func() error {
			l, err := simnet.Listen("tcp", ":7")
			if err != nil {
				return err
			}
			for {
				c, err := l.Accept()
				if err != nil {
					return err
				}
				go io.Copy(c, c)
			}
		})
		w.Host("client").Do(func() {
			addrs, err := simnet.LookupHost("server")
			if err != nil || len(addrs) == 0 || !netip.MustParsePrefix("10.0.0.0/16").Contains(netip.MustParseAddr(addrs[0])) {
				w.Failf("the server is at %v, %v", addrs, err)
			}
			list, err := simnet.Interfaces()
			if err != nil || len(list) != 2 || list[1].Name != "eth0" {
				w.Failf("interfaces %v, %v", list, err)
			}
			c, err := simnet.DialTimeout("tcp", "server:7", time.Second)
			if err != nil {
				w.Failf("%v", err)
				return
			}
			c.Write([]byte("echo"))
			b := make([]byte, 4)
			if _, err := io.ReadFull(c, b); err != nil || string(b) != "echo" {
				w.Failf("read %q, %v", b, err)
			}
			// A port of this host's, in every function that listens or dials.
			for _, name := range []string{"ListenTCP", "ListenUDP", "DialUDP", "ListenPacket", "LookupPort", "ResolveTCPAddr"} {
				if err := reaching[name](); err != nil {
					w.Failf("%s: %v", name, err)
				}
			}
		})
	})
}
