//go:build linux && (amd64 || arm64)

package kernel

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// stat logs what stat tells of a path.
func (a *arm) stat(what string, dir int, path string, flags int) {
	var st syscall.Stat_t
	_, errno := a.sys(sysFSTATAT, dir, cstr(path), ptr(&st), flags)
	if errno != 0 {
		a.logf("%s: %s", what, errname(errno))
		return
	}
	size := st.Size
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		size = -1
	}
	a.logf("%s: mode %o, %d links, size %d", what, st.Mode, st.Nlink, size)
}

// list logs the names in a directory.
func (a *arm) list(dir int) {
	var names []string
	buf := make([]byte, 100)
	a.sys(syscall.SYS_LSEEK, dir, 0, 0)
	for {
		n, errno := a.sys(syscall.SYS_GETDENTS64, dir, bytesPtr(buf), len(buf))
		if errno != 0 {
			a.logf("getdents: %s", errname(errno))
			return
		}
		if n == 0 {
			break
		}
		for rest := buf[:n]; len(rest) > 0; {
			size := *(*uint16)(unsafe.Pointer(&rest[16]))
			names = append(names, fmt.Sprintf("%s/%d", zeroEnded(rest[19:size]), rest[18]))
			rest = rest[size:]
		}
	}
	sort.Strings(names)
	a.logf("list: %v", names)
}

func TestFilesAsOnTheMachine(t *testing.T) {
	dir := t.TempDir()
	onBoth(t, func(a *arm) {
		if a.p != nil {
			dir = "/tmp/test"
			a.sys(syscall.SYS_MKDIRAT, atFDCWD, cstr(dir), 0o755)
		} else {
			defer syscall.Umask(syscall.Umask(0o022))
		}
		d := a.open("open dir", syscall.SYS_OPENAT, atFDCWD, cstr(dir), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		openat := func(path string, flags, mode int) int {
			return a.open(fmt.Sprintf("openat %.20q %#o", path, flags), syscall.SYS_OPENAT, d, cstr(path), flags, mode)
		}
		const rw = syscall.O_RDWR
		openat("nothing", 0, 0)
		openat("", 0, 0)
		f := openat("f", rw|syscall.O_CREAT|syscall.O_EXCL, 0o666)
		openat("f", rw|syscall.O_CREAT|syscall.O_EXCL, 0o666)
		openat("f/x", 0, 0)
		openat("f/", 0, 0)
		openat("f", syscall.O_DIRECTORY, 0)
		openat("new/", rw|syscall.O_CREAT, 0o666)
		openat("no/new", rw|syscall.O_CREAT, 0o666)
		openat(strings.Repeat("n", 256), rw|syscall.O_CREAT, 0o666)
		openat(strings.Repeat("n", 255), rw|syscall.O_CREAT, 0o600)
		openat(strings.Repeat("n/", 2100), 0, 0)
		openat(".", rw, 0)
		a.do("F_GETFL", syscall.SYS_FCNTL, f, syscall.F_GETFL, 0)
		a.do("open null", syscall.SYS_OPENAT, d, 0, 0, 0)

		buf := make([]byte, 10000)
		read := func(fd, n int) {
			clear(buf)
			r, errno := a.sys(syscall.SYS_READ, fd, bytesPtr(buf), n)
			a.logf("read %d: %d %v %d", n, int(r), errno, bytes.Count(buf, []byte{'a'}))
		}
		write := func(fd int, s string) { a.do("write", syscall.SYS_WRITE, fd, bytesPtr([]byte(s)), len(s)) }
		write(f, "hello")
		read(f, 10)
		a.do("pread", syscall.SYS_PREAD64, f, bytesPtr(buf), 3, 1)
		a.logf("%q", buf[:3])
		a.do("pread negative", syscall.SYS_PREAD64, f, bytesPtr(buf), 3, -1)
		a.do("pread beyond", syscall.SYS_PREAD64, f, bytesPtr(buf), 3, 100)
		a.do("pwrite", syscall.SYS_PWRITE64, f, bytesPtr(bytes.Repeat([]byte("a"), 5000)), 5000, 4000)
		a.do("seek", syscall.SYS_LSEEK, f, 0, 0)
		read(f, 10000)
		for _, s := range [][2]int{{-3, 2}, {5, 1}, {-100000, 1}, {10, 9}, {100, 3}, {100, 4}, {1 << 20, 3}, {1 << 20, 0}} {
			a.do(fmt.Sprint("seek ", s), syscall.SYS_LSEEK, f, s[0], s[1])
		}
		read(f, 10)
		a.do("ftruncate", syscall.SYS_FTRUNCATE, f, 4500)
		a.do("ftruncate up", syscall.SYS_FTRUNCATE, f, 6000)
		a.do("ftruncate negative", syscall.SYS_FTRUNCATE, f, -1)
		a.do("seek", syscall.SYS_LSEEK, f, 0, 0)
		read(f, 10000)
		r := openat("f", syscall.O_RDONLY, 0)
		write(r, "x")
		a.do("ftruncate read-only", syscall.SYS_FTRUNCATE, r, 1)
		w := openat("f", syscall.O_WRONLY|syscall.O_APPEND, 0)
		read(w, 1)
		write(w, "appended")
		a.do("seek", syscall.SYS_LSEEK, w, 0, 1)
		read(d, 1)
		write(d, "x")
		parts := []syscall.Iovec{{Base: &buf[0], Len: 3}, {Base: &buf[3], Len: 4}}
		a.do("seek", syscall.SYS_LSEEK, f, 5998, 0)
		a.do("readv", syscall.SYS_READV, f, ptr(&parts[0]), 2)
		a.logf("%q", buf[:7])
		a.do("writev", syscall.SYS_WRITEV, f, ptr(&parts[0]), 2)
		a.do("fsync", syscall.SYS_FSYNC, f)
		a.do("fdatasync", syscall.SYS_FDATASYNC, d)
		a.stat("f", d, "f", 0)
		a.stat("dir", d, ".", 0)

		mkdir := func(path string) { a.do("mkdir "+path, syscall.SYS_MKDIRAT, d, cstr(path), 0o777) }
		mkdir("sub")
		mkdir("sub")
		mkdir("f")
		mkdir("f/x")
		mkdir("a/b")
		mkdir("slash/")
		mkdir(".")
		mkdir("sub/deep")
		a.stat("sub", d, "sub", 0)
		a.stat("dir", d, ".", 0)
		link := func(old, new string) {
			a.do("link "+old+" "+new, syscall.SYS_LINKAT, d, cstr(old), d, cstr(new), 0)
		}
		link("f", "g")
		link("f", "g")
		link("sub", "h")
		link("nothing", "h")
		a.stat("f", d, "f", 0)
		symlink := func(target, path string) {
			a.do("symlink "+path, syscall.SYS_SYMLINKAT, cstr(target), d, cstr(path))
		}
		symlink("f", "s")
		symlink("loop", "loop")
		symlink("nothing", "dangling")
		symlink("sub", "tosub")
		symlink("x", "f")
		symlink("", "empty")
		a.stat("s", d, "s", 0)
		a.stat("s itself", d, "s", atNoFollow)
		a.stat("loop", d, "loop", 0)
		a.stat("through", d, "tosub/deep/../deep", 0)
		a.stat("tosub/", d, "tosub/", atNoFollow)
		a.stat("s/", d, "s/", 0)
		a.stat("by descriptor", f, "", atEmptyPath)
		a.stat("bad descriptor", 1<<30, "f", 0)
		a.stat("file as directory", f, "f", 0)
		openat("s", syscall.O_NOFOLLOW, 0)
		openat("dangling", rw|syscall.O_CREAT|syscall.O_EXCL, 0o644)
		openat("dangling", rw|syscall.O_CREAT, 0o644)
		a.stat("made by a link", d, "nothing", 0)
		a.do("readlink", syscall.SYS_READLINKAT, d, cstr("tosub"), bytesPtr(buf), 2)
		a.do("readlink of file", syscall.SYS_READLINKAT, d, cstr("f"), bytesPtr(buf), 2)
		a.do("readlink 0", syscall.SYS_READLINKAT, d, cstr("tosub"), bytesPtr(buf), 0)
		a.do("access", syscall.SYS_FACCESSAT, d, cstr("f"), 6)
		a.do("access nothing", syscall.SYS_FACCESSAT, d, cstr("nothing at all"), 0)
		a.do("access wrong", syscall.SYS_FACCESSAT, d, cstr("f"), 99)

		rename := func(old, new string) {
			a.do("rename "+old+" "+new, syscall.SYS_RENAMEAT, d, cstr(old), d, cstr(new))
		}
		rename("none", "x")
		rename("f", "sub")
		rename("sub", "f")
		rename("sub", "sub/deep/x")
		rename("f", "f")
		rename("f", "g")
		rename("f", "sub/f")
		rename("sub/f", "f2/")
		rename("sub/f", "f2")
		rename("sub", "slash")
		rename("slash/deep", "deep")
		rename("deep", ".")
		rename("deep", "slash/")
		rename("s", "s2")
		a.do("renameat2 noreplace", sysRENAMEAT2, d, cstr("s2"), d, cstr("f2"), renameNoRepl)
		a.do("renameat2 wrong", sysRENAMEAT2, d, cstr("s2"), d, cstr("f2"), 64)
		a.list(d)
		unlink := func(path string, flags int) {
			a.do(fmt.Sprint("unlink ", path, " ", flags), syscall.SYS_UNLINKAT, d, cstr(path), flags)
		}
		mkdir("full")
		mkdir("full/x")
		unlink("none", 0)
		unlink("full", 0)
		unlink("full", atRemoveDir)
		unlink("f2", atRemoveDir)
		unlink("f2/", 0)
		unlink("full/.", atRemoveDir)
		unlink("full/..", atRemoveDir)
		unlink("full/x", atRemoveDir)
		x := openat("full", 0, 0)
		unlink("full", atRemoveDir)
		a.do("make in removed", syscall.SYS_OPENAT, x, cstr("y"), rw|syscall.O_CREAT, 0o600)
		a.do("mkdir in removed", syscall.SYS_MKDIRAT, x, cstr("y"), 0o700)
		a.list(x)
		a.stat("removed", x, "", atEmptyPath)
		unlink("f2", 0)
		unlink("s2", 0)
		a.stat("still open", f, "", atEmptyPath)
		a.stat("g", d, "g", 0)
		a.do("chmod", syscall.SYS_FCHMODAT, d, cstr("g"), 0o640)
		a.stat("g", d, "g", 0)
		a.do("fchmod", syscall.SYS_FCHMOD, d, 0o711)
		times := [2]syscall.Timespec{{Sec: 5, Nsec: 7}, {Sec: 6, Nsec: 8}}
		a.do("utimensat", syscall.SYS_UTIMENSAT, d, cstr("g"), ptr(&times), 0)
		var st syscall.Stat_t
		a.do("stat", sysFSTATAT, d, cstr("g"), ptr(&st), 0)
		a.logf("%v %v", st.Atim, st.Mtim)
		times[0].Nsec = -1
		a.do("utimensat wrong", syscall.SYS_UTIMENSAT, d, cstr("g"), ptr(&times), 0)
		tr := openat("g", rw|syscall.O_TRUNC, 0)
		a.stat("truncated", tr, "", atEmptyPath)
		a.list(d)
		a.list(f)

		z := a.open("zero", syscall.SYS_OPENAT, atFDCWD, cstr("/dev/zero"), rw, 0)
		read(z, 10)
		write(z, "x")
		full := a.open("full", syscall.SYS_OPENAT, atFDCWD, cstr("/dev/full"), rw, 0)
		write(full, "x")
		null := a.open("null", syscall.SYS_OPENAT, atFDCWD, cstr("/dev/null"), rw|syscall.O_CREAT|syscall.O_TRUNC, 0o644)
		read(null, 10)
		write(null, "x")
		a.do("fsync null", syscall.SYS_FSYNC, null)
		a.do("ftruncate null", syscall.SYS_FTRUNCATE, null, 0)
	})
}

func TestSystemFiles(t *testing.T) {
	p, _ := newProcess(t, Options{Args: []string{"/opt/service", "-v"}})
	a := &arm{t: t, p: p}
	read := func(path string) string {
		fd, errno := a.sys(syscall.SYS_OPENAT, atFDCWD, cstr(path), syscall.O_RDONLY, 0)
		if errno != 0 {
			t.Fatalf("%s: %v", path, errno)
		}
		b := make([]byte, 4096)
		n, _ := a.sys(syscall.SYS_READ, int(fd), bytesPtr(b), len(b))
		a.sys(syscall.SYS_CLOSE, int(fd))
		return string(b[:n])
	}
	if got := read("/etc/hosts"); !strings.Contains(got, "10.0.0.1") {
		t.Errorf("/etc/hosts: %q", got)
	}
	for path, want := range map[string]string{
		"/proc/self/cmdline":           "/opt/service\x00-v\x00",
		"/proc/sys/net/core/somaxconn": "4096\n",
	} {
		if got := read(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	b := make([]byte, 100)
	n, errno := a.sys(syscall.SYS_READLINKAT, atFDCWD, cstr("/proc/self/exe"), bytesPtr(b), len(b))
	if errno != 0 || string(b[:n]) != "/usr/local/bin/service" {
		t.Errorf("/proc/self/exe: %q, %v", b[:n], errno)
	}
	if _, errno := a.sys(syscall.SYS_OPENAT, atFDCWD, cstr("/proc/self/cmdline"), syscall.O_RDWR, 0); errno != syscall.EACCES {
		t.Errorf("a generated file opened for writing: %v", errno)
	}
	before := read("/etc/resolv.conf")
	fd, errno := a.sys(syscall.SYS_OPENAT, atFDCWD, cstr("/etc/resolv.conf"), syscall.O_WRONLY|syscall.O_APPEND, 0)
	if errno != 0 {
		t.Fatalf("/etc/resolv.conf opened for writing: %v", errno)
	}
	a.sys(syscall.SYS_WRITE, int(fd), cstr("#"), 1)
	if got := read("/etc/resolv.conf"); got != before+"#" || before == "" {
		t.Errorf("/etc/resolv.conf: %q, want %q and a #", got, before)
	}
}
