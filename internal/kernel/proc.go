//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
)

// What /proc tells of a machine and its processes, as far as programs and the
// libraries that watch them read it: proc(5) has the formats. Memory and load are
// constants; times, descriptors and identities are those simulated.

// installMachine puts the files about the machine; top makes one about its own
// process.
func installMachine(proc *simfs.Inode, top func(dir *simfs.Inode, file string, gen func(p *Process) string)) {
	top(proc, "uptime", func(p *Process) string {
		up, _ := p.clock(clockBoottime)
		return fmt.Sprintf("%s %s\n", hundredths(up), hundredths(up*processors))
	})
	top(proc, "stat", func(p *Process) string {
		var b strings.Builder
		up, _ := p.clock(clockBoottime)
		boot := (p.now() - up) / 1e9
		line := func(name string, n int64) {
			fmt.Fprintf(&b, "%s 0 0 0 %d 0 0 0 0 0 0\n", name, up/tick*n)
		}
		line("cpu ", processors)
		for i := range processors {
			line("cpu"+itoa(i), 1)
		}
		fmt.Fprintf(&b, "intr 0\nctxt 0\nbtime %d\nprocesses %d\nprocs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n", boot, p.k.pids[p.host.Machine().ID()])
		return b.String()
	})
	fixed(proc, "loadavg", "0.00 0.00 0.00 1/64 1000\n")
	fixed(proc, "version", "Linux version 6.1.0 (dst) #1 SMP\n")
	fixed(proc, "filesystems", "nodev\tproc\nnodev\ttmpfs\n\text4\n")
	fixed(proc, "swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n")
	var mem strings.Builder
	for _, m := range []struct {
		name string
		kb   int
	}{
		{"MemTotal", totalMemory >> 10}, {"MemFree", freeMemory >> 10}, {"MemAvailable", freeMemory >> 10}, {"Buffers", 0}, {"Cached", 0},
		{"SwapCached", 0}, {"Active", resident >> 10}, {"Inactive", 0}, {"SwapTotal", 0}, {"SwapFree", 0}, {"Dirty", 0}, {"Writeback", 0},
		{"AnonPages", resident >> 10}, {"Mapped", 0}, {"Shmem", 0}, {"Slab", 0}, {"SReclaimable", 0}, {"SUnreclaim", 0}, {"KernelStack", 0},
		{"PageTables", 0}, {"CommitLimit", totalMemory >> 11}, {"Committed_AS", resident >> 10},
	} {
		fmt.Fprintf(&mem, "%-16s%8d kB\n", m.name+":", m.kb)
	}
	fixed(proc, "meminfo", mem.String())
	var cpus strings.Builder
	for i := range processors {
		fmt.Fprintf(&cpus, "processor\t: %d\nvendor_id\t: simulated\nmodel name\t: simulated %s\ncpu MHz\t\t: 2000.000\nphysical id\t: 0\nsiblings\t: %d\ncore id\t\t: %d\ncpu cores\t: %d\nflags\t\t: fpu\n\n", i, machine, processors, i, processors)
	}
	fixed(proc, "cpuinfo", cpus.String())
}

// hundredths renders nanoseconds as seconds.
func hundredths(ns int64) string { return fmt.Sprintf("%d.%02d", ns/1e9, ns/1e7%100) }

// installProcess puts the files about a process.
func (k *Kernel) installProcess(dir *simfs.Inode, get func() *Process) {
	file := func(name string, gen func(p *Process) string) {
		dir.PresetGenerated(name, func() []byte { return about(get(), gen) })
	}
	file("cmdline", func(p *Process) string { return strings.Join(p.args, "\x00") + "\x00" })
	file("comm", func(p *Process) string { return p.comm() + "\n" })
	file("environ", func(p *Process) string {
		var b strings.Builder
		for _, key := range sortedKeys(p.env) {
			b.WriteString(key + "=" + p.env[key] + "\x00")
		}
		return b.String()
	})
	file("stat", (*Process).stat)
	file("statm", func(p *Process) string {
		return fmt.Sprintf("%d %d 0 0 0 %d 0\n", resident>>12*4, resident>>12, resident>>12)
	})
	file("status", (*Process).procStatus)
	file("limits", (*Process).limits)
	file("io", func(p *Process) string {
		return "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n"
	})
	file("maps", (*Process).procMaps)
	for _, f := range procFixed {
		fixed(dir, f[0], f[1])
	}
	installFDs(dir, get)
	link := func(name string, target func(p *Process) string) {
		dir.PresetSymlink(name, func() string {
			if p := get(); p != nil {
				return target(p)
			}
			return "/"
		})
	}
	link("exe", (*Process).executable)
	link("cwd", func(p *Process) string { return p.cwd.Where() })
	link("root", func(p *Process) string { return "/" })
}

// procFixed are files that are the same for every process.
var procFixed = [][2]string{
	{"cgroup", "0::/\n"},
	{"oom_score", "0\n"},
	{"oom_score_adj", "0\n"},
	{"mounts", "/dev/root / ext4 rw,relatime 0 0\nproc /proc proc rw,relatime 0 0\n"},
	{"mountinfo", "21 1 8:1 / / rw,relatime - ext4 /dev/root rw\n22 21 0:20 / /proc rw,relatime - proc proc rw\n"},
}

// comm is the process's name: 15 characters of its program's.
func (p *Process) comm() string {
	name := base(p.executable())
	return name[:min(len(name), 15)]
}

// ppid is the number of the process that started it.
func (p *Process) ppid() int {
	if p.parent != nil {
		return p.parent.pid
	}
	return 1
}

// state is R while the process runs, T while it is stopped, Z when it is dead.
func (p *Process) state() string {
	switch {
	case p.dead:
		return "Z"
	case p.host.Paused():
		return "T"
	}
	return "R"
}

// stat is /proc/pid/stat, of 52 fields.
func (p *Process) stat() string {
	cpu, _ := p.clock(clockProcessCPU)
	started := (p.started - sched.Epoch + uptime) / tick
	return fmt.Sprintf("%d (%s) %s %d %d %d 0 -1 4194304 0 0 0 0 %d 0 0 0 20 0 %d 0 %d %d %d 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		p.pid, p.comm(), p.state(), p.ppid(), p.pgid, p.pgid, cpu/tick, processors, started, resident*4, resident>>12)
}

// procStatus is /proc/pid/status.
func (p *Process) procStatus() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%s:\t%s\n", name, fmt.Sprintf(format, args...))
	}
	states := map[string]string{"R": "R (running)", "T": "T (stopped)", "Z": "Z (zombie)"}
	u, g := &p.creds.uid, &p.creds.gid
	line("Name", "%s", p.comm())
	line("Umask", "%04o", p.umask)
	line("State", "%s", states[p.state()])
	line("Tgid", "%d", p.pid)
	line("Ngid", "0")
	line("Pid", "%d", p.pid)
	line("PPid", "%d", p.ppid())
	line("TracerPid", "0")
	line("Uid", "%d\t%d\t%d\t%d", u[0], u[1], u[2], u[1])
	line("Gid", "%d\t%d\t%d\t%d", g[0], g[1], g[2], g[1])
	line("FDSize", "%d", max(64, len(p.high)))
	line("Groups", "%s", strings.Trim(fmt.Sprint(p.creds.groups), "[]"))
	for _, m := range []struct {
		name  string
		bytes int
	}{{"VmPeak", 4 * resident}, {"VmSize", 4 * resident}, {"VmLck", 0}, {"VmHWM", resident}, {"VmRSS", resident}, {"RssAnon", resident}, {"VmData", resident}, {"VmSwap", 0}} {
		line(m.name, "%8d kB", m.bytes>>10)
	}
	line("Threads", "%d", processors)
	line("SigIgn", "%016x", p.signals.ignored>>1)
	line("SigCgt", "%016x", uint64(0xfffffffe7fc1feff))
	caps := uint64(0)
	if u[1] == 0 {
		caps = allCaps
	}
	line("CapPrm", "%016x", caps)
	line("CapEff", "%016x", caps)
	line("CapBnd", "%016x", uint64(allCaps))
	line("Seccomp", "0")
	line("Cpus_allowed", "%x", 1<<processors-1)
	line("Cpus_allowed_list", "0-%d", processors-1)
	line("voluntary_ctxt_switches", "0")
	line("nonvoluntary_ctxt_switches", "0")
	return b.String()
}

// allCaps are all 41 capabilities that there are.
const allCaps = 1<<41 - 1

// limits is /proc/pid/limits.
func (p *Process) limits() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units")
	for i, l := range []struct{ name, unit string }{
		{"cpu time", "seconds"}, {"file size", "bytes"}, {"data size", "bytes"}, {"stack size", "bytes"}, {"core file size", "bytes"},
		{"resident set", "bytes"}, {"processes", "processes"}, {"open files", "files"}, {"locked memory", "bytes"}, {"address space", "bytes"},
		{"file locks", "locks"}, {"pending signals", "signals"}, {"msgqueue size", "bytes"}, {"nice priority", ""}, {"realtime priority", ""},
		{"realtime timeout", "us"},
	} {
		text := func(n uint64) string {
			if n == ^uint64(0) {
				return "unlimited"
			}
			return strconv.FormatUint(n, 10)
		}
		r := p.limit(i)
		fmt.Fprintf(&b, "%-25s %-20s %-20s %-10s\n", "Max "+l.name, text(r.cur), text(r.max), l.unit)
	}
	return b.String()
}

// procMaps is /proc/pid/maps: the files that are mapped. That of the program is the
// test binary's, and not told of.
func (p *Process) procMaps() string { return "" }

// installFDs puts /proc/pid/fd: a link for each descriptor.
func installFDs(self *simfs.Inode, get func() *Process) {
	var dir *simfs.Inode
	self.PresetListed("fd", func() []string {
		p := get()
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
		p := get()
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
