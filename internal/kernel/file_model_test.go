//go:build linux && (amd64 || arm64)

package kernel

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// twin is a directory on the machine and one on a simulated disk, to which the
// same calls go.
type twin struct {
	t     *rapid.T
	real  *arm
	ours  *arm
	dirs  [2]int // descriptors of the two
	files [][2]int
	paths []string

	reserved bool // space was: what of it counts as data is the file system's choice
}

func (w *twin) arms() [2]*arm { return [2]*arm{w.real, w.ours} }

// both makes a call on both sides and compares results and errnos. Arguments are
// ints, pointers, or functions that give one for each side.
func (w *twin) both(name string, trap uintptr, args ...any) (uintptr, syscall.Errno) {
	var r [2]uintptr
	var errno [2]syscall.Errno
	for i, a := range w.arms() {
		mine := make([]any, len(args))
		for k, v := range args {
			if f, ok := v.(func(side int) any); ok {
				v = f(i)
			}
			mine[k] = v
		}
		r[i], errno[i] = a.sys(trap, mine...)
	}
	if errno[0] != errno[1] || errno[0] == 0 && r[0] != r[1] {
		w.t.Fatalf("%s: the machine says %d, %v; we say %d, %v", name, int(r[0]), errno[0], int(r[1]), errno[1])
	}
	return r[0], errno[0]
}

func (w *twin) dir() any { return func(side int) any { return w.dirs[side] } }

// names are few, so that they meet; some lead through directories and links.
var modelNames = []string{"a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/a", "l", "l/a", "m", ".", "..", "d/..", "a/", "d/", "l/", "a/b", "d/.", "./c", "d//a", "d/../b"}

func (w *twin) path() string { return rapid.SampledFrom(modelNames).Draw(w.t, "path") }

func (w *twin) file() (any, bool) {
	if len(w.files) == 0 {
		return nil, false
	}
	f := w.files[rapid.IntRange(0, len(w.files)-1).Draw(w.t, "file")]
	return func(side int) any { return f[side] }, true
}

// content makes bytes that tell where they came from.
func (w *twin) content() []byte {
	n := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 9000)).Draw(w.t, "length")
	return bytes.Repeat([]byte{byte(rapid.IntRange('a', 'z').Draw(w.t, "letter"))}, n)
}

func (w *twin) offset() int {
	return rapid.OneOf(rapid.IntRange(-1, 40), rapid.IntRange(0, 20000), rapid.SampledFrom([]int{4095, 4096, 4097, 8192})).Draw(w.t, "offset")
}

// buffers returns one buffer for each side, and a function that compares them.
func (w *twin) buffers(n int) (any, [2][]byte) {
	b := [2][]byte{make([]byte, max(1, n)), make([]byte, max(1, n))}
	return func(side int) any { return bytesPtr(b[side]) }, b
}

func (w *twin) same(what string, b [2][]byte, n uintptr) {
	if !bytes.Equal(b[0][:n], b[1][:n]) {
		w.t.Fatalf("%s: the machine has %.80q, we have %.80q", what, b[0][:n], b[1][:n])
	}
}

func (w *twin) actions() map[string]func(*rapid.T) {
	const creat, excl, trunc = syscall.O_CREAT, syscall.O_EXCL, syscall.O_TRUNC
	return map[string]func(*rapid.T){
		"open": func(t *rapid.T) {
			w.t = t
			if len(w.files) > 12 {
				t.Skip()
			}
			path := w.path()
			flags := rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "access")
			for _, f := range []int{creat, excl, trunc, syscall.O_APPEND, syscall.O_NOFOLLOW, syscall.O_DIRECTORY, oPath, syscall.O_SYNC, oTmpfile | syscall.O_DIRECTORY, syscall.O_NOATIME} {
				odds := 7
				if f == creat {
					odds = 1
				}
				if rapid.IntRange(0, odds).Draw(t, "flag") == 0 {
					flags |= f
				}
			}
			if flags&(excl|creat) == excl {
				flags &^= excl // undefined
			}
			w.open(path, flags)
		},
		"close": func(t *rapid.T) {
			w.t = t
			if len(w.files) == 0 {
				t.Skip()
			}
			i := rapid.IntRange(0, len(w.files)-1).Draw(t, "file")
			f := w.files[i]
			w.both("close", syscall.SYS_CLOSE, func(side int) any { return f[side] })
			w.files = append(w.files[:i], w.files[i+1:]...)
		},
		"write": func(t *rapid.T) {
			w.t = t
			f, ok := w.file()
			if !ok {
				t.Skip()
			}
			b := w.content()
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				w.both("write", syscall.SYS_WRITE, f, bytesPtr(append(b, 0)), len(b))
			case 1:
				off := w.offset()
				w.both(fmt.Sprint("pwrite at ", off), syscall.SYS_PWRITE64, f, bytesPtr(append(b, 0)), len(b), off)
			default:
				b = append(b, "xyz"...)
				v := []syscall.Iovec{{Base: &b[0], Len: 1}, {Base: &b[1], Len: uint64(len(b) - 1)}}
				off := w.offset()
				w.both("pwritev2", sysPWRITEV2, f, ptr(&v[0]), 2, off, 0, rapid.SampledFrom([]int{0, rwfDsync, rwfAppend, 0x100000}).Draw(t, "rwf"))
			}
		},
		"read": func(t *rapid.T) {
			w.t = t
			f, ok := w.file()
			if !ok {
				t.Skip()
			}
			n := rapid.IntRange(0, 9000).Draw(t, "n")
			p, b := w.buffers(n)
			if rapid.Bool().Draw(t, "positioned") {
				if got, errno := w.both("pread", syscall.SYS_PREAD64, f, p, n, w.offset()); errno == 0 {
					w.same("pread", b, got)
				}
			} else if got, errno := w.both("read", syscall.SYS_READ, f, p, n); errno == 0 {
				w.same("read", b, got)
			}
		},
		"seek": func(t *rapid.T) {
			w.t = t
			f, ok := w.file()
			if !ok {
				t.Skip()
			}
			off, whence := w.offset(), rapid.IntRange(0, 5).Draw(t, "whence")
			if whence >= 2 {
				// The size of a directory, and what is data there, is its file system's.
				var st [2]syscall.Stat_t
				w.both("fstat", syscall.SYS_FSTAT, f, func(side int) any { return ptr(&st[side]) })
				if st[0].Mode&syscall.S_IFMT != syscall.S_IFREG || whence > 2 && w.reserved {
					t.Skip()
				}
			}
			w.both(fmt.Sprint("lseek ", off, whence), syscall.SYS_LSEEK, f, off, whence)
		},
		"truncate": func(t *rapid.T) {
			w.t = t
			size := w.offset()
			if f, ok := w.file(); ok && rapid.Bool().Draw(t, "open") {
				w.both("ftruncate", syscall.SYS_FTRUNCATE, f, size)
			} else if path := w.path(); path != "" {
				w.both("truncate "+path, syscall.SYS_TRUNCATE, func(side int) any { return cstr(w.paths[side] + "/" + path) }, size)
			}
		},
		"fallocate": func(t *rapid.T) {
			w.t = t
			f, ok := w.file()
			if !ok {
				t.Skip()
			}
			mode := rapid.SampledFrom([]int{0, 1, 3, 2, 0x10, 0x11, 0x400}).Draw(t, "mode")
			w.reserved = w.reserved || mode&2 == 0
			w.both(fmt.Sprintf("fallocate %#x", mode), syscall.SYS_FALLOCATE, f, mode, w.offset(), w.offset())
		},
		"mkdir": func(t *rapid.T) {
			w.t = t
			w.both("mkdir", syscall.SYS_MKDIRAT, w.dir(), cstr(w.path()), 0o777)
		},
		"mknod": func(t *rapid.T) {
			w.t = t
			mode := rapid.SampledFrom([]int{syscall.S_IFREG | 0o644, syscall.S_IFIFO | 0o600, syscall.S_IFSOCK | 0o600}).Draw(t, "mode")
			w.both("mknod", syscall.SYS_MKNODAT, w.dir(), cstr(w.path()), mode, 0)
		},
		"unlink": func(t *rapid.T) {
			w.t = t
			path, flags := w.path(), rapid.SampledFrom([]int{0, 0, atRemoveDir}).Draw(t, "flags")
			w.both(fmt.Sprint("unlink ", path, " ", flags), syscall.SYS_UNLINKAT, w.dir(), cstr(path), flags)
		},
		"rename": func(t *rapid.T) {
			w.t = t
			old, new := w.path(), w.path()
			flags := rapid.SampledFrom([]int{0, 0, 0, renameNoRepl, renameExch}).Draw(t, "flags")
			w.both(fmt.Sprintf("rename %s %s %d", old, new, flags), sysRENAMEAT2, w.dir(), cstr(old), w.dir(), cstr(new), flags)
		},
		"link": func(t *rapid.T) {
			w.t = t
			old, new := w.path(), w.path()
			if f, ok := w.file(); ok && rapid.IntRange(0, 2).Draw(t, "by descriptor") == 0 {
				w.both("link of a descriptor to "+new, syscall.SYS_LINKAT, f, cstr(""), w.dir(), cstr(new), atEmptyPath)
				return
			}
			w.both(fmt.Sprintf("link %s %s", old, new), syscall.SYS_LINKAT, w.dir(), cstr(old), w.dir(), cstr(new), rapid.SampledFrom([]int{0, atFollow}).Draw(t, "flags"))
		},
		"symlink": func(t *rapid.T) {
			w.t = t
			target := rapid.SampledFrom([]string{"a", "d", "l", "../b", "d/e", "nothing", "./d/"}).Draw(t, "target")
			path := w.path()
			w.both("symlink "+target+" "+path, syscall.SYS_SYMLINKAT, cstr(target), w.dir(), cstr(path))
		},
		"chmod": func(t *rapid.T) {
			w.t = t
			path := w.path()
			mode := rapid.SampledFrom([]int{0, 0o777, 0o4755, 0o2711, 0o1755}).Draw(t, "mode")
			w.both("chmod "+path, syscall.SYS_FCHMODAT, w.dir(), cstr(path), mode)
			w.both("chown "+path, syscall.SYS_FCHOWNAT, w.dir(), cstr(path), rapid.IntRange(-1, 3).Draw(t, "uid"), -1, rapid.SampledFrom([]int{0, atNoFollow}).Draw(t, "flags"))
		},
		"utimens": func(t *rapid.T) {
			w.t = t
			path := w.path()
			ts := [2]syscall.Timespec{{Sec: 1, Nsec: 5}, {Sec: 1e9, Nsec: rapid.SampledFrom([]int64{0, utimeOmit, 1e9}).Draw(t, "nsec")}}
			w.both("utimensat "+path, syscall.SYS_UTIMENSAT, w.dir(), cstr(path), ptr(&ts), rapid.SampledFrom([]int{0, atNoFollow}).Draw(t, "flags"))
		},
		"access": func(t *rapid.T) {
			w.t = t
			path, mode := w.path(), rapid.IntRange(0, 8).Draw(t, "mode")
			w.both(fmt.Sprint("access ", path, mode), sysFACCESSAT2, w.dir(), cstr(path), mode, rapid.SampledFrom([]int{0, atNoFollow, atEaccess}).Draw(t, "flags"))
		},
		"copy": func(t *rapid.T) {
			w.t = t
			from, ok := w.file()
			if !ok {
				t.Skip()
			}
			to, _ := w.file()
			var offs [2]int64
			offs[0] = int64(w.offset())
			offs[1] = offs[0]
			w.both("copy_file_range", sysCOPYFILERANGE, from, func(side int) any { return ptr(&offs[side]) }, to, 0, w.offset(), 0)
			if offs[0] != offs[1] {
				t.Fatalf("copy_file_range left offsets %d", offs)
			}
		},
		"sync": func(t *rapid.T) {
			w.t = t
			if f, ok := w.file(); ok {
				w.both("fdatasync", syscall.SYS_FDATASYNC, f)
				w.both("fcntl", syscall.SYS_FCNTL, f, syscall.F_GETFL, 0)
			}
		},
		"": func(t *rapid.T) {
			w.t = t
			w.compare("")
		},
	}
}

// open opens a file on both sides and keeps the descriptors.
func (w *twin) open(path string, flags int) {
	var fds [2]int
	var errno [2]syscall.Errno
	for i, a := range w.arms() {
		var r uintptr
		r, errno[i] = a.sys(syscall.SYS_OPENAT, w.dirs[i], cstr(path), flags|syscall.O_NONBLOCK, 0o666)
		fds[i] = int(r)
	}
	if errno[0] != errno[1] {
		w.t.Fatalf("open %s %#x: the machine says %v, we say %v", path, flags, errno[0], errno[1])
	}
	if errno[0] == 0 {
		w.files = append(w.files, fds)
	}
}

// compare walks both directories.
func (w *twin) compare(dir string) {
	var text [2]string
	for i, a := range w.arms() {
		text[i] = a.tree(w.dirs[i], ".", map[uint64]int{})
	}
	if text[0] != text[1] {
		w.t.Fatalf("the machine has\n%s\nwe have\n%s", text[0], text[1])
	}
}

// tree is what a directory holds, in lines.
func (a *arm) tree(at int, path string, seen map[uint64]int) string {
	var b strings.Builder
	r, errno := a.sys(syscall.SYS_OPENAT, at, cstr(path), syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if errno != 0 {
		return fmt.Sprintf("%s: %v\n", path, errno)
	}
	fd := int(r)
	defer a.sys(syscall.SYS_CLOSE, fd)
	var names []string
	buf := make([]byte, 200)
	for {
		n, errno := a.sys(syscall.SYS_GETDENTS64, fd, bytesPtr(buf), len(buf))
		if errno != 0 || n == 0 {
			break
		}
		for rest := buf[:n]; len(rest) > 0; {
			size := *(*uint16)(unsafe.Pointer(&rest[16]))
			if name := string(zeroEnded(rest[19:size])); name != "." && name != ".." {
				names = append(names, name)
			}
			rest = rest[size:]
		}
	}
	sort.Strings(names)
	for _, name := range names {
		full := path + "/" + name
		var st syscall.Stat_t
		a.sys(sysFSTATAT, at, cstr(full), ptr(&st), atNoFollow)
		if seen[st.Ino] == 0 {
			seen[st.Ino] = len(seen) + 1
		}
		fmt.Fprintf(&b, "%s #%d %o %d links", full, seen[st.Ino], st.Mode, st.Nlink)
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFDIR:
			b.WriteString("\n" + a.tree(at, full, seen))
			continue
		case syscall.S_IFLNK:
			n, _ := a.sys(syscall.SYS_READLINKAT, at, cstr(full), bytesPtr(buf), len(buf))
			fmt.Fprintf(&b, " -> %s", buf[:n])
		case syscall.S_IFREG:
			r, errno := a.sys(syscall.SYS_OPENAT, at, cstr(full), syscall.O_RDONLY|syscall.O_NOATIME, 0)
			if errno == 0 {
				all := make([]byte, st.Size+1)
				n, _ := a.sys(syscall.SYS_READ, int(r), bytesPtr(all), len(all))
				a.sys(syscall.SYS_CLOSE, int(r))
				fmt.Fprintf(&b, " %d bytes, uid %d, %s", st.Size, st.Uid, runs(all[:n]))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// runs tells bytes by how often each comes in a row.
func runs(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		n := 1
		for n < len(b) && b[n] == b[0] {
			n++
		}
		fmt.Fprintf(&s, "%q×%d ", b[0], n)
		b = b[n:]
	}
	return s.String()
}

// TestFilesModel makes random calls on a directory of the machine and on one of a
// simulated disk: results, errnos and what is left must be the same.
func TestFilesModel(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the machine checks permissions that root does not meet")
	}
	base := t.TempDir()
	defer syscall.Umask(syscall.Umask(0o022))
	n := 0
	p, _ := newProcess(t, Options{})
	rapid.Check(t, func(rt *rapid.T) {
		n++
		w := &twin{t: rt, real: &arm{t: t}, ours: &arm{t: t, p: p}}
		w.paths = []string{filepath.Join(base, fmt.Sprint(n)), fmt.Sprint("/tmp/", n)}
		for i, a := range w.arms() {
			a.sys(syscall.SYS_MKDIRAT, atFDCWD, cstr(w.paths[i]), 0o755)
			w.paths[i] += "/root"
			a.sys(syscall.SYS_MKDIRAT, atFDCWD, cstr(w.paths[i]), 0o755)
			r, errno := a.sys(syscall.SYS_OPENAT, atFDCWD, cstr(w.paths[i]), syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
			if errno != 0 {
				rt.Fatal(errno)
			}
			w.dirs[i] = int(r)
		}
		defer func() {
			for i, a := range w.arms() {
				for _, f := range w.files {
					a.sys(syscall.SYS_CLOSE, f[i])
				}
				a.sys(syscall.SYS_CLOSE, w.dirs[i])
			}
		}()
		rt.Repeat(w.actions())
	})
}
