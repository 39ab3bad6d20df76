package conformance

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed shared.txt
var sharedText string

// shared has the tests that look into variables of their package which a
// simulated process has for itself: "package test".
var shared = func() map[string]bool {
	tests, err := parseShared(sharedText)
	if err != nil {
		panic(err)
	}
	return tests
}()

// sharedEnv is package inhost's SharedEnv, which only simulation builds have.
const sharedEnv = "DST_CONFORMANCE_SHARED"

// parseShared reads lines: package, test, what it looks into.
func parseShared(text string) (map[string]bool, error) {
	tests := map[string]bool{}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 3 {
			return nil, fmt.Errorf("shared.txt:%d: expected a package, a test and what it looks into, found %q", n, line)
		}
		tests[f[0]+" "+f[1]] = true
	}
	return tests, nil
}
