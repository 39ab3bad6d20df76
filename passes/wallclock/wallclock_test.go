package wallclock_test

import (
	"testing"

	"github.com/dstkit/dst/passes/internal/passtest"
	"github.com/dstkit/dst/passes/wallclock"
)

func Test(t *testing.T) { passtest.Run(t, wallclock.Analyzer) }
