package sharedstate_test

import (
	"testing"

	"github.com/dstkit/dst/passes/internal/passtest"
	"github.com/dstkit/dst/passes/sharedstate"
)

func Test(t *testing.T) { passtest.Run(t, sharedstate.Analyzer) }
