package mapiter_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/dstkit/dst/passes/internal/passtest"
	"github.com/dstkit/dst/passes/mapiter"
)

func Test(t *testing.T) { passtest.Run(t, mapiter.Analyzer) }

func TestFix(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), mapiter.Analyzer, "fix")
}
