//go:build dstsim

package simnet_test

import (
	"errors"
	"fmt"
	"net"

	"github.com/dstkit/dst/sched"
	"github.com/dstkit/dst/simnet"
)

// In a simulation build, and not on a host, nothing reaches the real network.
func ExampleDial() {
	_, err := simnet.Dial("tcp", "192.0.2.1:80")
	var op *net.OpError // the types are those of package net
	fmt.Println(errors.As(err, &op), errors.Is(err, sched.ErrNotOnHost))
	addr, err := simnet.ResolveTCPAddr("tcp", "192.0.2.1:80") // there is nothing to look up
	fmt.Println(addr, err)
	// Output:
	// true true
	// 192.0.2.1:80 <nil>
}
