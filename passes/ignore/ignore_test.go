package ignore_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/dstkit/dst/passes/ignore"
)

func Test(t *testing.T) { analysistest.Run(t, analysistest.TestData(), ignore.Analyzer, "a") }
