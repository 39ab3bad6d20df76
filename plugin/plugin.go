// Package plugin makes the analyzers of dstvet a module plugin of golangci-lint.
//
// It is a module of its own, so that who uses dst does not depend on golangci-lint's
// register. .custom-gcl.yml and .golangci.yml in this folder are an example: with the
// first, golangci-lint custom builds a golangci-lint that has dstvet; the second
// turns it on.
package plugin

import (
	"fmt"
	"slices"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/dstkit/dst/passes"
)

func init() { register.Plugin("dstvet", New) }

// Settings are what .golangci.yml says under settings.custom.dstvet.settings.
type Settings struct {
	// Sim reports only what stays nondeterministic inside the simulator.
	Sim bool `json:"sim"`
	// Test reports what is found in _test.go files too.
	Test bool `json:"test"`
	// Disable names analyzers to leave out.
	Disable []string `json:"disable"`
}

type linter struct{ analyzers []*analysis.Analyzer }

var _ register.LinterPlugin = (*linter)(nil)

// New is called by golangci-lint, once, with the settings as decoded from YAML.
func New(conf any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](conf)
	if err != nil {
		return nil, fmt.Errorf("dstvet: cannot read the settings: %w", err)
	}
	l := &linter{passes.All()}
	for _, name := range s.Disable {
		i := slices.IndexFunc(l.analyzers, func(a *analysis.Analyzer) bool { return a.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("dstvet: the setting disable names %q, which is no analyzer, or named twice", name)
		}
		l.analyzers = slices.Delete(l.analyzers, i, i+1)
	}
	passes.Configure(s.Sim, s.Test)
	return l, nil
}

func (l *linter) BuildAnalyzers() ([]*analysis.Analyzer, error) { return l.analyzers, nil }

// GetLoadMode asks for types: the analyzers' facts need those of dependencies.
func (l *linter) GetLoadMode() string { return register.LoadModeTypesInfo }
