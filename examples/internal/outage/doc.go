// Package outage is how the examples of storage engines are tested: a host whose
// program writes to a store, again and again loses its power or its process, at any
// moment, and what the store has after each restart is compared with a ledger.
package outage
