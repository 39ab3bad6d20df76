package simnet

import (
	"time"

	"github.com/dstkit/dst/sched"
)

// NewDNS returns a name server of a network without hosts, for tests that ask it
// over real sockets.
func NewDNS() *DNS { return New(sched.New(1)).DNS() }

// Respond answers a query as the server does.
func (d *DNS) Respond(query []byte, tcp bool) ([]byte, time.Duration) {
	return d.respond(query, "", tcp)
}
