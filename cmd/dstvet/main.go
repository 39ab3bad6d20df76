package main

import (
	"flag"

	"github.com/dstkit/dst/passes"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	passes.AddFlags(flag.CommandLine)
	unitchecker.Main(passes.All()...)
}
