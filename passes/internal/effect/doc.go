// Package effect tells, for each function, by which chain of calls it reaches
// what makes a program differ from run to run: the wall clock, randomness of
// the process, other programs, and so on. It reports nothing; the passes do.
//
// # Facts
//
// Each package exports one fact, with one chain for each function and [Kind].
// So facts stay small however large the graph of packages is. A package sees
// the facts of those that it imports directly, whatever the driver.
//
// # The standard library
//
// Facts go through std as through any other package, with two exceptions:
// what [Source] knows is where chains end, and packages whose business is the outside world
// (net, os, log, …) have none. Who calls those knows that the world answers, and
// that they also read the clock would be said of every line that does IO.
package effect
