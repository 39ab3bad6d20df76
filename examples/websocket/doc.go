// Package websocket tests a chat over github.com/coder/websocket and net/http, both
// unmodified: a server with a room's log on disk, and clients that connect again and go on
// where they were, while the network falls apart and hosts crash and lose power. There is
// nothing here but tests; the README tells what they found.
//
// It is a module of its own, so that nobody who uses the toolkit depends on WebSockets.
package websocket
