// Package dns tests name servers and resolvers made with github.com/miekg/dns, unmodified:
// a primary whose zone changes, secondaries that transfer it, and clients, among them
// package net's resolver, while datagrams are lost, repeated and reordered, the network
// falls apart and hosts crash. There is nothing here but tests; the README tells what they
// found.
//
// It is a module of its own, so that nobody who uses the toolkit depends on it.
package dns
