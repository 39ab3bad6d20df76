package seam

// sharedPatches deal with what std finds out once a process, at first use, and
// which is the same for all: that happens quietly, without a scheduling point, a
// trace or a cost, or else the first world would differ from those after it.
func sharedPatches() []Patch {
	const quiet = "\tdstSetQuiet(1)\n\tdefer dstSetQuiet(-1)\n"
	return []Patch{
		{File: "net/conf.go", Edits: []Edit{
			{In: "func systemConf()", Find: "\tconfOnce.Do(initConfVal)\n", Replace: quiet + "$0"},
		}},
		// Asked once a process, by what copies files.
		{File: "internal/syscall/unix/kernel_version_linux.go", Edits: []Edit{
			{In: "func KernelVersion()", Find: "\tvar uname syscall.Utsname\n", Replace: quiet + "$0"},
		}},
		// Local time is UTC, whatever the machine and whichever host asks first.
		{File: "time/zoneinfo_unix.go", Edits: []Edit{
			{In: "func initLocal()", Find: "func initLocal() {\n", Replace: "$0\tif dstUTC {\n\t\tlocalLoc.name = \"UTC\"\n\t\treturn\n\t}\n"},
		}},
		// The order of Range follows the seed of the map's hash.
		{File: "internal/sync/hashtriemap.go", Edits: []Edit{
			{In: "func (ht *HashTrieMap[K, V]) initSlow()", Find: "uintptr(runtime_rand())", Replace: "uintptr(0x5eed)"},
		}},
	}
}
