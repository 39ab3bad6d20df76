package seam

// sharedPatches keep what std has once a process from joining worlds, or hosts
// of one world: a cache that one of them filled must neither be seen by the
// next nor change its run. What std does on first use, or when a cache is old,
// therefore happens quietly: without a scheduling point, a trace, or a cost.
func sharedPatches(release string) []Patch {
	const quiet = "\tdefer dstQuiet()()\n"
	return []Patch{
		{File: "net/hosts.go", Edits: []Edit{
			{In: "func lookupStaticHost(", Find: "\thosts.Lock()\n", Replace: quiet + "$0"},
			{In: "func lookupStaticAddr(", Find: "\thosts.Lock()\n", Replace: quiet + "$0"},
			{In: "func readHosts()", Find: "\thp := hostsFilePath\n", Replace: "$0\tif dstChanged(&dstHostsOwner) {\n\t\thosts.path = \"\"\n\t}\n"},
		}},
		{File: "net/dnsclient_unix.go", Edits: []Edit{
			{In: "func (conf *resolverConfig) tryUpdate(", Find: "\tconf.initOnce.Do(conf.init)\n",
				Replace: quiet + "$0\tif dstChanged(&dstResolvOwner) {\n\t\tconf.lastChecked = time.Time{}\n\t\tconf.dnsConfig.Store(&dnsConfig{})\n\t}\n"},
		}},
		{File: "net/nss.go", Edits: []Edit{
			{In: "func (conf *nsswitchConfig) tryUpdate(", Find: "\tconf.initOnce.Do(conf.init)\n",
				Replace: quiet + "$0\tif dstChanged(&dstNSSOwner) {\n\t\tconf.lastChecked = time.Time{}\n\t\tconf.nssConf = &nssConf{}\n\t}\n"},
		}},
		{File: "net/conf.go", Edits: []Edit{
			{In: "func systemConf()", Find: "\tconfOnce.Do(initConfVal)\n", Replace: quiet + "$0"},
		}},
		{File: "net/ipsock_posix.go", Edits: []Edit{
			{In: "func (p *ipStackCapabilities) probe()", Find: "func (p *ipStackCapabilities) probe() {\n", Replace: "$0" + quiet},
		}},
		{File: "net/net.go", Edits: []Edit{
			{In: "func listenerBacklog()", Find: "\tlistenerBacklogCache.Do(", Replace: quiet + "$0"},
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
