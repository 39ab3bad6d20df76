//go:build !linux || !(amd64 || arm64)

package dst

import "syscall"

// There are no simulated processes on this platform, and no worlds: what
// follows is never called.

type process struct{}

func (*process) Exit(code int)          {}
func (*process) Env() map[string]string { return nil }
func (*process) SetArgs(args []string)  {}
func (*process) SetInput(b []byte)      {}

type system struct{}

func (*system) init(*World) {}
func (*system) close()      {}

func (*system) program(path string, main func() int) error { return nil }

func newProcess(*Host) *process     { return &process{} }
func send(*process, syscall.Signal) {}
func live(line, string)             {}
