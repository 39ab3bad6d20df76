//go:build linux && (amd64 || arm64)

package kernel

import (
	"math/bits"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/sched"
)

// maxRW is the most that one read or write moves, as on Linux.
const maxRW = 0x7ffff000

// absurd reports whether ptr cannot point to memory of a program: it is nil,
// in the first page, or in the kernel's half.
func absurd(ptr unsafe.Pointer) bool {
	return uintptr(ptr)-4096 >= 1<<47-4096
}

// bytesOf is the memory of a local variable, for CopyIn and CopyOut.
func bytesOf[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// get copies a value of the program's memory into v.
func get[T any](v *T, ptr unsafe.Pointer) syscall.Errno {
	if absurd(ptr) {
		return syscall.EFAULT
	}
	sched.CopyIn(bytesOf(v), ptr)
	return 0
}

// put copies v into the program's memory.
func put[T any](ptr unsafe.Pointer, v *T) syscall.Errno {
	if absurd(ptr) {
		return syscall.EFAULT
	}
	sched.CopyOut(ptr, bytesOf(v))
	return 0
}

// buffer is the program's memory at ptr, to be moved by CopyIn and CopyOut
// and never touched otherwise. A program may well say that there is more of it
// than it will be given.
//
//go:nocheckptr
func buffer(ptr unsafe.Pointer, n uintptr) ([]byte, syscall.Errno) {
	switch {
	case n == 0:
		return nil, 0
	case absurd(ptr):
		return nil, syscall.EFAULT
	}
	return unsafe.Slice((*byte)(ptr), int(min(n, maxRW))), 0
}

// pathAt copies a path, which ends with a zero byte, into buf and returns it
// as a string that is valid as long as buf is not used again.
//
// It reads aligned words, so that it reads no page that the path is not in.
func (p *Process) pathAt(ptr unsafe.Pointer, buf *[maxPath]byte) (string, syscall.Errno) {
	if absurd(ptr) {
		return "", syscall.EFAULT
	}
	skip := int(uintptr(ptr) & 7)
	n := 0
	for at := -skip; ; at += 8 {
		var word uint64
		sched.CopyIn(bytesOf(&word), unsafe.Add(ptr, at))
		word |= 1<<(8*skip) - 1 // what lies before the path is not its end
		zero := (word - 0x0101010101010101) &^ word & 0x8080808080808080
		end := 8
		if zero != 0 {
			end = bits.TrailingZeros64(zero) / 8
		}
		for i := skip; i < end; i++ {
			if n == len(buf) {
				return "", syscall.ENAMETOOLONG
			}
			buf[n] = byte(word >> (8 * i))
			n++
		}
		if zero != 0 {
			if n == len(buf) {
				return "", syscall.ENAMETOOLONG
			}
			return unsafe.String(&buf[0], n), 0
		}
		skip = 0
	}
}
