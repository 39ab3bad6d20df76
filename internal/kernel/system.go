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
	k.diskList = append(k.diskList, fs)
	fs.Preset("etc", func(etc *simfs.Inode) { k.installEtc(etc, h.Name(), stack.Network()) })
	fs.Preset("proc", func(proc *simfs.Inode) { k.installProc(proc, h) })
	fs.Preset("dev", func(dev *simfs.Inode) {
		dev.PresetSymlink("fd", func() string { return "/proc/self/fd" })
		for i, name := range []string{"stdin", "stdout", "stderr"} {
			dev.PresetSymlink(name, func() string { return "/proc/self/fd/" + itoa(i) })
		}
	})
	for _, prog := range k.programs {
		prog.install(fs)
	}
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
	top := func(dir *simfs.Inode, file string, gen func(p *Process) string) {
		dir.PresetGenerated(file, func() []byte { return about(Of(h), gen) })
	}
	sys := proc.PresetDir("sys", 0o555)
	kernel := sys.PresetDir("kernel", 0o555)
	kernel.PresetGenerated("hostname", func() []byte {
		if p := Of(h); p != nil {
			return []byte(p.Hostname() + "\n")
		}
		return []byte(name + "\n")
	})
	fixed(kernel, "osrelease", "6.1.0\n")
	fixed(kernel, "ostype", "Linux\n")
	fixed(kernel, "version", "#1 SMP\n")
	fixed(kernel, "pid_max", "4194304\n")
	fixed(kernel, "threads-max", "63704\n")
	rnd := kernel.PresetDir("random", 0o555)
	fixed(rnd, "boot_id", uuid(sched.NewStream(k.w.Seed(), "boot_id", name))+"\n")
	random := k.w.HostStream("rand", name)
	rnd.PresetGenerated("uuid", func() []byte { return []byte(uuid(random) + "\n") })
	files := sys.PresetDir("fs", 0o555)
	fixed(files, "nr_open", itoa(fdRange)+"\n")
	fixed(files, "file-max", "9223372036854775807\n")
	fixed(files, "pipe-max-size", "1048576\n")
	vm := sys.PresetDir("vm", 0o555)
	fixed(vm, "overcommit_memory", "0\n")
	fixed(vm, "max_map_count", "65530\n")
	fixed(vm, "swappiness", "60\n")
	net := sys.PresetDir("net", 0o555)
	core := net.PresetDir("core", 0o555)
	fixed(core, "somaxconn", "4096\n")
	for _, limit := range []string{"rmem_max", "wmem_max", "rmem_default", "wmem_default"} {
		fixed(core, limit, "212992\n")
	}
	fixed(net.PresetDir("ipv4", 0o555), "ip_local_port_range", "32768\t60999\n")

	installMachine(proc, top)
	procNet := proc.PresetDir("net", 0o555)
	top(procNet, "igmp", (*Process).igmp)
	top(procNet, "igmp6", (*Process).igmp6)
	// The process that looks at itself, or else the host's own.
	self := func() *Process {
		if c := sched.CurrentHost(); c != nil && c.Machine() == h {
			if p := Of(c); p != nil {
				return p
			}
		}
		return Of(h)
	}
	k.installProcess(proc.PresetDir("self", 0o555), self)
	proc.PresetSymlink("mounts", func() string { return "self/mounts" })
	proc.PresetFind(func(name string) *simfs.Inode {
		pid, err := strconv.Atoi(name)
		top := Of(h)
		if err != nil || top == nil || itoa(pid) != name {
			return nil
		}
		for _, p := range top.targets(pid) {
			if pid > 0 && p.procDir == nil {
				p.procDir = proc.Hidden(name)
				k.installProcess(p.procDir, func() *Process { return p })
			}
			return p.procDir
		}
		return nil
	})
}

// about makes the content of a file that tells of a process.
func about(p *Process, gen func(p *Process) string) []byte {
	if p == nil {
		return nil
	}
	return []byte(gen(p))
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
