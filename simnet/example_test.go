package simnet_test

import (
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simnet"
)

func ExampleParseRule() {
	for _, text := range []string{
		"drop first 3 syn to server port 80",
		"delay 10ms-50ms udp port 53",
		"drop 3th udp",
	} {
		r, err := simnet.ParseRule(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r)
	}
	// Output:
	// drop 1st-3rd syn to server port 80
	// delay 10ms-50ms udp port 53
	// rule "drop 3th udp": column 6: found "3th", expected 3rd
}

// network returns a network of a client and a server, each with a socket. In a test
// with dst.Run, it is w.Net(), and the sockets are those of programs.
func network() (w *sched.World, n *simnet.Network, client, server *simnet.UDP) {
	w = sched.New(1)
	n = simnet.New(w)
	socket := func(host string) *simnet.UDP {
		u := n.AddHost(host).NewUDP(syscall.AF_INET)
		u.Bind(netip.MustParseAddrPort("0.0.0.0:7"))
		return u
	}
	return w, n, socket("client"), socket("server")
}

// receive prints what a socket receives.
func receive(u *simnet.UDP) {
	for d, errno := u.Recv(false); errno == 0; d, errno = u.Recv(false) {
		fmt.Printf("%s from %v\n", d.Payload, d.From.Addr())
		d.Release()
	}
}

var serverAddr = netip.MustParseAddrPort("10.0.0.2:7")

func ExampleNetwork_Rule() {
	_, n, client, server := network()
	n.Rule("lossy", "drop every 2nd udp to server")
	for i := range 4 {
		client.Send(fmt.Append(nil, i), serverAddr, nil)
	}
	receive(server)
	fmt.Printf("%+v\n", n.RuleCounters("lossy"))
	// Output:
	// 0 from 10.0.0.1
	// 2 from 10.0.0.1
	// {Seen:4 Hits:2}
}

func ExampleNetwork_RuleFunc() {
	_, n, client, server := network()
	n.RuleFunc("censor", func(p *simnet.Packet) simnet.Verdict {
		if p.To == "server" && string(p.Payload) == "secret" {
			return simnet.Drop
		}
		return simnet.Pass
	})
	client.Send([]byte("secret"), serverAddr, nil)
	client.Send([]byte("hello"), serverAddr, nil)
	receive(server)
	// Output: hello from 10.0.0.1
}

func ExampleNetwork_NAT() {
	_, n, client, server := network()
	home := n.NAT("home", simnet.NAT{}, "client")
	client.Send([]byte("hello"), serverAddr, nil)
	receive(server)
	before := home.Mappings()[0].Public
	home.Rebind()
	client.Send([]byte("again"), serverAddr, nil)
	receive(server)
	fmt.Println("another port:", home.Mappings()[0].Public != before)
	// Output:
	// hello from 10.0.0.3
	// again from 10.0.0.3
	// another port: true
}

func ExampleNetwork_Flap() {
	w, n, client, server := network()
	f := n.Flap("client", "server", simnet.Constant(2*time.Second), simnet.Constant(time.Second))
	for i := range 6 {
		client.Send(fmt.Appendf(nil, "second %d", i), serverAddr, nil)
		w.StepUntil(w.Now() + int64(time.Second))
	}
	f.Stop()
	receive(server)
	// Output:
	// second 0 from 10.0.0.1
	// second 1 from 10.0.0.1
	// second 3 from 10.0.0.1
	// second 4 from 10.0.0.1
}

func ExampleNetwork_SetUplink() {
	w, n, client, server := network()
	n.SetUplink("client", simnet.Rate{Bandwidth: 1e6, Queue: 64000})
	start := w.Elapsed()
	server.Notify = func() { fmt.Println(w.Elapsed() - start) }
	for range 2 {
		client.Send(make([]byte, 1222), serverAddr, nil) // 1250 bytes on the wire, 10 ms
	}
	for w.Step() {
	}
	// Output:
	// 10ms
	// 20ms
}

func ExampleNetwork_Capture() {
	_, n, client, _ := network()
	f, err := os.CreateTemp("", "*.pcapng")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	c := n.Capture(f, simnet.CaptureOptions{Hosts: []string{"client"}})
	client.Send([]byte("hello"), serverAddr, nil)
	fmt.Println(c.Stop())
	// Output: <nil>
}
