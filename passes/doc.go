// Package passes lists the analyzers of dstvet, which find what makes a Go
// program differ from run to run.
//
// They are written for [golang.org/x/tools/go/analysis], so any driver of such
// analyzers can run them; cmd/dstvet is one. Each has a package of its own, whose
// documentation is what dstvet help NAME prints.
//
// There are two levels. The default reports what makes a program nondeterministic
// in production. With -sim, only what stays so inside the simulator is left.
package passes
