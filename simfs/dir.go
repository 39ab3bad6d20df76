package simfs

import (
	"sort"
	"strings"
	"syscall"
)

// Names returns the sorted names of a directory's entries, without "." and
// "..". The slice stays as it is when the directory changes later.
func (n *Inode) Names() []string {
	if n.listing != nil {
		return n.listing()
	}
	if !n.loaded {
		n.load()
	}
	if n.names == nil {
		n.names = make([]string, 0, len(n.entries))
		for name := range n.entries {
			n.names = append(n.names, name)
		}
		sort.Strings(n.names)
	}
	return n.names
}

// Entry returns what a name of the directory stands for, or nil.
func (n *Inode) Entry(name string) *Inode {
	switch name {
	case ".":
		return n
	case "..":
		return n.parent
	}
	if n.listing != nil {
		return n.find(name)
	}
	if !n.loaded {
		n.load()
	}
	if child := n.entries[name]; child != nil || n.find == nil {
		return child
	}
	return n.find(name)
}

// size returns how many entries the directory has.
func (n *Inode) size() int {
	if n.listing != nil {
		return len(n.listing())
	}
	if !n.loaded {
		n.load()
	}
	return len(n.entries)
}

// set enters child, under a name that the directory may keep.
func (n *Inode) set(name string, child *Inode) {
	if n.entries == nil {
		n.entries = make(map[string]*Inode)
	}
	n.entries[name] = child
	n.names = nil
	child.parent, child.name = n, name
}

// unset takes a name away.
func (n *Inode) unset(name string) {
	delete(n.entries, name)
	n.names = nil
}

// touch is what a change of its entries does to a directory.
func (n *Inode) touch() {
	n.mtime = n.disk.now()
	n.ctime = n.mtime
	n.metaSeq = n.disk.seq()
	n.dataSeq = n.metaSeq
}

// Path returns the path of a directory from the root, as getcwd does.
func (n *Inode) Path() (string, syscall.Errno) {
	if n == n.disk.root {
		return "/", 0
	}
	path, ok := n.path()
	if !ok {
		return "", syscall.ENOENT
	}
	return path, 0
}

// path is where the inode was last linked, and whether it is still there.
func (n *Inode) path() (string, bool) {
	if n == n.disk.root {
		return "/", true
	}
	var parts []string
	ok := true
	for n != n.disk.root {
		up := n.parent
		if up == nil || n.name == "" {
			return strings.Join(append([]string{""}, parts...), "/"), false
		}
		if up.find == nil && up.entries[n.name] != n {
			ok = false
		}
		parts = append(parts, n.name)
		n = up
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return "/" + strings.Join(parts, "/"), ok
}

// Where returns a path that leads to the inode, as the links in /proc/self/fd
// tell it: that of the name it was given last. It ends in " (deleted)" if that
// name is gone.
func (n *Inode) Where() string {
	path, ok := n.path()
	if path == "" {
		path = "/#" + utoa(n.ino) // made by O_TMPFILE
	}
	if !ok {
		path += " (deleted)"
	}
	return path
}

func utoa(n uint64) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return utoa(n/10) + string(rune('0'+n%10))
}
