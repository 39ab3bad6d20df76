//go:build linux && (amd64 || arm64)

package kernel

import (
	"sort"
	"strings"
	"syscall"

	"github.com/dstkit/dst/sched"
)

var _ sched.ProcessState = (*Process)(nil)

// The environment belongs to the process, as package syscall's functions see
// it. A nil process has none.

// Getenv is [syscall.Getenv] of the process.
func (p *Process) Getenv(key string) (value string, found bool) {
	if p == nil {
		return "", false
	}
	sched.Enter()
	defer sched.Leave()
	value, found = p.env[key]
	return value, found
}

// Setenv is [syscall.Setenv] of the process.
func (p *Process) Setenv(key, value string) error {
	if p == nil || key == "" || strings.ContainsAny(key, "=\x00") || strings.ContainsRune(value, 0) {
		return syscall.EINVAL
	}
	sched.Enter()
	defer sched.Leave()
	p.env[key] = value
	return nil
}

// Unsetenv is [syscall.Unsetenv] of the process.
func (p *Process) Unsetenv(key string) error {
	if p != nil {
		sched.Enter()
		defer sched.Leave()
		delete(p.env, key)
	}
	return nil
}

// Clearenv is [syscall.Clearenv] of the process.
func (p *Process) Clearenv() {
	if p != nil {
		sched.Enter()
		defer sched.Leave()
		clear(p.env)
	}
}

// Environ is [syscall.Environ] of the process, sorted.
func (p *Process) Environ() []string {
	if p == nil {
		return nil
	}
	sched.Enter()
	defer sched.Leave()
	list := make([]string, 0, len(p.env))
	for key, value := range p.env {
		list = append(list, key+"="+value)
	}
	sort.Strings(list)
	return list
}

// Godebug returns what the process's environment sets in GODEBUG for name.
func (p *Process) Godebug(name string) (text string, ok bool) {
	if p == nil {
		return "", false
	}
	sched.Enter()
	defer sched.Leave()
	if env := p.env["GODEBUG"]; env != p.godebugOf {
		p.godebugOf = env
		p.godebug = parseGodebug(env)
	}
	text, ok = p.godebug[name]
	return text, ok
}

// parseGodebug reads a list of name=value: the last one of a name counts. What
// follows a # is for package internal/bisect, which is not of use here.
func parseGodebug(env string) map[string]string {
	m := make(map[string]string)
	for field := range strings.SplitSeq(env, ",") {
		if name, text, ok := strings.Cut(field, "="); ok {
			text, _, _ = strings.Cut(text, "#")
			m[strings.Clone(name)] = strings.Clone(text)
		}
	}
	return m
}
