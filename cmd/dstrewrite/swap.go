package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/dstkit/dst/internal/dropin"
	"github.com/dstkit/dst/internal/swap"
)

const swapUsage = `usage: dstrewrite swap [-d | -w | -u] [-n] [-tag dst] [packages]

Swap gives files that import net, time, os, math/rand and their kin a twin that
imports the drop-in packages of dst instead, for builds with the tag.

	-w	write the twins, and mark the originals
	-u	undo: remove the twins, and restore the originals
	-d	print the changes as a diff
	-n	list the changes only; with -u, those of undoing
	-tag t	the build tag of the twins, and part of their names (dst)

Without -w, -u and -d it does as with -n.
`

// runSwap is the command swap.
func runSwap(args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("swap", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	asDiff, write, undo := fs.Bool("d", false, ""), fs.Bool("w", false, ""), fs.Bool("u", false, "")
	dry, tag := fs.Bool("n", false, ""), fs.String("tag", "dst", "")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		_, err := io.WriteString(stdout, swapUsage)
		return err
	} else if err != nil {
		return usageError{fmt.Sprintf("swap: %v\n%s", err, swapUsage)}
	}
	modes := 0
	for _, on := range []bool{*asDiff, *write, *undo} {
		if on {
			modes++
		}
	}
	if modes > 1 {
		return usageError{"swap: expected one of -d, -w and -u, found more"}
	}
	patterns := fs.Args()
	for _, arg := range patterns {
		if strings.HasPrefix(arg, "-") {
			return usageError{fmt.Sprintf("swap: flags go before the packages, found %s", arg)}
		}
	}
	if len(patterns) == 0 {
		patterns = []string{"."}
	}

	var plan *swap.Plan
	var err error
	if *undo {
		plan, err = swap.Undo("", patterns)
	} else {
		plan, err = swap.Swap("", *tag, patterns)
	}
	if err != nil {
		return fmt.Errorf("swap: %w", err)
	}
	if *asDiff {
		return printDiff(stdout, plan)
	}
	if (*write || *undo) && !*dry {
		if err := plan.Apply(); err != nil {
			return fmt.Errorf("swap: %w", err)
		}
	}
	for _, c := range plan.Changes {
		fmt.Fprintf(stdout, "%-7s %s\n", c.What, short(c.Path))
	}
	for _, left := range plan.Left {
		fmt.Fprintf(stderr, "left alone: %s\n", short(left))
	}
	for _, path := range plan.Missing {
		fmt.Fprintf(stderr, "dstrewrite: module %s does not require the drop-in packages yet; add them with: go get %s\n", path, dropin.Module)
	}
	return nil
}

func printDiff(w io.Writer, plan *swap.Plan) error {
	for _, c := range plan.Changes {
		old, content := short(c.Path), c.Old
		for _, o := range plan.Changes {
			// A new twin is shown by what differs from its original.
			if c.From == o.Path {
				old, content = short(o.Path), o.New
			}
		}
		name := short(c.Path)
		if c.New == nil {
			name = os.DevNull
		}
		if _, err := w.Write(diff.Diff(old, content, name, c.New)); err != nil {
			return err
		}
	}
	return nil
}

// short makes a path relative to the current folder, where that is below it.
func short(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
