package globalrand_test

import (
	"testing"

	"github.com/dstkit/dst/passes/globalrand"
	"github.com/dstkit/dst/passes/internal/passtest"
)

func Test(t *testing.T) { passtest.Run(t, globalrand.Analyzer) }
