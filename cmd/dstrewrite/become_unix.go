//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// become replaces this process with the command.
//
//dst:ignore escape the go command is what this program is for
func become(argv, env []string) error {
	return fmt.Errorf("cannot run %s: %w; check the Go installation", argv[0], syscall.Exec(argv[0], argv, env))
}
