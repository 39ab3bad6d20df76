// Package reliable is the second version of the replicated key-value store: it
// keeps every acknowledged put through loss, delay, reordering, duplication,
// partitions, and the crash of any one node.
//
// There are three nodes, and the first is always the leader. State is in memory
// only: a node that restarts remembers nothing. What follows calls such a node
// fresh until it has caught up, and a member from then on. A member remembers
// everything that it ever acknowledged.
//
// # Puts
//
// The leader gives each put the next sequence number, keeps it in its log and
// sends it to both followers (Append), with backoff, until they acknowledge. A
// follower applies puts in sequence only, passes over those it has, and answers
// with the last it has (Ack). Once one follower has it, leader and follower are a
// majority of three: the leader applies the put, so that readers see it, and
// answers the client. A follower applies a put as it arrives, because by then two
// nodes hold it.
//
// A put carries its client's name and the number of its request. The last request
// of each client is part of the replicated state, so a put that is sent again, to
// this leader or its next incarnation, is carried out once. (The table has room
// for 1,024 clients; the one that has been silent for longest goes first.)
//
// # Catching up
//
// A follower that is fresh, or further behind than the leader's log reaches
// (Append says where that begins, in Floor), asks for a snapshot (Pull) and gets
// it in datagrams (Chunk). It holds everything that the leader has at that time,
// also what is not committed yet: an acknowledgement by the follower's previous
// incarnation may still be on its way, and must not commit a put which the new
// one lacks. For the same reason a snapshot bears the nonce of the incarnation
// that asked: one that was made for the previous incarnation is no proof of
// having caught up.
//
// # Leader recovery
//
// A restarted leader knows neither the state nor its epoch, which is the number
// of its incarnation. It sends Prepare with an epoch to both followers. A follower
// promises the first incarnation that asks for an epoch higher than any it has
// seen, and refuses others, telling the highest it has promised; the leader tries
// the next higher then. From its promise on, a follower drops everything of
// earlier epochs, so its state stands still. A promise says whether its sender is
// a member, and which put it has last.
//
// An acknowledged put may be on one follower only, and nobody knows which, so
// the leader needs both promises, from members. It takes the state of the one with
// the higher sequence number and serves from there. As each follower's state is a
// beginning of the same order of puts, neither ever has to take anything back: an
// old value never replaces a newer one at a node, whatever the network does.
//
// # Fault assumption
//
// At most one node is without its memory at a time: a node may crash when the
// other two are up and Ready, and the one that crashed last counts until it is Ready
// again. Any number of nodes may be slow, or cut off for any time.
//
// Beyond that, the store prefers silence to a wrong answer. If the leader finds
// that exactly one follower is fresh, acknowledged puts may be gone, and it stays
// NotReady (and logs why). If both are fresh, nobody remembers anything, there is
// nothing to wait for, and the store starts empty: that is how it starts for the
// first time, and also the way out, by restarting all three, for an operator who
// accepts the loss.
//
// Gets are answered by any node that is Ready, from what it holds. A follower's
// answer may be old. The leader's is the newest acknowledged, as long as there is
// only one leader; it does not ask a follower whether there is another.
package reliable
