package escape_test

import (
	"testing"

	"github.com/dstkit/dst/passes/escape"
	"github.com/dstkit/dst/passes/internal/passtest"
)

func Test(t *testing.T) { passtest.Run(t, escape.Analyzer) }
