package effect

import (
	"go/types"
	"strings"
)

// An orderEffect is what a call does that can be seen in the order of calls.
type orderEffect struct {
	global bool   // others see it in any case
	arg    int    // else: it changes what argument arg (a method's receiver is 0) points at
	what   string // "writes", "prints", …
}

// stdOrder is the table for std, whose facts do not say it: its writers come down
// to memory copies and to system calls.
func stdOrder(fn *types.Func) (orderEffect, bool) {
	if fn.Pkg() == nil {
		return orderEffect{}, false
	}
	path, name := fn.Pkg().Path(), fn.Name()
	recv := ""
	if r := fn.Signature().Recv(); r != nil {
		recv = typeName(r.Type())
	}
	onArg := func(i int, what string) (orderEffect, bool) { return orderEffect{arg: i, what: what}, true }
	global := func(what string) (orderEffect, bool) { return orderEffect{global: true, what: what}, true }
	switch path {
	case "fmt":
		switch {
		case strings.HasPrefix(name, "Fprint"):
			return onArg(0, "writes")
		case strings.HasPrefix(name, "Print"):
			return global("prints")
		case strings.HasPrefix(name, "Append"):
			return orderEffect{}, false
		}
	case "io":
		switch name {
		case "WriteString", "Copy", "CopyN", "CopyBuffer":
			return onArg(0, "writes")
		}
	case "encoding/binary":
		if name == "Write" {
			return onArg(0, "writes")
		}
	case "log", "log/slog":
		if recv == "Record" {
			return onArg(0, "appends")
		}
		switch {
		case strings.HasPrefix(name, "Fatal"), strings.HasPrefix(name, "Panic"):
			return orderEffect{}, false // ends the process, as panic does
		case strings.HasPrefix(name, "Print"), strings.HasPrefix(name, "Debug"), strings.HasPrefix(name, "Info"),
			strings.HasPrefix(name, "Warn"), strings.HasPrefix(name, "Error"), strings.HasPrefix(name, "Log"), name == "Output":
			return global("logs")
		}
	case "math/rand", "math/rand/v2":
		switch {
		case recv != "" && name != "Seed":
			return onArg(0, "draws randomness")
		case recv == "":
			if _, ok := Source(fn); ok {
				return global("draws randomness")
			}
		}
	case "container/list":
		switch name {
		case "PushBack", "PushFront", "InsertBefore", "InsertAfter", "MoveToFront", "MoveToBack":
			return onArg(0, "orders a list")
		}
	case "strings", "bytes", "bufio", "text/tabwriter", "encoding/csv", "encoding/json", "encoding/gob", "encoding/xml",
		"archive/tar", "archive/zip", "compress/gzip", "compress/flate", "hash", "os", "net", "crypto/tls", "mime/multipart":
		if recv == "" {
			break
		}
		switch {
		case name == "WriteTo" && recv == "Buffer":
			return orderEffect{}, false
		case strings.HasPrefix(name, "Write"), strings.HasPrefix(name, "Encode"), strings.HasPrefix(name, "ReadFrom"),
			name == "Create", name == "CreateHeader", name == "CreatePart":
			return onArg(0, "writes")
		}
	case "testing":
		if strings.HasPrefix(name, "Log") || strings.HasPrefix(name, "Error") {
			return global("logs")
		}
	}
	return orderEffect{}, false
}

var writerVerbs = []string{"Write", "Send", "Print", "Encode", "Publish", "Emit", "Broadcast", "Push", "Enqueue"}

var loggerVerbs = []string{"Log", "Debug", "Info", "Warn", "Trace", "Notice", "Errorf", "Errorw", "Errorln", "Print"}

// dynamicOrder judges a call through an interface, of which only the name is known.
func dynamicOrder(fn *types.Func) (orderEffect, bool) {
	name := fn.Name()
	for _, v := range loggerVerbs {
		if verb(name, v) && fn.Signature().Results().Len() == 0 {
			return orderEffect{global: true, what: "logs"}, true
		}
	}
	for _, v := range writerVerbs {
		if verb(name, v) {
			return orderEffect{what: strings.ToLower(v[:1]) + v[1:] + "s"}, true
		}
	}
	return orderEffect{}, false
}

// verb tells whether name is the verb, or begins with it as a word.
func verb(name, v string) bool {
	rest, ok := strings.CutPrefix(name, v)
	return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z' || rest == "f" || rest == "ln" || rest == "w")
}

// Global tells whether others see the effect whatever the arguments are.
func (e orderEffect) Global() bool { return e.global }

// Arg is the index of the argument (a method's receiver is 0) that is changed.
func (e orderEffect) Arg() int { return e.arg }

// What says what the call does: writes, prints, draws randomness.
func (e orderEffect) What() string { return e.what }
