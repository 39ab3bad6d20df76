package main

import "strings"

// forwarded lists the go commands that build with an overlay.
var forwarded = []string{"build", "install", "list", "run", "test", "vet"}

// The flags of the go command, to tell a flag's value from the argument after a
// flag. A test holds them against go help. True: the flag needs a value, which
// may be the next argument; false: it is boolean, or takes a value after "=" only.
var (
	buildFlags = flagTable{
		"C": true, "a": false, "asan": false, "asmflags": true, "buildmode": true, "buildvcs": false, "compiler": true,
		"cover": false, "covermode": true, "coverpkg": true, "debug-actiongraph": true, "debug-runtime-trace": true,
		"debug-trace": true, "gccgoflags": true, "gcflags": true, "installsuffix": true, "json": false, "ldflags": true,
		"linkshared": false, "mod": true, "modcacherw": false, "modfile": true, "msan": false, "n": false, "overlay": true,
		"p": true, "pgo": true, "pkgdir": true, "race": false, "tags": true, "toolexec": true, "trimpath": false,
		"v": false, "work": false, "x": false,
	}
	commandFlags = map[string]flagTable{
		"build":   {"o": true},
		"install": {},
		"list": {
			"compiled": false, "deps": false, "e": false, "export": false, "f": true, "find": false, "m": false,
			"retracted": false, "reuse": true, "test": false, "u": false, "versions": false,
		},
		"run": {"exec": true},
		"test": {
			"args": false, "artifacts": false, "bench": true, "benchmem": false, "benchtime": true, "blockprofile": true,
			"blockprofilerate": true, "c": false, "count": true, "coverprofile": true, "cpu": true, "cpuprofile": true,
			"exec": true, "failfast": false, "fullpath": false, "fuzz": true, "fuzzminimizetime": true, "fuzztime": true,
			"list": true, "memprofile": true, "memprofilerate": true, "mutexprofile": true, "mutexprofilefraction": true,
			"o": true, "outputdir": true, "parallel": true, "run": true, "short": false, "shuffle": true, "skip": true,
			"timeout": true, "trace": true, "vet": true,
		},
		"vet": {"c": true, "diff": false, "fix": false, "vettool": true},
	}
)

type flagTable map[string]bool

// lookup tells whether a flag of the command needs a value.
func lookup(command, name string) (needsValue, known bool) {
	if command == "test" {
		name = strings.TrimPrefix(name, "test.") // go test takes its binary's spelling too
	}
	if v, ok := commandFlags[command][name]; ok {
		return v, true
	}
	v, ok := buildFlags[name]
	return v, ok
}

// arguments is a go command's argument list, without the flags that we have to
// combine with our own.
type arguments struct {
	chdir   []string // -C and its value: must stay the first flag
	dir     string   // value of -C
	tags    *string  // value of the last -tags, nil when there is none
	overlay string   // value of the last -overlay
	race    bool
	help    bool
	rest    []string // everything else, as it was
}

// parseArgs finds the flags of the go command as that command does itself.
//
// Most commands stop at the first argument that is no flag. Go test goes on after
// the packages, up to -args or a second list of words, and passes flags that it
// does not know to the test. Go vet knows more flags than we do, its tool's; the
// word after such a flag may be a value, so there we look on.
func parseArgs(command string, args []string) arguments {
	var a arguments
	var (
		inPackages   bool // the last argument was a package
		packagesDone bool // no more packages can follow
		afterUnknown bool // the last argument was a flag that may take a value
	)
	for i := 0; i < len(args); {
		arg := args[i]
		name, value, hasValue, isFlag := splitFlag(arg)
		if !isFlag {
			if arg == "--" {
				return a.with(args[i:])
			}
			switch {
			case command == "test" && packagesDone && !inPackages:
				if !afterUnknown {
					return a.with(args[i:])
				}
			case command == "test":
				inPackages, packagesDone = true, true
			case !afterUnknown:
				return a.with(args[i:])
			}
			afterUnknown = false
			a.rest = append(a.rest, arg)
			i++
			continue
		}
		inPackages, afterUnknown = false, false
		if command == "test" && name == "args" {
			return a.with(args[i:])
		}
		needsValue, known := lookup(command, name)
		n := 1
		if known && needsValue && !hasValue {
			if i+1 == len(args) {
				return a.with(args[i:]) // the go command complains better than we could
			}
			value = args[i+1]
			n = 2
		}
		switch {
		case !known:
			packagesDone = true
			afterUnknown = !hasValue
			a.rest = append(a.rest, arg)
		case name == "tags":
			a.tags = &value
		case name == "overlay":
			a.overlay = value
		case name == "C" && i == 0:
			a.chdir, a.dir = args[i:i+n], value
		default:
			if name == "race" {
				a.race = !hasValue || isTrue(value)
			}
			a.rest = append(a.rest, args[i:i+n]...)
		}
		i += n
	}
	return a
}

func (a arguments) with(rest []string) arguments {
	a.rest = append(a.rest, rest...)
	return a
}

// splitFlag takes -name, --name, -name=value and --name=value apart.
func splitFlag(arg string) (name, value string, hasValue, ok bool) {
	if len(arg) < 2 || arg[0] != '-' || arg == "--" {
		return "", "", false, false
	}
	name = strings.TrimPrefix(arg[1:], "-")
	name, value, hasValue = strings.Cut(name, "=")
	return name, value, hasValue, true
}

// isTrue reads a boolean flag's value as package flag does.
func isTrue(s string) bool {
	switch s {
	case "1", "t", "T", "true", "TRUE", "True":
		return true
	}
	return false
}
