//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// mem is memory at an address that mmap returned.
func mem(addr uintptr, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), addr)), n)
}

func TestMappingsAsOnTheMachine(t *testing.T) {
	onBoth(t, func(a *arm) {
		_, d := a.arena(t)
		const rw, page = syscall.O_RDWR | syscall.O_CREAT, 4096
		const pr, pw = syscall.PROT_READ, syscall.PROT_WRITE
		open := func(path string, flags int) int {
			return a.open("open "+path, syscall.SYS_OPENAT, d, cstr(path), flags, 0o644)
		}
		mmap := func(what string, size, prot, flags, fd, off int) uintptr {
			r, errno := a.sys(syscall.SYS_MMAP, 0, size, prot, flags, fd, off)
			a.logf("mmap %s: %v", what, errno)
			return r
		}
		write := func(fd int, s string, off int) {
			a.do("write", syscall.SYS_PWRITE64, fd, bytesPtr([]byte(s)), len(s), off)
		}
		read := func(fd, n, off int) {
			b := make([]byte, n)
			r, errno := a.sys(syscall.SYS_PREAD64, fd, bytesPtr(b), n, off)
			a.logf("read: %d %v %q", int(r), errno, b)
		}
		f := open("f", rw)
		write(f, "hello, world", 0)
		write(f, "end", 2*page-3)
		s := mmap("shared", 2*page, pr|pw, syscall.MAP_SHARED, f, 0)
		q := mmap("private", 2*page, pr|pw, syscall.MAP_PRIVATE, f, 0)
		other := mmap("second page", page, pr, syscall.MAP_SHARED, f, page)
		a.logf("%q %q %q", mem(s, 12), mem(q, 5), mem(other, page)[page-3:])
		write(f, "J", 0)
		copy(mem(s, page)[7:], "there")
		copy(mem(q, page)[1:], "PRIV")
		a.logf("%q %q", mem(s, 12), mem(q, 12))
		read(f, 12, 0)
		write(f, "later", 1)
		a.logf("%q %q", mem(s, 12), mem(q, 12))
		copy(mem(s, 2*page)[page:], "two")
		a.logf("%q", mem(other, 3))
		a.do("truncate", syscall.SYS_FTRUNCATE, f, 5)
		a.logf("%q", mem(s, 12))
		copy(mem(s, page)[10:], "beyond")
		a.do("truncate", syscall.SYS_FTRUNCATE, f, 3*page)
		a.logf("%q", mem(s, 20))
		read(f, 20, 0)
		a.do("punch", syscall.SYS_FALLOCATE, f, 3, 0, page)
		a.logf("%q", mem(s, 5))
		copy(mem(s, page), "again")
		a.do("copy_file_range", sysCOPYFILERANGE, f, 0, open("copy", rw), 0, 8, 0)
		a.do("lseek", syscall.SYS_LSEEK, f, 0, 0)
		a.do("msync", syscall.SYS_MSYNC, int(s), 2*page, syscall.MS_SYNC)
		a.do("msync flags", syscall.SYS_MSYNC, int(s), page, syscall.MS_SYNC|syscall.MS_ASYNC)
		a.do("msync unaligned", syscall.SYS_MSYNC, int(s)+1, page, syscall.MS_SYNC)
		a.do("mprotect", syscall.SYS_MPROTECT, int(s), page, pr)
		a.do("mprotect back", syscall.SYS_MPROTECT, int(s), page, pr|pw)
		a.do("madvise", syscall.SYS_MADVISE, int(s), page, syscall.MADV_DONTNEED)
		a.logf("%q", mem(s, 5))
		a.do("mlock", syscall.SYS_MLOCK, int(s), page)
		vec := make([]byte, 2)
		a.do("mincore", syscall.SYS_MINCORE, int(s), 2*page, bytesPtr(vec))
		a.do("close", syscall.SYS_CLOSE, f) // the mapping stays
		copy(mem(s, page), "still")
		f = open("f", syscall.O_RDWR)
		read(f, 5, 0)
		a.do("unmap the first page", syscall.SYS_MUNMAP, int(s), page)
		copy(mem(s+page, 3), "2nd")
		read(f, 3, page)
		a.do("unmap the rest", syscall.SYS_MUNMAP, int(s), 2*page)
		read(f, 3, page)
		a.do("unmap nothing", syscall.SYS_MUNMAP, int(s), page)
		a.do("unmap unaligned", syscall.SYS_MUNMAP, int(s)+1, page)
		a.do("unmap", syscall.SYS_MUNMAP, int(q), 2*page)
		a.do("unmap", syscall.SYS_MUNMAP, int(other), page)

		// What may not be mapped.
		r, w, p := open("f", syscall.O_RDONLY), open("f", syscall.O_WRONLY), open("f", oPath)
		mmap("write to read-only", page, pr|pw, syscall.MAP_SHARED, r, 0)
		mmap("write-only", page, pr, syscall.MAP_SHARED, w, 0)
		mmap("a path", page, pr, syscall.MAP_SHARED, p, 0)
		mmap("a directory", page, pr, syscall.MAP_SHARED, d, 0)
		mmap("no descriptor", page, pr, syscall.MAP_SHARED, 1<<29, 0)
		mmap("offset", page, pr, syscall.MAP_SHARED, r, 1)
		mmap("nothing", 0, pr, syscall.MAP_SHARED, r, 0)
		mmap("neither", page, pr, 0, r, 0)
		ro := mmap("read-only", page, pr, syscall.MAP_SHARED, r, 0)
		a.do("mprotect read-only", syscall.SYS_MPROTECT, int(ro), page, pr|pw)
		cow := mmap("private of read-only", page, pr|pw, syscall.MAP_PRIVATE, r, 0)
		mem(cow, 1)[0] = 'x'
		read(r, 1, 0)

		// No file at all; growing.
		anon := mmap("anonymous", page, pr|pw, syscall.MAP_PRIVATE|syscall.MAP_ANON, -1, 0)
		mem(anon, 1)[0] = 'x'
		grown, errno := a.sys(syscall.SYS_MREMAP, int(anon), page, 4*page, 1)
		a.logf("mremap: %v %q", errno, mem(grown, 4*page)[:1])
		a.do("unmap", syscall.SYS_MUNMAP, int(grown), 4*page)
		big := mmap("with room", 64*page, pr|pw, syscall.MAP_SHARED, f, 0)
		a.do("grow", syscall.SYS_FTRUNCATE, f, 1<<25)
		copy(mem(big, 64*page)[63*page:], "far")
		read(f, 3, 63*page)
		a.do("unmap", syscall.SYS_MUNMAP, int(big), 64*page)
		for _, m := range []uintptr{ro, cow} {
			a.do("unmap", syscall.SYS_MUNMAP, int(m), page)
		}
	})
}

// TestMappingLife: what a process that dies stored is in the page cache, and as
// durable as what it wrote.
func TestMappingLife(t *testing.T) {
	kept := map[string]int{}
	for seed := range uint64(60) {
		p, _ := newProcess(t, Options{})
		a := &arm{t: t, p: p}
		fs := p.fs
		f := a.open("open", syscall.SYS_OPENAT, atFDCWD, cstr("/var/lib/f"), syscall.O_RDWR|syscall.O_CREAT, 0o644)
		a.do("truncate", syscall.SYS_FTRUNCATE, f, 8192)
		at, errno := a.sys(syscall.SYS_MMAP, 0, 8192, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED, f, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		b := mem(at, 8192)
		copy(b, "synced")
		if _, errno := a.sys(syscall.SYS_MSYNC, int(at), 8192, syscall.MS_SYNC); errno != 0 {
			t.Fatal(errno)
		}
		copy(b, "stored")
		copy(b[4096:], "stored")
		p.Exit(137)
		copy(b, "nobody's") // harmless
		got, err := fs.ReadFile("/var/lib/f")
		if err != nil || string(got[:6]) != "stored" || string(got[4096:4102]) != "stored" {
			t.Fatalf("after the process died: %q, %v", got[:6], err)
		}
		fs.PowerLoss(sched.NewStream(seed))
		got, _ = fs.ReadFile("/var/lib/f")
		kept[fmt.Sprintf("%q %q", got[:6], got[4096:4102])]++
	}
	for _, want := range []string{`"synced" "\x00\x00\x00\x00\x00\x00"`, `"synced" "stored"`, `"stored" "\x00\x00\x00\x00\x00\x00"`, `"stored" "stored"`} {
		if kept[want] == 0 {
			t.Errorf("in no run %s was left: %v", want, kept)
		}
	}
	if len(kept) != 4 {
		t.Errorf("left: %v", kept)
	}
}

// TestNothingStays: worlds whose processes die with mappings leave no descriptors
// and no memory of the machine's behind.
func TestNothingStays(t *testing.T) {
	count := func() (fds, maps int) {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return len(names), strings.Count(string(text), "memfd:dst")
	}
	fds, maps := count()
	for range 20 {
		w := sched.New(1)
		net := simnet.New(w)
		k := New(w, net)
		p := k.Boot(w.NewHost("a"), net.AddHost("a"), simfs.New(w, "a"), Options{})
		a := &arm{t: t, p: p}
		for _, path := range []string{"/tmp/f", "/tmp/g"} {
			f := a.open("open", syscall.SYS_OPENAT, atFDCWD, cstr(path), syscall.O_RDWR|syscall.O_CREAT, 0o644)
			a.sys(syscall.SYS_FTRUNCATE, f, 1<<20)
			for range 3 {
				if _, errno := a.sys(syscall.SYS_MMAP, 0, 1<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED, f, 0); errno != 0 {
					t.Fatal(errno)
				}
			}
		}
		if _, now := count(); now != maps+8 {
			t.Fatalf("%d mappings, want %d: three of the program's for each file, and ours", now-maps, 8)
		}
		p.Exit(137)
		if f, m := count(); f != fds || m != maps {
			t.Fatalf("a dead process leaves %d descriptors and %d mappings", f-fds, m-maps)
		}
		k.Close()
	}
}
