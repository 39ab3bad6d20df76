package plugin

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"
)

func TestRegistered(t *testing.T) {
	create, err := register.GetPlugin("dstvet")
	if err != nil {
		t.Fatal(err)
	}
	p, err := create(map[string]any{"sim": true, "disable": []string{"straygo"}})
	if err != nil {
		t.Fatal(err)
	}
	analyzers, err := p.BuildAnalyzers()
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, a := range analyzers {
		names[a.Name] = true
	}
	if len(analyzers) != 6 || names["straygo"] || !names["mapiter"] || !names["ignore"] {
		t.Errorf("analyzers: got %v, want all but straygo", names)
	}
	if m := p.GetLoadMode(); m != register.LoadModeTypesInfo {
		t.Errorf("load mode: got %q, want %q", m, register.LoadModeTypesInfo)
	}
	if _, err := create(map[string]any{"disable": []string{"nosuch"}}); err == nil {
		t.Error("disable: nosuch: expected an error")
	}
	if _, err := create(map[string]any{"simulator": true}); err == nil {
		t.Error("an unknown setting: expected an error")
	}
}
