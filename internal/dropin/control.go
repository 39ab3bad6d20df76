package dropin

import (
	_ "embed"
	"slices"
	"strings"
)

// controlText has the names beside std's that drop-in packages have: a line for each
// package, that package's folder and the names, sorted. The parity test keeps it, with
// -update.
//
//go:embed control.txt
var controlText string

// Control returns the exported names of the package beside those of std: its model,
// and what a test controls it with.
func (p *Package) Control() []string {
	for line := range strings.Lines(controlText) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == p.Dir {
			return words[1:]
		}
	}
	return nil
}

// Refused returns the functions of the package that get an error outside of hosts.
func (p *Package) Refused() []string {
	var names []string
	for name, f := range p.funcs {
		if f.err != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
