// Package sharedstate defines an Analyzer that reports package variables which
// are written after initialisation.
//
// # Analyzer sharedstate
//
// sharedstate: report package variables that are written after initialisation
//
// The hosts of a simulation live in one process and share its package variables,
// where real machines would each have their own; and a run of one seed finds what
// the run before left. Each such variable is reported once, where it is declared:
//
//	var nextID int // package variable nextID is written by NewSession
//
// A write is an assignment to the variable or to something in it, a delete, an atomic
// operation, or a method that changes its receiver. Silent are variables set
// by init, by functions that only init calls, and by main; mutexes, a sync.Once and
// a sync.WaitGroup, which guard other state; and sync.Pool.
package sharedstate
