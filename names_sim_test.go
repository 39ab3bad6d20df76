//go:build dst

package dst_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/dstkit/dst"
)

// More processes than fit into the first buckets of what package net knows of each, all
// with the same /etc/hosts, which grows while they use it. The second run of a seed finds
// parsed what the first has left, and must be the same run.
func TestNamesOfManyHosts(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		const n = 50
		name := func(i int) string { return fmt.Sprint("host", i) }
		look := func(from, of int, found bool) {
			w.Host(name(from)).Do(func() {
				addrs, err := net.LookupHost(name(of))
				switch {
				case !found && err == nil:
					w.Failf("%s finds %s, which is not there, at %v", name(from), name(of), addrs)
				case found && (err != nil || addrs[0] != w.Host(name(of)).Addr().String()):
					w.Failf("%s finds %s at %v (%v), want %v", name(from), name(of), addrs, err, w.Host(name(of)).Addr())
				}
			})
		}
		for i := range n {
			w.Host(name(i))
			look(i, i/2, true)
			look(i, i+1, false)
		}
		time.Sleep(6 * time.Second) // package net believes what it has read for five
		for i := range n {
			look(i, (i+1)%n, true)
		}
		w.Host(name(7)).Crash()
		w.Host(name(7)).Boot(nil)
		look(7, 8, true)
	}, dst.Seeds(2), dst.Twice())
}
