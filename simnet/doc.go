// Package simnet is the network of a simulation: hosts on one Ethernet
// segment, the links between them, and the faults those links suffer.
package simnet
