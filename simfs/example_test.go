package simfs_test

import (
	"fmt"
	"syscall"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
)

// A program replaces its configuration without any fsync. These are the files
// that a loss of power may leave. In a test, h.Disk() is the disk of a host, and
// the program uses package os.
func ExampleDisk_CrashStates() {
	d := simfs.New(sched.New(1), "a")
	d.WriteFile("/etc/config", []byte("old"))

	f, _ := d.Open(d.Root(), "/etc/config.new", simfs.OpenFlags{Create: true, Write: true}, 0o644)
	f.WriteAt([]byte("new"), 0)
	d.Rename(d.Root(), "/etc/config.new", d.Root(), "/etc/config", simfs.RenameFlags{})

	states, all := d.CrashStates(100)
	fmt.Println(len(states), "states, all of them:", all)
	for _, s := range states {
		names, _ := s.List("/etc")
		for _, name := range names {
			b, _ := s.ReadFile("/etc/" + name)
			fmt.Printf(" %s=%q", name, b)
		}
		fmt.Println()
	}
	// Output:
	// 4 states, all of them: true
	//  config="new"
	//  config="old" config.new="new"
	//  config="old" config.new=""
	//  config="old"
}

// Rules for a single file: its writes fail when the disk is "full", the others'
// do not.
func ExampleDisk_SetFaults() {
	d := simfs.New(sched.New(1), "a")
	d.SetFaults(simfs.Faults{NoSpace: 1}, "/var/lib/*.log")

	for _, path := range []string{"/var/lib/a.log", "/var/lib/b"} {
		f, _ := d.Open(d.Root(), path, simfs.OpenFlags{Create: true, Write: true}, 0o644)
		_, errno := f.WriteAt([]byte("x"), 0)
		fmt.Println(path, errno == syscall.ENOSPC)
	}
	// Output:
	// /var/lib/a.log true
	// /var/lib/b false
}
