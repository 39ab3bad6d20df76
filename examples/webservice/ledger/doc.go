// Package ledger is a web service that keeps accounts, and files beside them.
//
//	POST /orders           {"account": …, "amount": …}, with an Idempotency-Key: applied once, however often it is sent
//	GET  /accounts/{name}  {"balance": …}
//	GET  /statement        every order, a JSON object a line, as a stream
//	PUT  /files/{name}     an upload; Digest says what it has to be
//	GET  /files/{name}     the same, as a stream
//
// An order is acknowledged (200, with a [Receipt]) once it is on disk: in a
// journal, a line an order with a checksum, that is synced before the answer
// goes out. Whoever got no answer sends the order again under the same key, and
// gets the receipt of the first time. The keys are in the journal, so this holds
// across restarts. A line that a loss of power damaged is the last, was never
// acknowledged, and is cut off at the next start.
//
// A file is written under another name, synced, and renamed when it is whole and
// its digest is the one that was announced; then the folder is synced. Streams end
// with a trailer, Digest, by which a reader knows that it has all.
//
// On the end of its context the server shuts down: it takes no new connections
// and answers what it was asked.
package ledger

// A Flaw is something done wrong on purpose, so that tests can show that they
// would notice.
type Flaw string

const (
	None          Flaw = ""
	AckBeforeSync Flaw = "orders are acknowledged before they are on disk"
	KeysInMemory  Flaw = "keys are forgotten at a restart"
	WritesInPlace Flaw = "uploads are written under their own name"
	NoFolderSync  Flaw = "the folder is not synced after an upload"
	SharedBuffer  Flaw = "all downloads are copied through one buffer"
	NoShutdown    Flaw = "the server is closed, not shut down"
)
