package simfs

// What a disk begins with is put there durably and without a log; much of it
// only when its directory is first looked into, since most hosts never do.

// Preset lets fill put what a directory of the root begins with, when it is
// first looked into. The directory is made if it is not there. A name that the
// directory has already (a test wrote it) is left alone.
func (d *Disk) Preset(name string, fill func(dir *Inode)) {
	d.system = append(d.system, presetFill{name, fill})
	d.addPreset(name, fill)
}

// A presetFill is what Preset was called with.
type presetFill struct {
	name string
	fill func(dir *Inode)
}

func (d *Disk) addPreset(name string, fill func(dir *Inode)) {
	if !d.root.loaded {
		d.root.presets = append(d.root.presets, func(root *Inode) { root.disk.addPreset(name, fill) })
		return
	}
	dir := d.root.Entry(name)
	if dir == nil {
		dir = d.root.PresetDir(name, 0o755)
	}
	dir.presets = append(dir.presets, fill)
	if dir.loaded {
		dir.load()
	}
}

// load puts what the directory begins with.
func (n *Inode) load() {
	n.loaded = true
	for len(n.presets) > 0 {
		fill := n.presets[0]
		n.presets = n.presets[1:]
		fill(n)
	}
	n.presets = nil
}

// preset enters a new inode under a name that is free, and reports whether it was.
func (n *Inode) preset(name string, child *Inode) bool {
	if n.entries[name] != nil {
		return false
	}
	child.atime, child.mtime, child.ctime = n.disk.born, n.disk.born, n.disk.born
	child.system = child.kind != Directory
	n.set(name, child)
	child.linked(n)
	return true
}

// PresetDir puts a directory into one that is being filled, and returns what is
// there.
func (n *Inode) PresetDir(name string, mode uint32) *Inode {
	child := n.disk.newInode(Directory, mode)
	if !n.preset(name, child) {
		return n.entries[name]
	}
	return child
}

// PresetGenerated is [Disk.Generate] in a directory that is being filled.
func (n *Inode) PresetGenerated(name string, gen func() []byte) {
	child := n.disk.newInode(Generated, 0o444)
	child.gen = gen
	n.preset(name, child)
}

// PresetDefault is PresetGenerated for a file that may be written: from then on it
// is a file like any other, and begins as what gen made last.
func (n *Inode) PresetDefault(name string, gen func() []byte) {
	child := n.disk.newInode(Generated, 0o644)
	child.gen = gen
	n.preset(name, child)
}

// plain makes a regular file of a generated one, with the content of now, durable.
func (n *Inode) plain() {
	content, mtime := n.Content(), n.mtime
	n.kind, n.system = Regular, false
	for off := 0; off < len(content); off += PageSize {
		n.data.put(content[off:min(len(content), off+PageSize)], int64(off))
	}
	n.synced.share(&n.data)
	n.mtime, n.gen, n.last = mtime, nil, ""
}

// PresetListed puts a directory whose entries are made when they are asked for:
// names tells them, sorted, and find what one of them is, or nil. Nobody can
// change it.
func (n *Inode) PresetListed(name string, names func() []string, find func(name string) *Inode) {
	child := n.disk.newInode(Directory, 0o555)
	child.listing, child.find, child.loaded = names, find, true
	n.preset(name, child)
	child.system = true
}

// MagicLink returns a symbolic link for [Inode.PresetListed]: it shows a target,
// and leads to an inode whatever is there.
func (n *Inode) MagicLink(name, target string, to *Inode) *Inode {
	l := n.disk.newInode(SymbolicLink, 0o777)
	l.nlink, l.parent, l.name, l.system = 1, n, name, true
	l.target = func() string { return target }
	l.jump = func() *Inode { return to }
	return l
}

// PresetSymlink is [Disk.PutSymlinkFunc] in a directory that is being filled.
func (n *Inode) PresetSymlink(name string, target func() string) {
	child := n.disk.newInode(SymbolicLink, 0o777)
	child.target = target
	n.preset(name, child)
}

// PresetFind lets find tell what the directory has beside its entries, under names
// that it does not list.
func (n *Inode) PresetFind(find func(name string) *Inode) { n.find = find }

// Hidden returns a directory for [Inode.PresetFind].
func (n *Inode) Hidden(name string) *Inode {
	dir := n.disk.newInode(Directory, 0o555)
	dir.nlink, dir.parent, dir.name, dir.system, dir.loaded = 2, n, name, true, true
	return dir
}

// Executable puts a file that can be run at path, whose content gen makes; unless
// something is there.
func (d *Disk) Executable(path string, gen func() []byte) {
	defer d.quiet()()
	if _, errno := d.Lookup(d.root, path, true); errno == 0 {
		return
	}
	d.Generate(path, gen)
	if n, errno := d.Lookup(d.root, path, true); errno == 0 {
		n.mode = 0o755
	}
}
