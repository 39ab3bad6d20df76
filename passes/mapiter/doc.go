// Package mapiter defines an Analyzer that reports map iterations whose order
// can be seen outside.
//
// # Analyzer mapiter
//
// mapiter: report map iterations whose order can be seen
//
// Go iterates over a map in random order. That is harmless as long as the loop
// does the same whichever entry comes first: it sums integers, fills another map,
// collects keys that are sorted afterwards. It is not when the loop sends, writes,
// logs, draws random numbers, starts goroutines, takes the first match, keeps the
// last writer, adds floats, concatenates strings or appends to a slice that
// nobody sorts; or calls a function that does one of these, which the finding
// then names by the chain of calls:
//
//	for name, child := range dir.children { // draws randomness: rand.Rand.IntN
//		if rng.IntN(2) == 0 {
//			keep(name, child)
//		}
//	}
//
// The same holds for maps.Keys, maps.Values and maps.All, sync.Map.Range, and
// reflect's MapKeys and MapRange. For plain loops over keys that have an order, the
// suggested fix is
//
//	for _, name := range slices.Sorted(maps.Keys(dir.children)) {
//		child := dir.children[name]
//
// Silent on purpose: shutting all of something down (Close, Stop, cancel, …) in any
// order; a panic in the loop; entries put into another map under a key that
// may repeat; predicates and callbacks whose result is all that counts.
//
// In the simulator the order follows from the seed, so with -sim only
// iterations at package initialisation are reported. Maps keyed by pointers, whose
// order depends on addresses even there, are for the escape analyzer.
package mapiter
