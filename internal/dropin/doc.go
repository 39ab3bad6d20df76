// Package dropin knows the drop-in packages: which package of std each stands in for,
// how its file std.go is made from std's exported names, what its functions do in a
// simulation build, and which names it has beside those of std.
//
// The generator (folder gen, run by go generate) and the swap of imports work
// with it; no drop-in package imports it.
package dropin

// A Package is a drop-in package.
type Package struct {
	Std  string // import path of the package of std
	Name string // name of the package of std
	Path string // import path of the drop-in package
	Dir  string // its folder, from the module's root

	imports []string          // what the errors of funcs need
	note    string            // of functions that are not in funcs
	funcs   map[string]Func   // functions that a host, or the outside, makes a difference to
	copied  string            // what the variables are; those in Assigned apart
	params  map[string]string // names of parameters that would hide an import

	// Types are notes on types.
	types map[string]string

	// Assigned are the variables that programs assign to, each with a note. A variable cannot
	// have two names in Go (the linker refuses a linkname of one of std's). So the drop-in has a
	// copy, as it was when packages were initialised, and a function that returns where
	// std's is, which swap puts in its place.
	Assigned map[string]string
}

// A Func tells what a simulation build makes of a function.
type Func struct {
	note string // what it does on a host
	err  string // an expression: the error outside of hosts; "" never refuses
	when string // a condition, if only some calls are refused
}

// AccessorSuffix ends the name of a function that returns where a variable of std is.
const AccessorSuffix = "Var"

// Module is the path of the module of the drop-in packages.
const Module = "github.com/dstkit/dst"

// Packages are all drop-in packages.
var Packages = []*Package{netPackage, timePackage, osPackage, ioutilPackage, filepathPackage, randPackage, randV2Package, cryptoRandPackage}

// ByStd returns the drop-in for a package of std, or nil.
func ByStd(path string) *Package {
	for _, p := range Packages {
		if p.Std == path {
			return p
		}
	}
	return nil
}
