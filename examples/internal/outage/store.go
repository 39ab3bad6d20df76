package outage

import "github.com/dstkit/dst/examples/internal/ledger"

// Dir is where a store may put its files. It is there, and durable.
const Dir = "/var/lib/db"

// A Store is an engine that is open, on a host.
type Store interface {
	// Apply carries a transaction out. With durable it has to survive a loss of power
	// from then on, if the error is nil. With an error the process ends.
	Apply(tx *ledger.Tx, durable bool) error
	// All returns the keys of each writer, as they were at one moment.
	All() ([]map[string]string, error)
	// Check looks for damage. Nobody else uses the store meanwhile.
	Check() error
	// Maintain does once what the engine needs or offers besides: compaction and the
	// like. It is called on a goroutine of its own, while others write.
	Maintain(n int) error
	Close() error
}
