package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dstkit/dst/internal/seam"
)

// simTags are the build tags of a simulation build. Dst selects the user's
// simulation files, dstsim the code that needs the overlay; the others keep
// package net and os/user in Go, as C code cannot be simulated.
var simTags = []string{"dst", "dstsim", "netgo", "osusergo"}

// splitTags takes the value of a -tags flag apart: a list with commas, or (the
// old way) with spaces, where a tag may be quoted.
func splitTags(value string) ([]string, error) {
	if !strings.ContainsAny(value, " '") {
		return slices.DeleteFunc(strings.Split(value, ","), func(s string) bool { return s == "" }), nil
	}
	return splitQuoted(value)
}

// mergeTags joins lists of tags, each once, in the order given.
func mergeTags(lists ...[]string) string {
	var all []string
	for _, list := range lists {
		for _, tag := range list {
			if !slices.Contains(all, tag) {
				all = append(all, tag)
			}
		}
	}
	return strings.Join(all, ",")
}

// A flagList is GOFLAGS without the flags that we have to combine with our own.
type flagList struct {
	tags    []string
	overlay string
	race    bool
	rest    []string
}

func parseGoflags(s string) (flagList, error) {
	var l flagList
	words, err := splitQuoted(s)
	if err != nil {
		return l, fmt.Errorf("cannot read GOFLAGS %q: %w", s, err)
	}
	for _, w := range words {
		name, value, hasValue, ok := splitFlag(w)
		switch {
		case ok && name == "tags" && hasValue:
			if l.tags, err = splitTags(value); err != nil {
				return l, fmt.Errorf("cannot read -tags in GOFLAGS: %w", err)
			}
		case ok && name == "overlay" && hasValue:
			l.overlay = value
		default:
			if ok && name == "race" {
				l.race = !hasValue || isTrue(value)
			}
			l.rest = append(l.rest, w)
		}
	}
	return l, nil
}

// goflags returns the user's GOFLAGS with the simulation's flags in it.
func goflags(user string, o *seam.Overlay, dir string) (string, error) {
	l, err := parseGoflags(user)
	if err != nil {
		return "", err
	}
	file := o.File
	if l.overlay != "" {
		if file, err = o.Merge(l.overlay, dir); err != nil {
			return "", err
		}
	}
	return joinQuoted(append(l.rest, simFlags(file, mergeTags(l.tags, simTags), l.race)...))
}

// simFlags are the flags that make a go command's build a simulation build. Any
// that only a build with the race detector needs go in here too.
func simFlags(overlay, tags string, race bool) []string {
	_ = race // needs none so far
	return []string{"-overlay=" + overlay, "-tags=" + tags}
}
