package effect

import (
	"go/types"
	"strings"
)

// sources lists the functions and variables of std where chains end.
var sources = map[string]map[string]Kind{
	"time": kinds(Clock, "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"),
	"math/rand": kinds(Rand, "ExpFloat64", "Float32", "Float64", "Int", "Int31", "Int31n", "Int63", "Int63n", "Intn",
		"NormFloat64", "Perm", "Read", "Seed", "Shuffle", "Uint32", "Uint64"),
	"math/rand/v2": kinds(Rand, "ExpFloat64", "Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN",
		"N", "NormFloat64", "Perm", "Shuffle", "Uint", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN"),
	"crypto/rand":  kinds(Rand, "Int", "Prime", "Read", "Reader", "Text"),
	"hash/maphash": kinds(Rand, "MakeSeed"),
	"os/exec":      kinds(Exec, "Cmd.Start", "Cmd.Run", "Cmd.Output", "Cmd.CombinedOutput"),
	"os":           kinds(Exec, "StartProcess"),
	"syscall":      kinds(Exec, "ForkExec", "Exec", "StartProcess"),
	"plugin":       kinds(Plugin, "Open"),
}

func kinds(k Kind, names ...string) map[string]Kind {
	m := make(map[string]Kind)
	for _, n := range names {
		m[n] = k
	}
	return m
}

// Source tells whether obj is a place in std where chains end.
func Source(obj types.Object) (Kind, bool) {
	if obj.Pkg() == nil {
		return 0, false
	}
	names, ok := sources[obj.Pkg().Path()]
	if !ok {
		return 0, false
	}
	k, ok := names[Key(obj)]
	return k, ok
}

// outside lists the packages of std, with all below them, that have no facts: they
// do IO, or belong to the runtime or the tool chain, and the simulator holds them.
var outside = []string{
	"cmd", "crypto", "database", "debug", "expvar", "go", "internal", "log", "net", "os", "plugin", "reflect",
	"runtime", "sync", "syscall", "testing", "time", "vendor", "unique", "weak", "hash", "math/rand",
}

func hasFacts(path string) bool {
	for _, p := range outside {
		if path == p || strings.HasPrefix(path, p+"/") {
			return false
		}
	}
	return !strings.Contains(path, "/internal/") && !strings.HasSuffix(path, "/internal")
}

// The first elements of std's import paths. That no module is named is not
// enough: golangci-lint and test drivers do not always name one.
var stdTop = set("archive", "bufio", "builtin", "bytes", "cmp", "cmd", "compress", "container", "context", "crypto", "database",
	"debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io",
	"iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "simd", "slices", "sort",
	"strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "uuid", "vendor", "weak")

func set(names ...string) map[string]bool {
	m := make(map[string]bool)
	for _, n := range names {
		m[n] = true
	}
	return m
}

// IsStd tells whether an import path is the standard library's.
func IsStd(path string) bool {
	top, _, _ := strings.Cut(path, "/")
	return stdTop[top]
}

// teardown lists names of methods whose order is nobody's business when many are
// called: that of shutting all of something down.
var teardown = set("Close", "close", "Stop", "stop", "Cancel", "cancel", "Shutdown", "shutdown", "Unlock", "RUnlock", "Lock", "RLock", "Done", "Wait",
	"Kill", "kill", "Release", "release", "Free", "free", "Reset", "reset", "Abort", "abort", "CloseAll", "closeAll", "Destroy", "destroy",
	"CloseNow", "CloseWithError", "SetDeadline", "SetReadDeadline", "SetWriteDeadline")

// IsTeardown tells whether a function shuts one thing down, by its name.
func IsTeardown(name string) bool { return teardown[name] }
