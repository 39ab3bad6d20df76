package reliable

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/dstkit/dst/examples/udpservice/wire"
)

const (
	resolveTimeout = 5 * time.Second
	resolveRetry   = 200 * time.Millisecond // after a name did not resolve
	resolveAgain   = time.Minute            // after it did: addresses may move
)

// peer is another node.
type peer struct {
	name string                         // "host:port"
	addr atomic.Pointer[netip.AddrPort] // nil until the name resolves
}

// resolve keeps p.addr up to date until ctx is done. What is sent before the name
// resolves first is dropped, which is no worse than a lossy network.
func (p *peer) resolve(ctx context.Context, logf func(string, ...any)) {
	failed := false
	for {
		lookup, cancel := context.WithTimeout(ctx, resolveTimeout)
		addr, err := wire.Resolve(lookup, p.name)
		cancel()
		wait := resolveAgain
		if err == nil {
			p.addr.Store(&addr)
		} else {
			wait = resolveRetry
		}
		if err != nil && !failed && ctx.Err() == nil {
			logf("%v (trying again)", err)
		}
		failed = err != nil
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}
