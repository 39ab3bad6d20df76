package raftdisk

import (
	"math"

	"github.com/anishathalye/porcupine"
)

// register is what a key is to its clients: a value, at first none.
var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(now, in, out any) (bool, any) {
		q := in.(request)
		if q.Put {
			return true, q.Value
		}
		return out == now, now
	},
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		at := map[string]int{}
		for _, op := range history {
			key := op.Input.(request).Key
			i, ok := at[key]
			if !ok {
				i = len(parts)
				at[key] = i
				parts = append(parts, nil)
			}
			parts[i] = append(parts[i], op)
		}
		return parts
	},
}

// never is when an operation ends of which nobody knows whether it came about.
const never = math.MaxInt64

// linearizable tells whether there is an order of what clients did that explains what
// they were told. A put of unknown outcome whose value nobody has read is left out: at
// the very end of any order it explains the same.
func linearizable(history []porcupine.Operation) bool {
	read := map[string]bool{}
	for _, op := range history {
		if q := op.Input.(request); !q.Put {
			read[op.Output.(string)] = true
		}
	}
	var ops []porcupine.Operation
	for _, op := range history {
		if op.Return != never || read[op.Input.(request).Value] {
			ops = append(ops, op)
		}
	}
	return porcupine.CheckOperations(register, ops)
}
