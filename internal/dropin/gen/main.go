// Gen writes the file std.go of the drop-in package in the current folder: all
// exported names of the package of std that it stands in for. It is run by go
// generate, first with the oldest Go release that is supported, then with newer ones: a
// name that std.go does not have yet is one of a newer release, and goes into
// std_go1.N.go for builds with that release.
package main

import (
	"errors"
	"fmt"
	"go/build"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dstkit/dst/internal/dropin"
)

// oldest is the oldest release that is supported.
const oldest = "go1.26"

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(dropin.Packages, func(p *dropin.Package) bool {
		return strings.HasSuffix(filepath.ToSlash(dir), "/"+p.Dir)
	})
	if i < 0 {
		return fmt.Errorf("%s: expected the folder of a drop-in package", dir)
	}
	files, err := Files(dropin.Load("linux"), dropin.Packages[i], ".")
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(name, files[name], 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Files makes what go generate writes into dir with the Go release in use.
func Files(packages types.Importer, p *dropin.Package, dir string) (map[string][]byte, error) {
	std, err := packages.Import(p.Std)
	if err != nil {
		return nil, err
	}
	release := build.Default.ReleaseTags[len(build.Default.ReleaseTags)-1]
	names := dropin.Exported(std)
	files := map[string][]byte{}
	if release != oldest {
		old, err := os.ReadFile(filepath.Join(dir, "std.go"))
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("there is no std.go yet: run go generate with %s first", oldest)
		} else if err != nil {
			return nil, err
		}
		base, err := dropin.Declared(old)
		if err != nil {
			return nil, err
		}
		newer := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(base, name) })
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(newer, name) })
		if len(newer) > 0 {
			if files["std_"+release+".go"], err = p.Generate(std, newer, release); err != nil {
				return nil, err
			}
		}
	}
	files["std.go"], err = p.Generate(std, names, "")
	return files, err
}
