// Package wire holds the datagrams of the key-value store: one message a
// datagram, small enough for any path (MaxDatagram), with a checksum, so that
// what a node reads is either a whole message as it was sent or an error.
//
// Both versions of the store and their client speak it. The messages between
// client and node are Put, PutReply, Get and GetReply; Apply is what the naive
// leader sends its followers; the rest is the reliable version's, whose package
// says what they mean.
package wire
