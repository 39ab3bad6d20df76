// Package raft tests a real library that was written with no thought of
// simulation: the consensus of github.com/hashicorp/raft, unmodified, with its TCP
// transport, its snapshots in files and its log in a file of ours or in a database of
// github.com/hashicorp/raft-boltdb, on three hosts and on five, over a network
// that loses, delays, falls apart and heals, while hosts crash, lose power, stand
// still and go by wrong clocks. There is nothing here but tests; the README tells
// what they found.
//
// It is a module of its own, so that nobody who uses the toolkit depends on Raft or on bbolt.
package raft
