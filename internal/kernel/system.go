//go:build linux && (amd64 || arm64)

package kernel

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"sort"
	"strconv"
	"strings"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simnet"
)

// install puts the files that the system makes on a host's disk, once. What
// depends on the process is about the one that runs when the file is opened.
func (k *Kernel) install(h *sched.Host, stack *simnet.Stack, fs *simfs.Disk) {
	if k.disks[fs] {
		return
	}
	k.disks[fs] = true
	fs.Preset("etc", func(etc *simfs.Inode) { k.installEtc(etc, h.Name(), stack.Network()) })
	fs.Preset("proc", func(proc *simfs.Inode) { k.installProc(proc, h) })
}

// fixed is a file whose content does not change.
func fixed(dir *simfs.Inode, name, content string) {
	dir.PresetGenerated(name, func() []byte { return []byte(content) })
}

func (k *Kernel) installEtc(etc *simfs.Inode, host string, net *simnet.Network) {
	etc.PresetDefault("hosts", func() []byte { return net.EtcHosts(host) })
	etc.PresetDefault("hostname", func() []byte { return net.EtcHostname(host) })
	etc.PresetDefault("resolv.conf", func() []byte { return net.EtcResolvConf(host) })
	etc.PresetDefault("nsswitch.conf", func() []byte { return net.EtcNsswitchConf(host) })
	fixed(etc, "passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n")
	fixed(etc, "group", "root:x:0:\nnobody:x:65534:\n")
	fixed(etc, "os-release", "ID=linux\nNAME=Linux\nPRETTY_NAME=\"Linux\"\n")
	etc.PresetGenerated("machine-id", func() []byte { return []byte(machineID(k.w.Seed(), host) + "\n") })
}

func (k *Kernel) installProc(proc *simfs.Inode, h *sched.Host) {
	name := h.Name()
	process := func(dir *simfs.Inode, file string, gen func(p *Process) string) {
		dir.PresetGenerated(file, func() []byte {
			if p := Of(h); p != nil {
				return []byte(gen(p))
			}
			return nil
		})
	}
	sys := proc.PresetDir("sys", 0o555)
	kernel := sys.PresetDir("kernel", 0o555)
	fixed(kernel, "hostname", name+"\n")
	fixed(kernel, "osrelease", "6.1.0\n")
	rnd := kernel.PresetDir("random", 0o555)
	fixed(rnd, "boot_id", uuid(sched.NewStream(k.w.Seed(), "boot_id", name))+"\n")
	random := k.w.HostStream("rand", name)
	rnd.PresetGenerated("uuid", func() []byte { return []byte(uuid(random) + "\n") })
	net := sys.PresetDir("net", 0o555)
	core := net.PresetDir("core", 0o555)
	fixed(core, "somaxconn", "4096\n")
	for _, limit := range []string{"rmem_max", "wmem_max", "rmem_default", "wmem_default"} {
		fixed(core, limit, "212992\n")
	}
	fixed(net.PresetDir("ipv4", 0o555), "ip_local_port_range", "32768\t60999\n")

	procNet := proc.PresetDir("net", 0o555)
	process(procNet, "igmp", (*Process).igmp)
	process(procNet, "igmp6", (*Process).igmp6)
	process(proc, "uptime", func(p *Process) string {
		up, _ := p.clock(clockBoottime)
		return fmt.Sprintf("%d.%02d 0.00\n", up/1e9, up/1e7%100)
	})
	self := proc.PresetDir("self", 0o555)
	process(self, "cmdline", func(p *Process) string { return strings.Join(p.args, "\x00") + "\x00" })
	process(self, "comm", func(p *Process) string { return base(p.executable()) + "\n" })
	process(self, "stat", func(p *Process) string {
		return fmt.Sprintf("%d (%s) R 1 %d %d 0 -1 0\n", p.pid, base(p.executable()), p.pid, p.pid)
	})
	process(self, "environ", func(p *Process) string {
		var b strings.Builder
		for _, key := range sortedKeys(p.env) {
			b.WriteString(key + "=" + p.env[key] + "\x00")
		}
		return b.String()
	})
	fixed(self, "cgroup", "0::/\n")
	installFDs(self, h)
	self.PresetSymlink("exe", func() string {
		if p := Of(h); p != nil {
			return p.executable()
		}
		return "/"
	})
}

// installFDs puts /proc/self/fd: a link for each descriptor.
func installFDs(self *simfs.Inode, h *sched.Host) {
	var dir *simfs.Inode
	self.PresetListed("fd", func() []string {
		p := Of(h)
		if p == nil {
			return nil
		}
		var names []string
		for i := range p.std {
			if p.std[i].f != nil {
				names = append(names, itoa(i))
			}
		}
		for i := range p.high {
			if p.high[i].f != nil {
				names = append(names, itoa(int(p.base)+i))
			}
		}
		sort.Strings(names)
		return names
	}, func(name string) *simfs.Inode {
		p := Of(h)
		fd, err := strconv.Atoi(name)
		if p == nil || err != nil || fd < 0 || itoa(fd) != name {
			return nil
		}
		f := p.lookup(uintptr(fd))
		if f == nil {
			return nil
		}
		if dir == nil {
			dir = self.Entry("fd")
		}
		if f.node != nil {
			return dir.MagicLink(name, f.node.Where(), f.node)
		}
		return dir.MagicLink(name, f.name(), nil)
	})
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

type membership struct {
	group   netip.Addr
	ifindex int
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
		f.sock.udp.Groups(func(group netip.Addr, ifindex int) {
			if group.Is4() == v4 {
				counts[membership{group, ifindex}]++
			}
		})
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
