//go:build !unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// become runs the command and ends with its exit code.
func become(argv, env []string) error {
	// The console sends an interrupt to the child as well: let it end first.
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitCode(ee.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("cannot run %s: %w; check the Go installation", argv[0], err)
	}
	return nil
}
