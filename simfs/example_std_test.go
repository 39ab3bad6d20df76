//go:build dstsim

package simfs_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simfs"
)

// In a simulation build, and not on a host, nothing reaches the real disk.
func ExampleOpen() {
	_, err := simfs.Open("/etc/hosts")
	var path *os.PathError // the types are those of package os
	fmt.Println(errors.As(err, &path), errors.Is(err, sched.ErrNotOnHost))
	// Output:
	// true true
}

// An assignment by way of ArgsVar is one to os.Args.
func ExampleArgsVar() {
	defer func(old []string) { os.Args = old }(os.Args)
	*simfs.ArgsVar() = []string{"program", "-x"}
	fmt.Println(os.Args)
	// Output:
	// [program -x]
}
