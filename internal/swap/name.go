package swap

import (
	"regexp"
	"slices"
	"strings"
)

// A file's name may hold a build constraint: these are the words that do, by the
// documentation of package go/build. A test holds them against it.
var (
	knownOS = strings.Fields("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 " +
		"solaris wasip1 windows zos")
	knownArch = strings.Fields("386 amd64 amd64p32 arm arm64 arm64be armbe loong64 mips mips64 mips64le mips64p32 mips64p32le " +
		"mipsle ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
)

// twinName returns the name of a file's twin: with the tag before what is a build
// constraint in the name, and before _test.
func twinName(name, tag string) string {
	stem := strings.TrimSuffix(name, ".go")
	stem, isTest := strings.CutSuffix(stem, "_test")
	words := strings.Split(stem, "_")
	n := len(words)
	switch {
	case n >= 3 && slices.Contains(knownOS, words[n-2]) && slices.Contains(knownArch, words[n-1]):
		n -= 2
	case n >= 2 && (slices.Contains(knownOS, words[n-1]) || slices.Contains(knownArch, words[n-1])):
		n--
	}
	twin := strings.Join(slices.Insert(words, n, tag), "_")
	if isTest {
		twin += "_test"
	}
	return twin + ".go"
}

var tagRE = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// validTag tells whether a tag can be part of a file's name.
func validTag(tag string) bool {
	return tagRE.MatchString(tag) && tag != "test" && !slices.Contains(knownOS, tag) && !slices.Contains(knownArch, tag)
}
