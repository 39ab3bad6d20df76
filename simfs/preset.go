package simfs

// What a disk begins with is put there durably and without a log; much of it
// only when its directory is first looked into, since most hosts never do.

// Preset lets fill put what a directory of the root begins with, when it is
// first looked into. The directory is made if it is not there. A name that the
// directory has already (a test wrote it) is left alone.
func (d *Disk) Preset(name string, fill func(dir *Inode)) {
	if !d.root.loaded {
		d.root.presets = append(d.root.presets, func(*Inode) { d.Preset(name, fill) })
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
	n.set(name, child)
	if n.durable == nil {
		n.durable = make(map[string]*Inode)
	}
	n.durable[name] = child
	n.names = nil
	if child.kind == Directory {
		child.parent = n
		n.nlink++
	}
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

// settle makes a regular file of a generated one, with the content of now, durable.
func (n *Inode) settle() {
	content := n.Content()
	mtime := n.mtime
	n.kind = Regular
	n.WriteAt(content, 0)
	n.Sync()
	n.mtime, n.gen, n.last = mtime, nil, ""
}

// PresetSymlink is [Disk.PutSymlinkFunc] in a directory that is being filled.
func (n *Inode) PresetSymlink(name string, target func() string) {
	child := n.disk.newInode(Symlink, 0o777)
	child.target = target
	n.preset(name, child)
}

// set enters child, in the page cache's state only.
func (n *Inode) set(name string, child *Inode) {
	if n.entries == nil {
		n.entries = make(map[string]*Inode)
	}
	n.entries[name] = child
}
