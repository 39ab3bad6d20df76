//go:build dst

package dst_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/dstkit/dst"
)

func TestNamesQuick(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		a := w.Host("a")
		w.Host("b")
		d := w.Net().DNS()
		d.Add("db 30 A 10.0.0.2", "db A 10.0.0.1", "example.com TXT \"hello\"", "www.example.com CNAME db", "_http._tcp.example.com SRV 0 5 80 b", "example.com MX 10 b")
		a.Do(func() {
			fmt.Println(net.LookupHost("a"))
			fmt.Println(net.LookupHost("b.sim.internal"))
			fmt.Println(net.LookupHost("db"))
			fmt.Println(net.LookupHost("nope"))
			fmt.Println(net.LookupAddr("10.0.0.2"))
			fmt.Println(net.LookupAddr("10.0.255.53"))
			fmt.Println(net.LookupTXT("example.com"))
			fmt.Println(net.LookupMX("example.com"))
			fmt.Println(net.LookupNS("sim.internal"))
			fmt.Println(net.LookupSRV("http", "tcp", "example.com"))
			fmt.Println(net.LookupCNAME("www.example.com"))
			fmt.Println((&net.Resolver{}).LookupIPAddr(context.Background(), "www.example.com"))
		})
		fmt.Printf("%+v\n", d.Counters())
		w.Failf("show")
	}, dst.Seeds(1))
}
