package sim

import (
	"fmt"
	"os/exec"
	"runtime"
)

var workers = runtime.NumCPU() // want `the machine decides what is done here: runtime.NumCPU`

func pool() int { return runtime.NumCPU() }

func run() error { return exec.Command("ls").Run() } // want `runs another program`

func iterate(m map[*int]int) {
	for p := range m { // want `depends on addresses`
		fmt.Println(*p)
	}
}
