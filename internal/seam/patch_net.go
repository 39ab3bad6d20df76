package seam

// netPatches keep what package net remembers for a process (the content of
// /etc/hosts, resolv.conf and nsswitch.conf) for each host's process by itself,
// and what it finds out about the kernel once for all time (which protocols
// there are) apart for simulated ones: else a run would depend on those
// before it.
func netPatches(release string) []Patch {
	own := variables("hosts") + "$0"
	yes := "\tif dstWorld() != 0 {\n\t\treturn true\n\t}\n$0"
	dns := "func getSystemDNSConfig("
	if release != "1.26" {
		dns = "func getSystemDNSConfigNamed("
	}
	return []Patch{
		{File: "net/hosts.go", Edits: []Edit{
			{In: "func readHosts(", Find: "\tnow := time.Now()\n", Replace: own},
			{In: "func readHosts(", Find: "\tif file != nil {\n", Replace: "\tvar known *dstHosts\n$0"},
			{In: "func readHosts(", Find: "\t\tdefer file.close()\n", Replace: "$0\t\tif known = dstReadHosts(file); known.byName != nil {\n\t\t\ths, is = known.byName, known.byAddr\n\t\t}\n"},
			{In: "func readHosts(", Find: "\thosts.byAddr = is\n", Replace: "$0\tdstParsedHosts(known, hs, is)\n"},
			{In: "func lookupStaticHost(", Find: "\thosts.Lock()\n", Replace: own},
			{In: "func lookupStaticAddr(", Find: "\thosts.Lock()\n", Replace: own},
		}},
		{File: "net/dnsclient_unix.go", Edits: []Edit{
			{In: dns, Find: "\tresolvConf.tryUpdate(", Replace: variables("resolvConf") + "$0"},
		}},
		{File: "net/nss.go", Edits: []Edit{
			{In: "func getSystemNSS(", Find: "\tnssConfig.tryUpdate()\n", Replace: variables("nssConfig") + "$0"},
		}},
		{File: "net/ipsock.go", Edits: []Edit{
			{In: "func supportsIPv4(", Find: "\tipStackCaps.Once.Do(ipStackCaps.probe)\n", Replace: yes},
			{In: "func supportsIPv6(", Find: "\tipStackCaps.Once.Do(ipStackCaps.probe)\n", Replace: yes},
			{In: "func supportsIPv4map(", Find: "\tipStackCaps.Once.Do(ipStackCaps.probe)\n", Replace: yes},
		}},
		{File: "net/mptcpsock_linux.go", Edits: []Edit{
			{In: "func supportsMultipathTCP(", Find: "\tmptcpOnce.Do(initMPTCPavailable)\n", Replace: "\tif dstWorld() != 0 {\n\t\treturn false\n\t}\n$0"},
		}},
		// Each process reads these small files for itself: a buffer of 64 KiB for
		// each would be most of what a short world allocates.
		{File: "net/parse.go", Edits: []Edit{
			{In: "func open(", Find: "64*1024", Replace: "4*1024"},
			// What has been read whole need not move up, line by line.
			{In: "func (f *file) getLineFromData(", Find: "\t\t\tcopy(data[0:], data[i:])\n", Replace: "\t\t\tif f.atEOF {\n\t\t\t\tf.data = data[i:]\n\t\t\t\treturn\n\t\t\t}\n$0"},
		}},
		{File: "net/net.go", Edits: []Edit{
			{In: "func listenerBacklog(", Find: "\tlistenerBacklogCache.Do(", Replace: "\tif dstWorld() != 0 {\n\t\treturn 4096\n\t}\n$0"},
		}},
	}
}
