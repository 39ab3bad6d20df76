//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"syscall"
	"testing"
)

// Urgent data.
func TestUrgentData(t *testing.T) {
	for _, inline := range []int{0, 1} {
		t.Run(fmt.Sprint("inline ", inline), func(t *testing.T) {
			onBoth(t, func(a *arm) {
				x, y := a.pair()
				a.setInt(y, syscall.SOL_SOCKET, syscall.SO_OOBINLINE, inline)
				send := func(s string, flags int) {
					a.do("send "+s, syscall.SYS_SENDTO, x, bytesPtr([]byte(s)), len(s), flags, 0, 0)
					a.settle()
				}
				look := func() {
					var mark, inq int32
					a.do("SIOCATMARK", syscall.SYS_IOCTL, y, sioAtMark, ptr(&mark))
					a.do("SIOCINQ", syscall.SYS_IOCTL, y, sioInq, ptr(&inq))
					a.logf("mark %d, inq %d", mark, inq)
					a.poll("poll", y)
				}
				look()
				a.recv("nothing", y, 10, syscall.MSG_OOB)
				send("u", syscall.MSG_OOB)
				look()
				a.recv("peek", y, 10, syscall.MSG_OOB|syscall.MSG_PEEK)
				a.recv("other", y, 10, 0)
				a.recv("urgent", y, 10, syscall.MSG_OOB)
				a.recv("again", y, 10, syscall.MSG_OOB)
				send("abc", 0)
				send("dU", syscall.MSG_OOB)
				send("efg", 0)
				look()
				a.recv("two", y, 2, 0)
				a.recv("to the mark", y, 10, 0)
				look()
				a.receive(y, 10, 100, syscall.MSG_OOB)
				look()
				a.recv("beyond", y, 10, 0)
				look()
				a.recv("nothing", y, 10, syscall.MSG_OOB)
				// A later one takes the place of the first.
				send("1A", syscall.MSG_OOB)
				send("2B", syscall.MSG_OOB)
				look()
				a.recv("rest", y, 10, 0)
				look()
				a.recv("urgent", y, 10, syscall.MSG_OOB)
				a.recv("rest", y, 10, 0)
				send("C", syscall.MSG_OOB)
				send("D", syscall.MSG_OOB)
				look()
				a.recv("urgent", y, 10, syscall.MSG_OOB)
				a.recv("rest", y, 10, 0)
				send("E", syscall.MSG_OOB)
				a.do("shutdown", syscall.SYS_SHUTDOWN, x, syscall.SHUT_WR)
				a.settle()
				look()
				a.recv("rest", y, 10, 0)
				a.recv("urgent", y, 10, syscall.MSG_OOB)
				a.recv("end", y, 10, 0)
			})
		})
	}
}

// Options that hold back what a connection sends, or who is told of it.
func TestStreamOptions(t *testing.T) {
	onBoth(t, func(a *arm) {
		x, y := a.pair()
		// SO_RCVLOWAT
		a.setInt(y, syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, 4)
		a.write(x, "abc")
		a.poll("three of four", y)
		a.write(x, "d")
		a.poll("four", y)
		a.recv("all", y, 9, 0)
		a.setInt(y, syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, 1)
		// TCP_CORK and MSG_MORE
		a.setInt(x, syscall.IPPROTO_TCP, syscall.TCP_CORK, 1)
		a.do("corked", syscall.SYS_WRITE, x, bytesPtr([]byte("cork")), 4)
		a.recv("corked", y, 9, 0)
		a.setInt(x, syscall.IPPROTO_TCP, syscall.TCP_CORK, 0)
		a.settle()
		a.recv("open", y, 9, 0)
		a.do("more", syscall.SYS_SENDTO, x, bytesPtr([]byte("more")), 4, msgMore, 0, 0)
		a.recv("more to come", y, 9, 0)
		a.write(x, "!")
		a.recv("and here it is", y, 9, 0)
		// TCP_INQ
		a.setInt(y, syscall.IPPROTO_TCP, tcpInq, 1)
		a.write(x, "abcdef")
		a.receive(y, 4, 100, 0)
		a.receive(y, 4, 100, 0)
		// TCP_DEFER_ACCEPT
		l, port := a.listener4()
		a.setInt(l, syscall.IPPROTO_TCP, syscall.TCP_DEFER_ACCEPT, 5)
		c := a.tcp(syscall.AF_INET)
		a.do("connect", syscall.SYS_CONNECT, c, ptr(in4(loop4, port)), 16)
		a.poll("connected", c)
		a.do("accept", syscall.SYS_ACCEPT, l, 0, 0)
		a.write(c, "now")
		d := a.open("accept", syscall.SYS_ACCEPT, l, 0, 0)
		a.recv("now", d, 9, 0)
	})
}
