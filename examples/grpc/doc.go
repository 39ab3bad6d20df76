// Package grpc tests services that talk over google.golang.org/grpc, unmodified: a
// journal on disk, two front ends that pass calls on to it, and clients that spread
// calls over the front ends, while the network falls apart and hosts crash, lose power
// and are paused. There is nothing here but tests; the README tells what they found.
//
// It is a module of its own, so that nobody who uses the toolkit depends on gRPC.
package grpc
