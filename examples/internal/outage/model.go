package outage

import "github.com/dstkit/dst/simfs"

// Models are the models of what a loss of power leaves.
var Models = []simfs.Model{simfs.Ordered, simfs.Any}
