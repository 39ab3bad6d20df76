//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"github.com/dstkit/dst/simfs"
)

// A program's mappings are real memory. Behind those of a file of the disk is a
// file in the machine's memory (memfd_create), one for each inode that is
// mapped: what write writes is copied there, and what the program stores
// there is found by comparing, whenever somebody could tell the difference:
// at reads and writes of the range, at msync and fsync, when the mapping goes,
// and when the power does.

// A mapping is a piece of the program's memory.
type mapping struct {
	addr, size uintptr
	off        int64 // in the file
	s          *fileState
	shared     bool
	writable   bool // the file was open for writing
}

func (m *mapping) end() uintptr { return m.addr + m.size }

// machine6 makes a system call of the machine. Kernel context, where this runs, is
// not simulated.
func machine6(trap, a, b, c, d, e, f uintptr) (uintptr, syscall.Errno) {
	r, _, errno := syscall.RawSyscall6(trap, a, b, c, d, e, f)
	return r, errno
}

func machine3(trap, a, b, c uintptr) (uintptr, syscall.Errno) {
	return machine6(trap, a, b, c, 0, 0, 0)
}

const (
	mapFixed   = 0x10
	mapFixedNR = 0x100000 // MAP_FIXED_NOREPLACE
	mapType    = 0x0f
	mapSync    = 0x03 // MAP_SHARED_VALIDATE
	mapHuge    = 0x40000
)

var pageSize = uintptr(os.Getpagesize())

func pages(n uintptr) uintptr { return (n + pageSize - 1) &^ (pageSize - 1) }

func (p *Process) sysMmap(c *Call) (uintptr, syscall.Errno) {
	addr, size, prot, flags, off := c.Arg[0], c.Arg[1], c.Arg[2], int(c.Arg[3]), int64(c.Arg[5])
	m := mapping{size: pages(size), off: off}
	switch flags & mapType {
	case syscall.MAP_SHARED, mapSync:
		m.shared = true
	case syscall.MAP_PRIVATE:
	default:
		return 0, syscall.EINVAL
	}
	switch {
	case size == 0 || off < 0 || uintptr(off)%pageSize != 0:
		return 0, syscall.EINVAL
	case m.size < size || size > 1<<46:
		return 0, syscall.ENOMEM
	case flags&mapHuge != 0:
		return 0, syscall.ENOMEM // no such pages are set aside
	}
	if flags&(mapFixed|mapFixedNR) == 0 {
		addr = 0
	} else if !p.owns(addr, m.size) {
		return p.refuse(c, syscall.ENOMEM, "a mapping at an address that is not the program's own")
	}
	fd := ^uintptr(0)
	if flags&syscall.MAP_ANON == 0 {
		f := p.lookup(c.Arg[4])
		switch {
		case f == nil || f.flags&oPath != 0:
			return 0, syscall.EBADF
		case f.kind != kindDisk:
			return 0, syscall.ENODEV
		case !f.readable(), m.shared && prot&syscall.PROT_WRITE != 0 && !f.writable():
			return 0, syscall.EACCES
		case f.node.Kind() == simfs.Device && f.node.Rdev() == simfs.RdevZero:
			flags |= syscall.MAP_ANON
		case f.node.Kind() != simfs.Regular:
			return 0, syscall.ENODEV
		default:
			s := stateOf(f.node, true)
			if errno := s.map1(); errno != 0 {
				s.tidy()
				return 0, errno
			}
			m.s, m.writable = s, f.writable()
			fd = s.memory.fd
		}
	}
	if flags&mapFixed != 0 {
		p.forgetMaps(addr, m.size) // the machine replaces what is there
		flags &^= mapFixedNR
	}
	at, errno := machine6(syscall.SYS_MMAP, addr, size, prot, uintptr(flags), fd, uintptr(off))
	if errno != 0 {
		if m.s != nil {
			m.s.unmap1()
		}
		return 0, errno
	}
	m.addr = at
	if m.s != nil && m.shared && m.writable {
		m.s.memory.stores++
	}
	p.addMap(m)
	return at, 0
}

// addMap enters a mapping by its address.
func (p *Process) addMap(m mapping) {
	i := len(p.maps)
	p.maps = append(p.maps, m)
	for i > 0 && p.maps[i-1].addr > m.addr {
		p.maps[i] = p.maps[i-1]
		i--
	}
	p.maps[i] = m
}

// owns reports whether all of a range is mapped by the program.
func (p *Process) owns(addr, size uintptr) bool {
	for i := range p.maps {
		if m := &p.maps[i]; m.addr <= addr && addr < m.end() {
			if m.end()-addr >= size {
				return true
			}
			size -= m.end() - addr
			addr = m.end()
		}
	}
	return false
}

// forgetMaps takes a range out of the program's mappings, which it may split,
// and reports whether there was any in it.
func (p *Process) forgetMaps(addr, size uintptr) (any bool) {
	end := addr + size
	kept := make([]mapping, 0, len(p.maps)+1)
	for _, m := range p.maps {
		if m.end() <= addr || end <= m.addr {
			kept = append(kept, m)
			continue
		}
		any = true
		m.pull()
		left, right := m, m
		if m.addr < addr {
			left.size = addr - m.addr
			kept = append(kept, left)
			m.hold()
		}
		if end < m.end() {
			right.addr, right.size, right.off = end, m.end()-end, m.off+int64(end-m.addr)
			kept = append(kept, right)
			m.hold()
		}
		m.release()
	}
	p.maps = kept
	return any
}

// hold counts a further piece of a mapping of a file, and release one less.
func (m *mapping) hold() {
	if m.s == nil {
		return
	}
	m.s.memory.maps++
	m.s.node.Hold()
	if m.shared && m.writable {
		m.s.memory.stores++
	}
}

func (m *mapping) release() {
	if m.s == nil {
		return
	}
	if m.shared && m.writable {
		m.s.memory.stores--
	}
	m.s.unmap1()
}

// pull tells the disk what the program stored.
func (m *mapping) pull() {
	if m.s != nil && m.shared && m.writable {
		m.s.memory.Pull(m.off, int64(m.size))
	}
}

func (p *Process) sysMunmap(c *Call) (uintptr, syscall.Errno) {
	addr, size := c.Arg[0], pages(c.Arg[1])
	if addr%pageSize != 0 || c.Arg[1] == 0 {
		return 0, syscall.EINVAL
	}
	spans := p.within(addr, size)
	p.forgetMaps(addr, size)
	for _, s := range spans {
		machine3(syscall.SYS_MUNMAP, s.addr, s.size, 0)
	}
	return 0, 0
}

// A span is a range of addresses.
type span struct{ addr, size uintptr }

// within returns what of a range is the program's mappings.
func (p *Process) within(addr, size uintptr) (spans []span) {
	for _, m := range p.maps {
		from, to := max(addr, m.addr), min(addr+size, m.end())
		if from < to {
			spans = append(spans, span{from, to - from})
		}
	}
	return spans
}

func (p *Process) sysMremap(c *Call) (uintptr, syscall.Errno) {
	addr, size, flags := c.Arg[0], pages(c.Arg[2]), c.Arg[3]
	old := pages(c.Arg[1])
	for i := range p.maps {
		m := &p.maps[i]
		if m.addr != addr || m.size != old {
			continue
		}
		if flags&^1 != 0 || size == 0 {
			return p.refuse(c, syscall.EINVAL, "mremap to an address")
		}
		moved := *m
		m.pull()
		at, errno := machine6(syscall.SYS_MREMAP, addr, c.Arg[1], c.Arg[2], flags, 0, 0)
		if errno != 0 {
			return 0, errno
		}
		p.maps = append(p.maps[:i], p.maps[i+1:]...)
		moved.addr, moved.size = at, size
		p.addMap(moved)
		return at, 0
	}
	if len(p.within(addr, old)) == 0 {
		return 0, syscall.EFAULT
	}
	return p.refuse(c, syscall.EINVAL, "mremap of a part of a mapping")
}

func (p *Process) sysMprotect(c *Call) (uintptr, syscall.Errno) {
	addr, size := c.Arg[0], pages(c.Arg[1])
	switch {
	case addr%pageSize != 0:
		return 0, syscall.EINVAL
	case size == 0:
		return 0, 0
	case !p.owns(addr, size):
		return 0, syscall.ENOMEM
	}
	for i := range p.maps {
		m := &p.maps[i]
		if m.addr < addr+size && addr < m.end() && m.s != nil && m.shared && !m.writable && c.Arg[2]&syscall.PROT_WRITE != 0 {
			return 0, syscall.EACCES
		}
	}
	return machine3(syscall.SYS_MPROTECT, addr, size, c.Arg[2])
}

func (p *Process) sysMsync(c *Call) (uintptr, syscall.Errno) {
	addr, size, flags := c.Arg[0], pages(c.Arg[1]), int(c.Arg[2])
	const both = syscall.MS_ASYNC | syscall.MS_SYNC
	switch {
	case addr%pageSize != 0 || flags&^(both|syscall.MS_INVALIDATE) != 0 || flags&both == both:
		return 0, syscall.EINVAL
	case size == 0:
		return 0, 0
	case !p.owns(addr, size):
		return 0, syscall.ENOMEM
	}
	for i := range p.maps {
		m := &p.maps[i]
		if m.addr >= addr+size || addr >= m.end() || m.s == nil || !m.shared {
			continue
		}
		m.pull()
		if flags&syscall.MS_SYNC != 0 {
			if errno := m.s.node.Sync(false); errno != 0 {
				return 0, errno
			}
		}
	}
	return 0, 0
}

// sysMadvise passes advice on about the program's own mappings.
func (p *Process) sysMadvise(c *Call) (uintptr, syscall.Errno) {
	const remove, free, dontneed = 9, 8, 4
	addr, size, advice := c.Arg[0], pages(c.Arg[1]), int(c.Arg[2])
	switch {
	case addr%pageSize != 0:
		return 0, syscall.EINVAL
	case size == 0:
		return 0, 0
	case advice == remove:
		return p.refuse(c, syscall.EOPNOTSUPP, "a hole made by madvise")
	case p.owns(addr, size):
		return machine3(syscall.SYS_MADVISE, addr, size, uintptr(advice))
	case advice == dontneed || advice == free:
		return p.refuse(c, syscall.ENOMEM, "memory given back that is not a mapping of the program")
	}
	return 0, 0
}

func (p *Process) sysMincore(c *Call) (uintptr, syscall.Errno) {
	addr, size := c.Arg[0], pages(c.Arg[1])
	switch {
	case addr%pageSize != 0:
		return 0, syscall.EINVAL
	case !p.owns(addr, size):
		return 0, syscall.ENOMEM
	}
	one := byte(1)
	for i := range size / pageSize {
		if errno := put(unsafe.Add(c.Ptr[2], i), &one); errno != 0 {
			return 0, errno
		}
	}
	return 0, 0
}

// unmapAll ends the mappings of a process that ends. What was stored is in the
// page cache, as Linux has it. Their addresses stay taken, by memory of nobody's,
// until the world ends: a pointer that was kept finds zeroes there.
func (p *Process) unmapAll() {
	for _, m := range p.maps {
		m.pull()
		machine6(syscall.SYS_MMAP, m.addr, m.size, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_PRIVATE|syscall.MAP_ANON|mapFixed|syscall.MAP_NORESERVE, ^uintptr(0), 0)
		m.release()
		m.s = nil
		p.k.husks = append(p.k.husks, m)
	}
	p.maps = nil
}

// memory is the file in memory behind the mappings of an inode.
type memory struct {
	node   *simfs.Inode
	fd     uintptr
	maps   int
	stores int     // mappings that the program can store through
	addr   uintptr // our own mapping of it
	room   uintptr
	size   int64
}

var _ simfs.Memory = (*memory)(nil)

// map1 makes sure that there is memory behind the file, for one mapping more.
func (s *fileState) map1() syscall.Errno {
	if s.memory == nil {
		name := [...]byte{'d', 's', 't', 0}
		const cloexec = 1
		fd, errno := machine3(sysMEMFDCREATE, uintptr(unsafe.Pointer(&name)), cloexec, 0)
		if errno != 0 {
			return errno
		}
		m := &memory{node: s.node, fd: fd}
		m.Resize(s.node.Size())
		s.node.EachPage(func(off int64, b []byte) { m.Push(off, b) })
		s.memory = m
		s.node.SetMemory(m)
	}
	s.memory.maps++
	s.node.Hold()
	return 0
}

// unmap1 is told of a mapping that is gone.
func (s *fileState) unmap1() {
	m := s.memory
	if m.maps--; m.maps == 0 {
		s.node.SetMemory(nil)
		if m.room > 0 {
			machine3(syscall.SYS_MUNMAP, m.addr, m.room, 0)
		}
		machine3(syscall.SYS_CLOSE, m.fd, 0, 0)
		s.memory = nil
		s.tidy()
	}
	s.node.Drop(false)
}

// bytes is what lies in memory at off.
func (m *memory) bytes(off, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), m.addr+uintptr(off))), n)
}

// Resize gives the memory the file's size, so that what lies beyond faults as
// on Linux (SIGBUS).
func (m *memory) Resize(size int64) {
	if errno := m.resize(size); errno != 0 {
		panic(fmt.Sprintf("kernel: no memory behind a mapped file of %d bytes: %v", size, errno))
	}
}

func (m *memory) resize(size int64) syscall.Errno {
	if size > m.size && m.size%int64(pageSize) != 0 {
		// What a program stored beyond the end must not become part of the file.
		clear(m.bytes(m.size, int64(pageSize)-m.size%int64(pageSize)))
	}
	if _, errno := machine3(syscall.SYS_FTRUNCATE, m.fd, uintptr(size), 0); errno != 0 {
		return errno
	}
	m.size = size
	if uintptr(size) <= m.room {
		return 0
	}
	if m.room > 0 {
		machine3(syscall.SYS_MUNMAP, m.addr, m.room, 0)
	}
	room := max(1<<24, 2*pages(uintptr(size)))
	at, errno := machine6(syscall.SYS_MMAP, 0, room, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_NORESERVE, m.fd, 0)
	if errno != 0 {
		m.room = 0
		return errno
	}
	m.addr, m.room = at, room
	return 0
}

// Push copies what was written to the file.
func (m *memory) Push(off int64, b []byte) {
	if end := off + int64(len(b)); end > m.size {
		m.Resize(end)
	}
	copy(m.bytes(off, int64(len(b))), b)
}

// Pull finds what was stored in a range.
func (m *memory) Pull(off, length int64) {
	if m.stores == 0 {
		return
	}
	end := min(off+length, m.size)
	for at := off &^ (simfs.PageSize - 1); at < end; at += simfs.PageSize {
		mem := m.bytes(at, min(simfs.PageSize, m.size-at))
		have := m.node.Page(at)
		if len(have) == len(mem) && string(have) == string(mem) {
			continue
		}
		from, to := len(mem), 0
		for i, b := range mem {
			if b != byteAt(have, i) {
				from, to = min(from, i), i+1
			}
		}
		if from < to {
			m.node.Store(append([]byte(nil), mem[from:to]...), at+int64(from))
		}
	}
}

func byteAt(b []byte, i int) byte {
	if i < len(b) {
		return b[i]
	}
	return 0
}
