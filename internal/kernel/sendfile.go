//go:build linux && (amd64 || arm64)

package kernel

import (
	"syscall"

	"github.com/dstkit/dst/simfs"
)

// maxTransfer is the most that one call moves (MAX_RW_COUNT).
const maxTransfer = 0x7ffff000

// sysSendfile is sendfile(2) from a regular file to a stream socket, which is
// what servers do. For other pairs it is EINVAL, on which programs fall back to
// reading and writing. It gives the socket what it has room for and waits only
// where there is none, as the manual page allows.
func (p *Process) sysSendfile(c *Call) (uintptr, syscall.Errno) {
	out, in := p.lookup(c.Arg[0]), p.lookup(c.Arg[1])
	if in == nil || out == nil {
		return 0, syscall.EBADF
	}
	stream := out.kind == kindStream || out.kind == kindUnix && out.unix.kind == syscall.SOCK_STREAM
	if in.kind != kindDisk || !stream {
		return 0, syscall.EINVAL
	}
	if !in.readable() {
		return 0, syscall.EBADF
	}
	if in.node.Kind() != simfs.Regular {
		return 0, syscall.EINVAL
	}
	off := in.off
	if c.Ptr[2] != nil {
		if errno := get(&off, c.Ptr[2]); errno != 0 {
			return 0, errno
		}
		if off < 0 {
			return 0, syscall.EINVAL
		}
	}
	count := int(min(c.Arg[3], maxTransfer))
	done, errno := p.transfer(c, out, in, off, count)
	if done == 0 && errno == syscall.EAGAIN && out.blocking() && !p.expired {
		if out.kind == kindUnix {
			return 0, p.waitUnix(c, out.unix, 0, out.sock.opts.sndTimeout)
		}
		return 0, p.waitFor(c, out, p.due(out.sock.opts.sndTimeout))
	}
	if done > 0 {
		off += int64(done)
		if c.Ptr[2] == nil {
			in.off = off
		} else if errno := put(c.Ptr[2], &off); errno != 0 {
			return 0, errno
		}
	}
	return partly(done, errno)
}

// transfer moves up to count bytes of in, from off on, to out, without waiting.
func (p *Process) transfer(c *Call, out, in *file, off int64, count int) (done int, errno syscall.Errno) {
	for done < count {
		page := p.scratch[:min(count-done, len(p.scratch))]
		n, errno := in.node.ReadAt(page, off+int64(done))
		if n == 0 || errno != 0 {
			return done, errno
		}
		sent, errno := p.send(c, out, page[:n], syscall.MSG_DONTWAIT, nil, 0)
		done += int(sent)
		if errno != 0 || int(sent) < n {
			return done, errno
		}
	}
	return done, 0
}
