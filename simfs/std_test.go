//go:build !dstsim

package simfs_test

import (
	"os"
	"testing"

	"github.com/dstkit/dst/simfs"
	"github.com/dstkit/dst/simfs/filepath"
	"github.com/dstkit/dst/simfs/ioutil"
)

// Without the simulator the functions are std's, with the tag dst too.
func TestStdIsStd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := simfs.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := ioutil.ReadFile(path); string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
	if abs, err := filepath.Abs("x"); err != nil || !filepath.IsAbs(abs) {
		t.Errorf("%q, %v", abs, err)
	}
	if simfs.Stdout != os.Stdout || simfs.ErrNotExist != os.ErrNotExist || &simfs.Args[0] != &os.Args[0] {
		t.Error("a variable differs from std's")
	}
}
