//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// become replaces this process with the command.
func become(argv, env []string) error {
	return fmt.Errorf("cannot run %s: %w; check the Go installation", argv[0], syscall.Exec(argv[0], argv, env))
}
