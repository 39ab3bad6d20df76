// Package quic tests a server and clients over github.com/quic-go/quic-go, unmodified, over
// a network that loses, repeats, reorders and damages datagrams and falls apart, and hosts
// that crash and lose power. There is nothing here but tests; the README tells what they
// found.
//
// It is a module of its own, so that nobody who uses the toolkit depends on QUIC.
package quic
