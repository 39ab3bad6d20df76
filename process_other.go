//go:build !linux || !(amd64 || arm64)

package dst

// There are no simulated processes on this platform, and no worlds: what
// follows is never called.

type process struct{}

func (*process) Exit(code int)          {}
func (*process) Env() map[string]string { return nil }
func (*process) SetArgs(args []string)  {}

type system struct{}

func (*system) init(*World) {}
func (*system) close()      {}

func newProcess(*Host) *process { return &process{} }
func terminate(*process)        {}
func live(line, string)         {}
