// Package memberlist tests a real library that was written with no thought of
// simulation: the gossip membership of github.com/hashicorp/memberlist,
// unmodified, on ten and on a hundred hosts, over a network that loses, delays
// and repeats, falls apart and heals, while hosts crash, lose power, stand still
// and come back. There is nothing here but tests; the README tells what they
// found.
//
// It is a module of its own, so that nobody who uses the toolkit depends on
// memberlist.
package memberlist
