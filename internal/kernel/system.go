//go:build linux && (amd64 || arm64)

package kernel

import (
	"encoding/hex"
	"fmt"
	"sort"
	"strings"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// install puts the files that the system makes on a host's disk, once. What
// depends on the process is about the one that runs when the file is opened.
// A file that the disk has already (a test wrote it) is left alone.
func (k *Kernel) install(h *sched.Host, stack *simnet.Stack, fs *simfs.Disk) {
	if k.disks[fs] {
		return
	}
	k.disks[fs] = true
	name := h.Name()
	generate := func(path string, gen func() []byte) {
		if _, errno := fs.Lookup(fs.Root(), path, false); errno != 0 {
			fs.Generate(path, gen)
		}
	}
	fixed := func(path, content string) { generate(path, func() []byte { return []byte(content) }) }
	process := func(path string, gen func(p *Process) string) {
		generate(path, func() []byte {
			if p := Of(h); p != nil {
				return []byte(gen(p))
			}
			return nil
		})
	}
	net := stack.Network()
	generate("/etc/hosts", func() []byte { return net.EtcHosts(name) })
	generate("/etc/hostname", func() []byte { return net.EtcHostname(name) })
	generate("/etc/resolv.conf", func() []byte { return net.EtcResolvConf(name) })
	generate("/etc/nsswitch.conf", func() []byte { return net.EtcNsswitchConf(name) })
	fixed("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n")
	fixed("/etc/group", "root:x:0:\nnobody:x:65534:\n")
	fixed("/etc/os-release", "ID=linux\nNAME=Linux\nPRETTY_NAME=\"Linux\"\n")
	fixed("/etc/machine-id", machineID(k.w.Seed(), name)+"\n")
	fixed("/proc/sys/kernel/hostname", name+"\n")
	fixed("/proc/sys/kernel/osrelease", "6.1.0\n")
	fixed("/proc/sys/kernel/random/boot_id", uuid(sched.NewStream(k.w.Seed(), "boot_id", name))+"\n")
	random := k.w.HostStream("rand", name)
	generate("/proc/sys/kernel/random/uuid", func() []byte { return []byte(uuid(random) + "\n") })
	fixed("/proc/sys/net/core/somaxconn", "4096\n")
	fixed("/proc/sys/net/core/rmem_max", "212992\n")
	fixed("/proc/sys/net/core/wmem_max", "212992\n")
	fixed("/proc/sys/net/core/rmem_default", "212992\n")
	fixed("/proc/sys/net/core/wmem_default", "212992\n")
	fixed("/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n")
	process("/proc/net/igmp", (*Process).igmp)
	process("/proc/net/igmp6", (*Process).igmp6)
	process("/proc/uptime", func(p *Process) string {
		up, _ := p.clock(clockBoottime)
		return fmt.Sprintf("%d.%02d 0.00\n", up/1e9, up/1e7%100)
	})
	process("/proc/self/cmdline", func(p *Process) string { return strings.Join(p.args, "\x00") + "\x00" })
	process("/proc/self/comm", func(p *Process) string { return base(p.executable()) + "\n" })
	process("/proc/self/stat", func(p *Process) string {
		return fmt.Sprintf("%d (%s) R 1 %d %d 0 -1 0\n", p.pid, base(p.executable()), p.pid, p.pid)
	})
	process("/proc/self/environ", func(p *Process) string {
		var b strings.Builder
		for _, key := range sortedKeys(p.env) {
			b.WriteString(key + "=" + p.env[key] + "\x00")
		}
		return b.String()
	})
	fixed("/proc/self/cgroup", "0::/\n")
	if _, errno := fs.Lookup(fs.Root(), "/proc/self/exe", false); errno != 0 {
		fs.PutSymlinkFunc("/proc/self/exe", func() string {
			if p := Of(h); p != nil {
				return p.executable()
			}
			return "/"
		})
	}
}

func (p *Process) executable() string {
	if p.opts.Executable != "" {
		return p.opts.Executable
	}
	return "/usr/local/bin/" + base(p.args[0])
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func machineID(seed uint64, name string) string {
	var b [16]byte
	simfs.Fill(sched.NewStream(seed, "machine-id", name), b[:])
	return hex.EncodeToString(b[:])
}

func uuid(s *sched.Stream) string {
	var b [16]byte
	simfs.Fill(s, b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// A groupCount is a group joined on an interface, and by how many sockets.
type groupCount struct {
	membership
	users int
}

// groups lists the groups of the process's sockets, sorted, after those that
// every host has joined.
func (p *Process) groups(v4 bool) []groupCount {
	counts := map[membership]int{}
	for i := range p.high {
		f := p.high[i].f
		if f == nil || f.kind != kindUDP {
			continue
		}
		for _, m := range f.sock.joined {
			if m.group.Is4() == v4 {
				counts[m]++
			}
		}
	}
	var all []groupCount
	for m, n := range counts {
		all = append(all, groupCount{m, n})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].group.Less(all[j].group) })
	return all
}

// igmp is /proc/net/igmp.
func (p *Process) igmp() string {
	var b strings.Builder
	b.WriteString("Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n")
	all := p.groups(true)
	for _, ifi := range p.stack.Interfaces() {
		var lines []string
		add := func(a [4]byte, users int) {
			lines = append(lines, fmt.Sprintf("\t\t\t\t%02X%02X%02X%02X %5d 0:00000000\t\t0\n", a[3], a[2], a[1], a[0], users))
		}
		for _, g := range all {
			if g.ifindex == ifi.Index {
				add(g.group.As4(), g.users)
			}
		}
		add([4]byte{224, 0, 0, 1}, 1)
		fmt.Fprintf(&b, "%d\t%-10s: %5d %7s\n", ifi.Index, ifi.Name, len(lines), "V3")
		for _, line := range lines {
			b.WriteString(line)
		}
	}
	return b.String()
}

// igmp6 is /proc/net/igmp6.
func (p *Process) igmp6() string {
	var b strings.Builder
	all := p.groups(false)
	for _, ifi := range p.stack.Interfaces() {
		for _, g := range all {
			if g.ifindex == ifi.Index {
				fmt.Fprintf(&b, "%-4d %-15s %x %5d %08X %d\n", ifi.Index, ifi.Name, g.group.AsSlice(), g.users, 4, 0)
			}
		}
		for _, group := range []string{"ff020000000000000000000000000001", "ff010000000000000000000000000001"} {
			fmt.Fprintf(&b, "%-4d %-15s %s %5d %08X %d\n", ifi.Index, ifi.Name, group, 1, 12, 0)
		}
	}
	return b.String()
}
