package simfs

import (
	"strings"
	"syscall"
)

// A place is where a path leads.
type place struct {
	dir  *Inode // that holds the last component; for a path that ends in dots or is "/", the directory itself
	name string // last component: "", "." or ".." for those
	node *Inode // what is there; nil if nothing is
	dirs bool   // a slash at the end asks for a directory
}

// Resolve says what a path may lead through, as the resolve field of openat2
// does, with its values.
type Resolve uint64

const (
	NoMagicLinks Resolve = 0x02 // not through links as those in /proc/self/fd
	NoSymlinks   Resolve = 0x04 // not through symbolic links
	Beneath      Resolve = 0x08 // not out of the directory it begins at
	InRoot       Resolve = 0x10 // that directory is the root

	entry    Resolve = 1 << 32 // for a call that changes the last name: even a slash after it does not follow a link
	creating Resolve = 1 << 33 // for a call that makes a file: a slash at the end asks for a directory
)

// walk follows path from the directory at. With follow, a symbolic link in the
// last place is followed, too. That nothing has the last name is no error yet.
// Every lookup of the disk comes through here. It keeps no part of path.
func (d *Disk) walk(at *Inode, path string, follow bool, resolve Resolve) (p place, errno syscall.Errno) {
	if path == "" {
		return p, syscall.ENOENT
	}
	if len(path) >= maxPath {
		return p, syscall.ENAMETOOLONG
	}
	links, base, root := 0, at, d.root
	if resolve&InRoot != 0 {
		root = at
	}
	if path[0] == '/' {
		if resolve&Beneath != 0 {
			return p, syscall.EXDEV
		}
		at = root
	}
	for {
		path = strings.TrimLeft(path, "/")
		if at.kind != Directory {
			return p, syscall.ENOTDIR
		}
		if path == "" {
			return place{dir: at, node: at, dirs: true}, 0
		}
		name, rest := path, ""
		if i := strings.IndexByte(path, '/'); i >= 0 {
			name, rest = path[:i], path[i:]
		}
		if len(name) > maxName {
			return p, syscall.ENAMETOOLONG
		}
		left := strings.TrimLeft(rest, "/")
		if left == "" && rest != "" && resolve&creating != 0 && !dots(name) {
			return p, syscall.EISDIR
		}
		node := at.Entry(name)
		if name == ".." && at == base && resolve&(Beneath|InRoot) != 0 {
			if resolve&Beneath != 0 {
				return p, syscall.EXDEV
			}
			node = at
		}
		if at.nlink == 0 && name != "." && name != ".." {
			node = nil // a directory that was removed is empty
		}
		if node != nil && node.kind == SymbolicLink && (left != "" || rest != "" && resolve&entry == 0 || follow) {
			if links++; links > maxSymlinks {
				return p, syscall.ELOOP
			}
			if resolve&NoSymlinks != 0 || resolve&NoMagicLinks != 0 && node.jump != nil {
				return p, syscall.ELOOP
			}
			if node.jump != nil {
				if resolve&(Beneath|InRoot) != 0 {
					return p, syscall.EXDEV
				}
				if node = node.jump(); node == nil {
					return p, syscall.ENOENT
				}
				if left == "" {
					if rest != "" && node.kind != Directory {
						return p, syscall.ENOTDIR
					}
					return place{dir: node, node: node}, 0
				}
				at, path = node, left
				continue
			}
			path = node.target() + rest
			if path[0] == '/' {
				if resolve&Beneath != 0 {
					return p, syscall.EXDEV
				}
				at = root
			}
			continue
		}
		if left == "" {
			p = place{dir: at, name: name, node: node, dirs: rest != ""}
			if node != nil && node.kind != Directory && p.dirs {
				return p, syscall.ENOTDIR
			}
			if name == "." || name == ".." {
				p.dir = node
			}
			return p, 0
		}
		if node == nil {
			return p, syscall.ENOENT
		}
		at, path = node, left
	}
}

// Lookup returns what path names, from the directory at.
func (d *Disk) Lookup(at *Inode, path string, follow bool) (*Inode, syscall.Errno) {
	p, errno := d.walk(at, path, follow, 0)
	if errno == 0 && p.node == nil {
		errno = syscall.ENOENT
	}
	if errno != 0 {
		return nil, errno
	}
	return p.node, 0
}
