package simfs

import (
	"os"

	"github.com/dstkit/dst/sched"
)

//go:generate go run ../internal/dropin/gen

// These make the errors of the functions in std.go outside of simulated hosts, of
// the types that std's have.

func outside(op, path string) error {
	return &os.PathError{Op: op, Path: path, Err: sched.ErrNotOnHost}
}

func outsideLink(op, from, to string) error {
	return &os.LinkError{Op: op, Old: from, New: to, Err: sched.ErrNotOnHost}
}

func outsideCall(name string) error { return os.NewSyscallError(name, sched.ErrNotOnHost) }
