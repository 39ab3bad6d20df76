//go:build !dstsim && linux && (amd64 || arm64)

package kernel

import (
	"flag"
	"os"
)

// Without the simulator std's variables are those of the machine's process.

func stdFile(fd int, name string) *os.File                 { return nil }
func copyFlags(f *flag.FlagSet, name string) *flag.FlagSet { return f }
