package straygo_test

import (
	"testing"

	"github.com/dstkit/dst/passes/internal/passtest"
	"github.com/dstkit/dst/passes/straygo"
)

func Test(t *testing.T) { passtest.Run(t, straygo.Analyzer) }
