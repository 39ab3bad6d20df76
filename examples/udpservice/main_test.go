package main

import (
	"context"
	"strings"
	"testing"
)

// Wrong arguments are refused with what to write instead, before anything listens.
func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		"-mode other":        "naive or reliable",
		"-node 3":            "there are 3 nodes",
		"-put x":             "want key=value",
		"-no-such-flag":      "not defined",
		"-nodes a:1 -node 0": "a store has 3",
	} {
		err := run(context.Background(), strings.Fields(args))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
