// Package simrand makes random numbers that follow from a seed.
//
// # Streams
//
// One seed gives many named streams, and those of hosts, independent of each
// other: a draw added to one moves no other. The scheduler, the network, the
// disks, the clocks and the test's own workload each draw from theirs; see [FromStream].
//
// # What a program draws
//
// The functions of math/rand, math/rand/v2, crypto/rand and hash/maphash that are
// called on a host, the order in which it iterates a map, and all that std makes
// of these (UUIDs, the names of temporary files, keys) follow from the seed, the
// host and its incarnation, the virtual time, the goroutine, and the number of
// draws that the goroutine made since it was last given its turn. There is no
// stream that runs on: so what a program draws does not depend on how often
// something drew that happens only once a process, such as the initialisation of
// a package.
//
// Package crypto and what is below it generate keys, sign and shake hands by the same
// numbers, whatever reader they are given: since Go 1.26 they ask the system's generator.
//
// A generator that a program makes from a seed of its own is as it always is.
//
// # Drop-in for package math/rand
//
// The package also has every exported name of math/rand, with the same types: code that
// imports it instead mixes freely with code that does not. In a normal build, and in
// one with the tag dst alone, all of these are std's. In a simulation build too:
// what differs on a host differs beneath std. The folders v2 and crypto have the drop-ins
// for math/rand/v2 and crypto/rand: the names of the three collide.
package simrand

//go:generate go run ../internal/dropin/gen
