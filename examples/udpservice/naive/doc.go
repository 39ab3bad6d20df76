// Package naive is the first version of the replicated key-value store: it works
// on a quiet network.
//
// The leader applies a put, sends it to each follower once, and answers the
// client. A follower applies what arrives, as it arrives. Nobody acknowledges,
// numbers or repeats anything, so a datagram lost between leader and follower
// leaves that follower behind until the key is next written, and two datagrams
// that overtake each other leave it with the older value. Package reliable is
// what it takes to mend that.
package naive
