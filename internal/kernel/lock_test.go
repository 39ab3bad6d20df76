//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// arena is a directory of the arm's, and its descriptor.
func (a *arm) arena(t *testing.T) (dir string, fd int) {
	dir = t.TempDir()
	if a.p != nil {
		dir = "/tmp/arena"
		a.sys(syscall.SYS_MKDIRAT, atFDCWD, cstr(dir), 0o755)
	}
	return dir, a.open("arena", syscall.SYS_OPENAT, atFDCWD, cstr(dir), syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
}

func TestLocksAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		_, d := a.arena(t)
		const rw = syscall.O_RDWR | syscall.O_CREAT
		open := func(flags int) int {
			return a.open("open", syscall.SYS_OPENAT, d, cstr("f"), flags, 0o644)
		}
		x, y, r := open(rw), open(rw), open(syscall.O_RDONLY)
		flock := func(fd, how int) { a.do(fmt.Sprint("flock ", how), syscall.SYS_FLOCK, fd, how) }
		const sh, ex, un, nb = syscall.LOCK_SH, syscall.LOCK_EX, syscall.LOCK_UN, syscall.LOCK_NB
		flock(x, sh|nb)
		flock(y, sh|nb)
		flock(x, ex|nb) // gives up the shared one
		flock(y, ex|nb)
		flock(x, sh|nb)
		flock(y, un)
		flock(x, sh|nb)
		flock(x, 16)
		flock(x, sh|ex)
		flock(r, ex|nb)
		flock(r, sh|nb)
		dup := a.open("dup", syscall.SYS_DUP, x)
		a.do("close", syscall.SYS_CLOSE, x) // its twin still holds
		flock(y, ex|nb)
		a.do("close", syscall.SYS_CLOSE, dup)
		flock(y, ex|nb)
		flock(y, un)
		flock(r, un)
		flock(d, ex|nb) // a directory
		path := a.open("open", syscall.SYS_OPENAT, d, cstr("f"), oPath, 0)
		flock(path, ex|nb)

		// fcntl: what descriptions hold against each other, and the process's.
		x = open(rw)
		lock := func(what string, fd, cmd int, typ, whence int16, start, n int64) {
			fl := syscall.Flock_t{Type: typ, Whence: whence, Start: start, Len: n}
			_, errno := a.sys(syscall.SYS_FCNTL, fd, cmd, ptr(&fl))
			mine := fl.Pid > 0
			a.logf("%s: %v, type %d, %d+%d, own pid %v, pid -1 %v", what, errname(errno), fl.Type, fl.Start, fl.Len, mine, fl.Pid == -1)
		}
		const rd, wr, no = syscall.F_RDLCK, syscall.F_WRLCK, syscall.F_UNLCK
		lock("ofd write", x, fOfdSetlk, wr, 0, 10, 10)
		lock("other, beside", y, fOfdSetlk, wr, 0, 20, 10)
		lock("other, over", y, fOfdSetlk, rd, 0, 15, 10)
		lock("who?", y, fOfdGetlk, rd, 0, 0, 0)
		lock("process over", y, syscall.F_SETLK, wr, 0, 0, 11)
		lock("process beside", y, syscall.F_SETLK, wr, 0, 0, 10)
		lock("process, read", y, syscall.F_SETLK, rd, 0, 2, 3)
		lock("process, of its own", x, syscall.F_GETLK, wr, 0, 0, 5)
		lock("ofd asks for the process's", x, fOfdGetlk, wr, 0, 0, 2)
		lock("in the middle", x, fOfdSetlk, no, 0, 13, 2)
		lock("now there is room", y, fOfdSetlk, wr, 0, 13, 2)
		lock("who?", y, fOfdGetlk, wr, 0, 10, 3)
		lock("who, behind?", y, fOfdGetlk, wr, 0, 15, 3)
		lock("to the end", x, fOfdSetlk, wr, 0, 100, 0)
		lock("far out", y, fOfdGetlk, wr, 0, 1<<40, 1)
		lock("backwards", y, fOfdSetlk, wr, 0, 60, -10)
		lock("who?", x, fOfdGetlk, wr, 0, 50, 1)
		lock("before the file", y, fOfdSetlk, wr, 0, 5, -10)
		lock("negative", y, fOfdSetlk, wr, 0, -1, 1)
		lock("from the end", y, fOfdSetlk, wr, 2, 0, 5)
		lock("whence", y, fOfdSetlk, wr, 7, 0, 5)
		lock("type", y, fOfdSetlk, 9, 0, 0, 5)
		lock("read-only, write", r, fOfdSetlk, wr, 0, 500, 5)
		lock("read-only, read", r, syscall.F_SETLK, rd, 0, 50, 0)
		lock("path", path, syscall.F_SETLK, rd, 0, 500, 5)
		fl := syscall.Flock_t{Type: wr, Pid: 5}
		a.do("a pid for a description", syscall.SYS_FCNTL, y, fOfdSetlk, ptr(&fl))
		// Closing any descriptor ends the process's locks, not the descriptions'.
		lock("process's", y, syscall.F_SETLK, wr, 0, 2000, 5)
		a.do("close", syscall.SYS_CLOSE, r)
		lock("process's?", x, fOfdGetlk, wr, 0, 5, 1)
		lock("description's?", x, fOfdGetlk, wr, 0, 13, 1)
		a.do("close", syscall.SYS_CLOSE, y)
		lock("description's?", x, fOfdGetlk, wr, 0, 13, 1)
	})
}

// TestLockWaits: calls that wait for a lock go on when it is free, and no earlier.
func TestLockWaits(t *testing.T) {
	p, _ := newProcess(t, Options{})
	a := &arm{t: t, p: p}
	open := func() int {
		return a.open("open", syscall.SYS_OPENAT, atFDCWD, cstr("/tmp/f"), syscall.O_RDWR|syscall.O_CREAT, 0o644)
	}
	x, y, z := open(), open(), open()
	flock := func(fd, how int) (*Call, *WaitPoint) {
		c := &Call{Trap: syscall.SYS_FLOCK, Arg: [6]uintptr{uintptr(fd), uintptr(how)}}
		_, _, errno, block := p.Syscall(c)
		if errno != 0 {
			t.Fatal(errno)
		}
		return c, block
	}
	again := func(c *Call) *WaitPoint {
		_, _, errno, block := p.Syscall(c)
		if errno != 0 {
			t.Fatal(errno)
		}
		return block
	}
	if _, block := flock(x, syscall.LOCK_EX); block != nil {
		t.Fatal("waits for nobody")
	}
	cy, by := flock(y, syscall.LOCK_EX)
	cz, bz := flock(z, syscall.LOCK_SH)
	if by == nil || bz == nil {
		t.Fatal("does not wait")
	}
	if by = again(cy); by == nil { // woken for nothing
		t.Fatal("got it while another had it")
	}
	woken := func(wp *WaitPoint) bool { return woken[wp.Waiter()] > 0 }
	a.do("close", syscall.SYS_CLOSE, x)
	if !woken(by) || !woken(bz) {
		t.Fatal("nobody was woken")
	}
	if again(cz) != nil {
		t.Fatal("still waits")
	}
	if by = again(cy); by == nil {
		t.Fatal("exclusive, beside a shared lock")
	}
	flock(z, syscall.LOCK_UN)
	if !woken(by) || again(cy) != nil {
		t.Fatal("still waits")
	}

	// fcntl, and the end of the process.
	fl := syscall.Flock_t{Type: syscall.F_WRLCK}
	c := &Call{Trap: syscall.SYS_FCNTL, Arg: [6]uintptr{uintptr(y), fOfdSetlkw}, Ptr: [6]unsafe.Pointer{2: ptr(&fl)}}
	if again(c) != nil {
		t.Fatal("waits for nobody")
	}
	c = &Call{Trap: syscall.SYS_FCNTL, Arg: [6]uintptr{uintptr(z), syscall.F_SETLKW}, Ptr: [6]unsafe.Pointer{2: ptr(&fl)}}
	if again(c) == nil {
		t.Fatal("does not wait")
	}
	n, _ := p.fs.Lookup(p.fs.Root(), "/tmp/f", true)
	p.Exit(0)
	if n.Attached != nil {
		t.Error("a process that ended left locks")
	}
}

func TestFileCallsAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		dir, d := a.arena(t)
		const rw, creat = syscall.O_RDWR, syscall.O_CREAT
		openat := func(path string, flags int) int {
			return a.open(fmt.Sprintf("open %s %#x", path, flags), syscall.SYS_OPENAT, d, cstr(path), flags, 0o644)
		}
		// O_DIRECT: whole sectors. What memory it takes depends on the device: ours is strict.
		f := openat("f", rw|creat|syscall.O_DIRECT)
		raw := make([]byte, 3*4096)
		skip := int(-uintptr(bytesPtr(raw)) & 4095)
		b := raw[skip : skip+8192]
		for _, c := range [][3]int{{0, 4096, 0}, {0, 511, 0}, {0, 512, 1}, {0, 512, 512}, {512, 512, 1024}, {0, 0, 0}, {0, 512, 4096}} {
			a.do(fmt.Sprint("direct write ", c), syscall.SYS_PWRITE64, f, bytesPtr(b[c[0]:]), c[1], c[2])
			a.do(fmt.Sprint("direct read ", c), syscall.SYS_PREAD64, f, bytesPtr(b[c[0]:]), c[1], c[2])
		}
		a.do("truncate", syscall.SYS_FTRUNCATE, f, 700)
		a.do("direct read of a short end", syscall.SYS_PREAD64, f, bytesPtr(b), 1024, 0)
		a.do("off", syscall.SYS_FCNTL, f, syscall.F_SETFL, 0)
		a.do("read", syscall.SYS_PREAD64, f, bytesPtr(b), 100, 1)

		// A file without a name gets one.
		tmp := a.open("tmpfile", syscall.SYS_OPENAT, d, cstr("."), rw|oTmpfile|syscall.O_DIRECTORY, 0o600)
		a.do("write", syscall.SYS_WRITE, tmp, bytesPtr([]byte("hello")), 5)
		a.stat("tmpfile", tmp, "", atEmptyPath)
		a.do("linkat", syscall.SYS_LINKAT, tmp, cstr(""), d, cstr("named"), atEmptyPath)
		a.stat("named", d, "named", 0)
		tmp = a.open("tmpfile", syscall.SYS_OPENAT, d, cstr("."), rw|oTmpfile|syscall.O_DIRECTORY, 0o600)
		a.do("by proc", syscall.SYS_LINKAT, atFDCWD, cstr(fmt.Sprint("/proc/self/fd/", tmp)), d, cstr("named2"), atFollow)
		a.stat("named2", d, "named2", 0)
		tmp = a.open("tmpfile excl", syscall.SYS_OPENAT, d, cstr("."), rw|oTmpfile|syscall.O_DIRECTORY|syscall.O_EXCL, 0o600)
		a.do("linkat", syscall.SYS_LINKAT, tmp, cstr(""), d, cstr("named3"), atEmptyPath)

		// /proc/self/fd.
		buf := make([]byte, 4096)
		where := func(fd int) {
			n, errno := a.sys(syscall.SYS_READLINKAT, atFDCWD, cstr(fmt.Sprint("/proc/self/fd/", fd)), bytesPtr(buf), len(buf))
			a.logf("link: %v %s", errno, strings.TrimPrefix(string(buf[:min(int(n), len(buf))]), dir))
		}
		where(f)
		where(d)
		a.do("rename", syscall.SYS_RENAMEAT, d, cstr("f"), d, cstr("g"))
		where(f)
		again := a.open("open by proc", syscall.SYS_OPENAT, atFDCWD, cstr(fmt.Sprint("/proc/self/fd/", f)), rw, 0)
		a.do("unlink", syscall.SYS_UNLINKAT, d, cstr("g"), 0)
		where(f)
		a.stat("unlinked", again, "", atEmptyPath)
		a.do("link of the unlinked", syscall.SYS_LINKAT, f, cstr(""), d, cstr("back"), atEmptyPath)

		// openat2.
		a.do("mkdir", syscall.SYS_MKDIRAT, d, cstr("sub"), 0o755)
		a.do("symlink", syscall.SYS_SYMLINKAT, cstr("../named"), d, cstr("sub/out"))
		a.do("symlink", syscall.SYS_SYMLINKAT, cstr("/"), d, cstr("sub/root"))
		a.do("symlink", syscall.SYS_SYMLINKAT, cstr("."), d, cstr("sub/self"))
		sub := openat("sub", syscall.O_DIRECTORY)
		type how struct{ flags, mode, resolve uint64 }
		for _, path := range []string{"out", "../named", "root/tmp", "self/new", "self/..", "/named", ".", ".."} {
			for _, h := range []how{{resolve: 0}, {resolve: 8}, {resolve: 16}, {resolve: 4}, {resolve: 24}, {flags: creat, mode: 0o600, resolve: 8}, {mode: 1}, {flags: 1 << 40}, {resolve: 64}} {
				if h.resolve == 0 && h.mode == 0 && h.flags == 0 && path[0] == '/' {
					continue // another root each
				}
				a.open(fmt.Sprint("openat2 ", path, h), sysOPENAT2, sub, cstr(path), ptr(&h), 24)
			}
		}
		var small how
		a.do("openat2 small", sysOPENAT2, sub, cstr("out"), ptr(&small), 8)

		// statx, access of descriptors, calls on O_PATH.
		var sx statxBuf
		path := openat("named", oPath)
		a.do("statx", sysSTATX, path, cstr(""), atEmptyPath, statxBasic, ptr(&sx))
		a.logf("%o %d links, size %d, blocks %d", sx.mode, sx.nlink, sx.size, sx.blocks)
		a.do("statx flags", sysSTATX, path, cstr(""), 1, statxBasic, ptr(&sx))
		a.do("read of a path", syscall.SYS_READ, path, bytesPtr(buf), 1)
		a.do("fsync of a path", syscall.SYS_FSYNC, path)
		a.do("fchmod of a path", syscall.SYS_FCHMOD, path, 0o777)
		a.do("getfl", syscall.SYS_FCNTL, path, syscall.F_GETFL, 0)
		a.do("lseek", syscall.SYS_LSEEK, path, 0, 0)
		link := openat("sub/out", oPath|syscall.O_NOFOLLOW)
		n, errno := a.sys(syscall.SYS_READLINKAT, link, cstr(""), bytesPtr(buf), len(buf))
		a.logf("readlink: %v %s", errno, buf[:min(int(n), 10)])
		var st syscall.Statfs_t
		_, errno = a.sys(syscall.SYS_FSTATFS, d, ptr(&st))
		a.logf("fstatfs: %v, block %d, name %d", errno, st.Bsize, st.Namelen)

		// Advice, ranges, attributes that are not there.
		g := openat("named", rw)
		a.do("fadvise", syscall.SYS_FADVISE64, g, 0, 0, 4)
		a.do("fadvise", syscall.SYS_FADVISE64, g, 0, 0, 17)
		a.do("readahead", syscall.SYS_READAHEAD, g, 0, 100)
		a.do("readahead", syscall.SYS_READAHEAD, d, 0, 100)
		a.do("sync_file_range", sysSYNCFILERANGE, g, 0, 0, 7)
		a.do("sync_file_range", sysSYNCFILERANGE, g, 0, 0, 8)
		a.do("sync_file_range", sysSYNCFILERANGE, g, -1, 0, 7)
		a.do("syncfs", sysSYNCFS, g)
		a.do("syncfs", sysSYNCFS, 999)
	})
}
