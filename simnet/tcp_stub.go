package simnet

import (
	"net/netip"
	"syscall"
)

// What follows is declared, and not written yet.

// Bind is bind(2). Port 0 asks for an ephemeral port.
func (t *TCP) Bind(addr netip.AddrPort) syscall.Errno { return syscall.ENOSYS }

// Listen is listen(2). Of a socket that listens it changes the backlog.
func (t *TCP) Listen(backlog int) syscall.Errno { return syscall.ENOSYS }

// Accept is accept(2): the next connection, or EAGAIN; EINVAL if the socket
// does not listen.
func (t *TCP) Accept() (*TCP, syscall.Errno) { return nil, syscall.ENOSYS }

// Connect is connect(2) of a non-blocking socket: EINPROGRESS, then EALREADY
// until the outcome is there (Writable), which the next call returns: 0 or the
// error; then EISCONN. As on Linux, whoever reads SO_ERROR instead learns
// the same.
func (t *TCP) Connect(to netip.AddrPort) syscall.Errno { return syscall.ENOSYS }

// Disconnect is connect(2) to AF_UNSPEC: the connection is reset, and the
// socket can be used anew.
func (t *TCP) Disconnect() syscall.Errno { return syscall.ENOSYS }

// Send is sendmsg(2). It takes as much of payload as there is room for, and
// tells how much: EAGAIN if there is none. The payload is copied with
// [sched.CopyIn], so it may be the program's memory. With more (MSG_MORE, and
// all but the last piece of a writev) a segment that is not full waits.
func (t *TCP) Send(payload []byte, more bool) (int, syscall.Errno) { return 0, syscall.ENOSYS }

// Recv is recvmsg(2): 0 and no error is the end of the stream. The bytes are
// copied with [sched.CopyOut]. With peek they stay.
func (t *TCP) Recv(buf []byte, peek bool) (int, syscall.Errno) { return 0, syscall.ENOSYS }

// Shutdown is shutdown(2), with SHUT_RD as read, SHUT_WR as write: ENOTCONN if
// there is no connection.
func (t *TCP) Shutdown(read, write bool) syscall.Errno { return syscall.ENOSYS }

// Close is close(2) of the last descriptor. What was sent is still delivered,
// and then FIN; if bytes were received that nobody read, or with a linger time
// of zero, the connection is reset. Closing twice is harmless.
func (t *TCP) Close() {}

// Lingering tells whether a blocking close with a linger time still has to
// wait: bytes or FIN are not confirmed. Notify is called when that changes.
func (t *TCP) Lingering() bool { return false }

// Info is TCP_INFO.
func (t *TCP) Info() TCPInfo { return TCPInfo{} }

type (
	bucket   struct{}
	listener struct{ accepted int }
	send     struct{ blen, mss int }
	receive  struct {
		rlen   int
		finned bool
	}
	timers struct{}
)

type socketList struct{}

func (*socketList) add(*TCP) {}

const (
	minMSS     = 88
	defaultMSS = 536
)

func (t *TCP) sndCap() int     { return t.sndbuf }
func (t *TCP) rearmKeepAlive() {}
func (t *TCP) push()           {}
func (t *TCP) Fire()           {}
func (n *Network) tcpEnter()   {}
func (n *Network) tcpLeave()   {}
