package dst

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/dstkit/dst/sched"
)

// Program puts a program on every host: a file that os/exec and os.StartProcess can
// run, as which main stands in for the machine's own. A name without a slash is that
// of a file in /usr/bin; any other must be an absolute path. Hosts have a PATH then,
// unless the test set one.
//
// What runs it gets a process of its own, on the same host: with its arguments
// (os.Args), environment, working directory, standard files (pipes, as the Cmd has
// it), pid, signals, package variables of std, and randomness. Its exit status is what
// main returns; os.Exit and log.Fatal work, too. A panic of main fails the seed. It
// shares the host's network, disk and clock, and ends with the host's own process.
//
// Programs should be there before main of a host begins. It panics if there is one of
// that name already.
func (w *World) Program(name string, main func() int) {
	w.in()
	if main == nil {
		panic(fmt.Sprintf("dst: Program(%q): main is nil", name))
	}
	path := name
	if !strings.Contains(name, "/") {
		path = "/usr/bin/" + name
	}
	sched.Enter()
	defer sched.Leave()
	if err := w.sys.program(path, main); err != nil {
		panic(fmt.Sprintf("dst: Program(%q): %v", name, err))
	}
	w.programs = true
	for _, h := range w.hosts {
		if h.proc == nil {
			continue
		}
		if env := h.proc.Env(); env["PATH"] == "" {
			env["PATH"] = defaultPath
		}
	}
}

// defaultPath is where a shell looks for programs.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is what a process of a host begins with.
func (w *World) environment(h *Host) map[string]string {
	if _, ok := h.env["PATH"]; ok || !w.programs {
		return h.env
	}
	env := maps.Clone(h.env)
	if env == nil {
		env = map[string]string{}
	}
	env["PATH"] = defaultPath
	return env
}

// PerProcess makes package variables ones that each simulated process has for itself,
// as it would if it were a process: what a host assigns to one is seen by that host
// alone, and is gone when it reboots. Each process begins with what the variable held
// when the world began. It takes pointers to variables:
//
//	func init() { dst.PerProcess(&pkg.DefaultConfig, &registry) }
//
// What a variable points to (a map, a struct behind a pointer) is still shared, unless
// the program assigns another. Os.Args, os.Stdin, os.Stdout, os.Stderr and
// flag.CommandLine are such variables from the start. It is called outside of worlds,
// and costs some nanoseconds for each variable whenever another host's goroutine runs.
// It panics if a variable holds a lock (of package sync), which cannot be moved.
func PerProcess(vars ...any) {
	for _, v := range vars {
		t := reflect.TypeOf(v)
		if t == nil || t.Kind() != reflect.Pointer || reflect.ValueOf(v).IsNil() {
			panic(fmt.Sprintf("dst: PerProcess: %T is no pointer to a variable", v))
		}
		if where := lockIn(t.Elem()); where != "" {
			panic(fmt.Sprintf("dst: PerProcess: a variable of type %v holds a %s, which cannot be moved; make it a pointer that main assigns", t.Elem(), where))
		}
		sched.Own(v)
	}
}

// lockIn returns the type of package sync that values of t hold, or "".
func lockIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Array:
		return lockIn(t.Elem())
	case reflect.Struct:
		if p := t.PkgPath(); p == "sync" || p == "internal/sync" {
			return t.String()
		}
		for i := range t.NumField() {
			if where := lockIn(t.Field(i).Type); where != "" {
				return where
			}
		}
	}
	return ""
}
