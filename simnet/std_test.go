//go:build !dstsim

package simnet_test

import (
	"net"
	"testing"

	"github.com/dstkit/dst/simnet"
)

// Without the simulator the functions are std's, with the tag dst too.
func TestStdIsStd(t *testing.T) {
	l, err := simnet.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := simnet.LookupHost("localhost"); err != nil {
		t.Error(err)
	}
	if simnet.DefaultResolver != net.DefaultResolver || simnet.ErrClosed != net.ErrClosed {
		t.Error("a variable differs from std's")
	}
}
