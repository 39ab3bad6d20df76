package dropin

import (
	"flag"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write control.txt")

// TestParity holds each drop-in package to its package of std: the same names,
// the same types and values, and nothing else but what control.txt lists.
func TestParity(t *testing.T) {
	systems := []string{runtime.GOOS, "windows", "darwin"}
	if testing.Short() {
		systems = systems[:1]
	}
	if _, err := os.Stat(filepath.Join(runtime.GOROOT(), "src/net/net.go")); err != nil {
		t.Fatalf("parity is checked against std's source: %v", err)
	}
	var control []string
	for _, goos := range systems {
		packages := Load(goos) // one importer: types from two differ
		for _, p := range Packages {
			std, err := packages.Import(p.Std)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := packages.Import(p.Path)
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range compare(std, ours) {
				t.Errorf("%s, %s", goos, fault)
			}
			extra := slices.DeleteFunc(Exported(ours), func(name string) bool { return std.Scope().Lookup(name) != nil })
			if goos == runtime.GOOS {
				control = append(control, strings.Join(append([]string{p.Dir}, extra...), " ")+"\n")
			}
			if !*update && !slices.Equal(extra, p.Control()) {
				t.Errorf("%s, %s has, beside the names of %s,\n%q\ncontrol.txt lists\n%q\nIf these are meant to be: go test ./internal/dropin -update", goos, p.Path, p.Std, extra, p.Control())
			}
		}
	}
	if *update {
		if err := os.WriteFile("control.txt", []byte(strings.Join(control, "")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// compare tells where ours is not std.
func compare(std, ours *types.Package) (faults []string) {
	for _, name := range Exported(std) {
		want, got := std.Scope().Lookup(name), ours.Scope().Lookup(name)
		same := false
		switch want := want.(type) {
		case *types.Const:
			got, ok := got.(*types.Const)
			same = ok && types.Identical(got.Type(), want.Type()) && constant.Compare(got.Val(), token.EQL, want.Val())
		case *types.Var:
			got, ok := got.(*types.Var)
			same = ok && types.Identical(got.Type(), want.Type())
		case *types.TypeName:
			got, ok := got.(*types.TypeName)
			same = ok && got.IsAlias() && types.Identical(got.Type(), want.Type())
		case *types.Func:
			got, ok := got.(*types.Func)
			same = ok && sameSignature(got.Signature(), want.Signature())
		}
		if !same {
			faults = append(faults, std.Path()+"."+name+": expected "+types.ObjectString(want, nil)+", found "+text(got))
		}
	}
	return faults
}

func text(obj types.Object) string {
	if obj == nil {
		return "nothing"
	}
	return types.ObjectString(obj, nil)
}

// sameSignature is types.Identical, but for constraints: std's may have a name that is
// not exported.
func sameSignature(a, b *types.Signature) bool {
	if a.TypeParams().Len() != b.TypeParams().Len() {
		return false
	}
	if a.TypeParams().Len() == 0 {
		return types.Identical(a, b)
	}
	var args []types.Type
	for i := range a.TypeParams().Len() {
		if !types.Identical(a.TypeParams().At(i).Constraint().Underlying(), b.TypeParams().At(i).Constraint().Underlying()) {
			return false
		}
		args = append(args, a.TypeParams().At(i))
	}
	inst, err := types.Instantiate(nil, b, args, false)
	if err != nil {
		return false
	}
	plain := types.NewSignatureType(nil, nil, nil, a.Params(), a.Results(), a.Variadic())
	return types.Identical(plain, inst)
}

// TestCompareSees shows that the parity test can fail.
func TestCompareSees(t *testing.T) {
	im := Load(runtime.GOOS)
	a, err := im.Import("math/rand")
	if err != nil {
		t.Fatal(err)
	}
	b, err := im.Import("math/rand/v2")
	if err != nil {
		t.Fatal(err)
	}
	faults := strings.Join(compare(a, b), "\n")
	for _, want := range []string{"math/rand.Intn: expected func math/rand.Intn(n int) int, found nothing", "math/rand.Rand: "} {
		if !strings.Contains(faults, want) {
			t.Errorf("not found: %s in\n%s", want, faults)
		}
	}
	if strings.Contains(faults, "rand.Perm:") {
		t.Error("Perm is the same in both, and was found to differ")
	}
}
