package wal

import (
	"os"
	"syscall"
)

// datasync makes a file's content durable, but not its times; see fdatasync(2).
func datasync(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if e := raw.Control(func(fd uintptr) {
		for { // until no signal comes between
			if err = syscall.Fdatasync(int(fd)); err != syscall.EINTR {
				return
			}
		}
	}); e != nil {
		return e
	}
	return os.NewSyscallError("fdatasync", err)
}
