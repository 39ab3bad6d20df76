// Package tftp tests a real program that was written with no thought of
// simulation: the TFTP server and client of github.com/pin/tftp/v3, unmodified,
// with files on disk, over a network that loses, repeats and reorders datagrams
// and falls apart in the middle of transfers. There is nothing here but tests;
// the README tells what they found.
//
// It is a module of its own, so that nobody who uses the toolkit depends on
// TFTP.
package tftp
