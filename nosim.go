//go:build dst && !dstsim

package dst

import (
	"fmt"
	"os"
)

// Files for simulation only were asked for, without the simulator beneath them:
// nothing in this binary can work as it is meant to.
func init() {
	fmt.Fprintln(os.Stderr, noSimulator("./..."))
	os.Exit(2)
}
