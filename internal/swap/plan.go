package swap

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/dstkit/dst/internal/dropin"
)

// A Change is one file that swap writes or removes.
type Change struct {
	Path     string // absolute
	What     string // "mark", "restore", "write" (a twin), "update" (a twin) or "remove" (a twin)
	Old, New []byte // nil: the file is not there
	From     string // of a new twin, the file that it is the twin of

	mode os.FileMode // that it has, or is to have
}

// A Plan is what swap is going to do.
type Plan struct {
	Changes []Change // by path
	Left    []string // files that are left alone, with the reason
	Missing []string // modules that do not require this one yet
}

// A Refusal lists what stands in the way. Nothing was changed.
type Refusal []string

func (r Refusal) Error() string {
	return "nothing was changed:\n\t" + strings.Join(r, "\n\t")
}

// Swap plans the swap of all packages that the patterns name, from a folder.
func Swap(dir, tag string, patterns []string) (*Plan, error) {
	if !validTag(tag) {
		return nil, fmt.Errorf("tag %q: expected small letters and digits, and no word that is a build constraint in a file's name (linux, amd64, test)", tag)
	}
	list, err := load(dir, patterns)
	if err != nil {
		return nil, err
	}
	var (
		plan    Plan
		refused Refusal
		wanted  = map[string][]*dropin.Package{} // by the folder of the module
		modules = map[string]string{}
	)
	for _, p := range list {
		if p.Module.Path == dropin.Module {
			below, err := isBelow(p)
			if err != nil {
				return nil, err
			}
			if below {
				refused = append(refused, p.PkgPath+": the drop-in packages import it")
				continue
			}
		}
		f, err := readFolder(p.Dir)
		if err != nil {
			return nil, err
		}
		used, problems := f.swap(&plan, tag)
		refused = append(refused, problems...)
		wanted[p.Module.Dir] = append(wanted[p.Module.Dir], used...)
		modules[p.Module.Dir] = p.Module.Path
	}
	if refused != nil {
		return nil, refused
	}
	for _, dir := range slices.Sorted(maps.Keys(modules)) {
		ok, err := requires(dir, wanted[dir])
		if err != nil {
			return nil, err
		}
		if !ok {
			plan.Missing = append(plan.Missing, modules[dir])
		}
	}
	plan.sort()
	return &plan, nil
}

// Undo plans the undoing of all swaps in the packages that the patterns name.
func Undo(dir string, patterns []string) (*Plan, error) {
	list, err := load(dir, patterns)
	if err != nil {
		return nil, err
	}
	var plan Plan
	var refused Refusal
	for _, p := range list {
		f, err := readFolder(p.Dir)
		if err != nil {
			return nil, err
		}
		refused = append(refused, f.undo(&plan)...)
	}
	if refused != nil {
		return nil, refused
	}
	plan.sort()
	return &plan, nil
}

func (p *Plan) sort() {
	slices.SortFunc(p.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
}

// load finds the packages, which have to be in a main module.
//
//dst:ignore wallclock,escape it asks the go command
func load(dir string, patterns []string) ([]*packages.Package, error) {
	list, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedModule, Dir: dir}, patterns...)
	if err != nil {
		return nil, err
	}
	var refused Refusal
	for _, p := range list {
		errs := slices.DeleteFunc(slices.Clone(p.Errors), func(e packages.Error) bool {
			// Another system's, or tests alone: that is for us to see.
			return p.Dir != "" && (strings.Contains(e.Msg, "build constraints exclude all Go files") || strings.Contains(e.Msg, "no non-test Go files"))
		})
		switch {
		case len(errs) > 0:
			for _, e := range errs {
				refused = append(refused, e.Error())
			}
		case p.Module == nil:
			refused = append(refused, p.PkgPath+": it is in no module")
		case !p.Module.Main:
			refused = append(refused, p.PkgPath+": it is in module "+p.Module.Path+", a dependency; only the packages of your own module can be written to")
		}
	}
	if refused != nil {
		return nil, refused
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no packages match %q", patterns)
	}
	return list, nil
}

// isBelow tells whether a drop-in package imports p.
func isBelow(p *packages.Package) (bool, error) {
	var paths []string
	for _, d := range dropin.Packages {
		paths = append(paths, d.Path)
	}
	list, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps, Dir: p.Dir}, paths...) //dst:ignore wallclock,escape it asks the go command
	if err != nil {
		return false, err
	}
	below := false
	packages.Visit(list, nil, func(q *packages.Package) { below = below || q.PkgPath == p.PkgPath })
	return below, nil
}

// requires tells whether a module can import the drop-ins.
func requires(dir string, dropins []*dropin.Package) (bool, error) {
	if len(dropins) == 0 {
		return true, nil
	}
	var paths []string
	for _, p := range dropins {
		if !slices.Contains(paths, p.Path) {
			paths = append(paths, p.Path)
		}
	}
	list, err := packages.Load(&packages.Config{Mode: packages.NeedName, Dir: dir}, paths...) //dst:ignore wallclock,escape it asks the go command
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(list, func(p *packages.Package) bool { return len(p.Errors) > 0 }), nil
}

// A folder has the Go files of one package, for all systems, and its tests.
type folder struct {
	dir   string
	files map[string][]byte // by name
	twins []twinFile        // those of files that are twins
	links map[string]bool   // names that are not regular files
}

type twinFile struct{ name, from, tag string }

func readFolder(dir string) (*folder, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, files: map[string][]byte{}, links: map[string]bool{}}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || name[0] == '_' || name[0] == '.' || e.IsDir() {
			continue
		}
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		f.files[name] = src
		f.links[name] = !e.Type().IsRegular()
		if m := twinRE.FindSubmatch(src); m != nil {
			f.twins = append(f.twins, twinFile{name, string(m[2]), string(m[1])})
		}
	}
	return f, nil
}

func (f *folder) change(p *Plan, name, what, from string, content []byte) {
	c := Change{Path: filepath.Join(f.dir, name), What: what, Old: f.files[name], New: content}
	if from != "" {
		c.From = filepath.Join(f.dir, from)
	}
	p.Changes = append(p.Changes, c)
}

const edited = "its first lines, or its build constraint, are not as swap left them; make them so, or remove the mark by hand"

// undo plans to undo the swap of one package.
func (f *folder) undo(p *Plan) (refused []string) {
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		src := f.files[name]
		if tag := markedFor(src); tag == "" {
			continue
		} else if base, ok := unmark(src, tag); ok {
			f.change(p, name, "restore", "", base)
		} else {
			refused = append(refused, filepath.Join(f.dir, name)+": "+edited)
		}
	}
	for _, t := range f.twins {
		f.change(p, t.name, "remove", "", nil)
	}
	return refused
}

// swap plans the swap of one package.
func (f *folder) swap(p *Plan, tag string) (used []*dropin.Package, refused []string) {
	refuse := func(name, format string, args ...any) {
		refused = append(refused, filepath.Join(f.dir, name)+": "+fmt.Sprintf(format, args...))
	}
	isTwin := map[string]bool{}
	twinOf := map[string]twinFile{}
	for _, t := range f.twins {
		isTwin[t.name] = true
		if t.tag != tag {
			continue // its original is refused
		}
		if _, ok := f.files[t.from]; !ok {
			f.change(p, t.name, "remove", "", nil) // its original is gone
			continue
		}
		twinOf[t.from] = t
	}
	bases := map[string][]byte{}
	names := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		src := f.files[name]
		if isTwin[name] {
			continue
		}
		if other := markedFor(src); other != "" && other != tag {
			refuse(name, "it is marked for the tag %s: undo that swap first (dstrewrite swap -u)", other)
		}
		base, ok := unmark(src, tag)
		if !ok && markedFor(src) == tag {
			refuse(name, "%s", edited)
			continue
		}
		src = base
		bases[name] = src
		declared(src, names)
	}
	for _, name := range slices.Sorted(maps.Keys(bases)) {
		base := bases[name]
		reason, err := leave(base, tag)
		var made *twin
		if err == nil {
			made, err = makeTwin(name, base, tag, names)
		}
		if err != nil {
			refuse(name, "%v", err)
			continue
		}
		if made != nil && reason != "" {
			p.Left = append(p.Left, filepath.Join(f.dir, name)+": "+reason)
			made = nil
		}
		old, swapped := twinOf[name]
		if made == nil {
			if string(base) != string(f.files[name]) {
				f.change(p, name, "restore", "", base)
			}
			if swapped {
				f.change(p, old.name, "remove", "", nil)
			}
			continue
		}
		twin := twinName(name, tag)
		if _, taken := f.files[twin]; taken && !isTwin[twin] {
			refuse(name, "its twin would be %s, which is there and is not a twin", twin)
			continue
		}
		if f.links[name] || f.links[twin] {
			refuse(name, "it, or %s, is not a regular file", twin)
			continue
		}
		if swapped && old.name != twin {
			f.change(p, old.name, "remove", "", nil)
		}
		used = append(used, made.dropins...)
		if string(made.marked) != string(f.files[name]) {
			f.change(p, name, "mark", "", made.marked)
		}
		if have, ok := f.files[twin]; !ok {
			f.change(p, twin, "write", name, made.text)
		} else if string(have) != string(made.text) {
			f.change(p, twin, "update", "", made.text)
		}
	}
	return used, refused
}

// leave tells why a file has no use for a twin, if so.
func leave(src []byte, tag string) (string, error) {
	x, err := readHeader(src).expr(src)
	if x == nil || err != nil {
		return "", err
	}
	switch {
	case !possible(x, map[string]bool{tag: false}):
		return "it is for builds with the tag " + tag + " alone", nil
	case !possible(x, map[string]bool{tag: true}):
		return "it is for builds without the tag " + tag + " alone", nil
	case !possible(x, map[string]bool{"ignore": false}):
		return "it is in no build (tag ignore)", nil
	}
	return "", nil
}

// declared adds the names that a file declares at the top.
func declared(src []byte, names map[string]bool) {
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return // makeTwin tells
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				}
			}
		}
	}
}

// Apply makes all changes, or none: what fails on the way is taken back.
func (p *Plan) Apply() error {
	for _, c := range p.Changes {
		// Nobody may have written to the file in the meantime.
		if have, err := os.ReadFile(c.Path); err != nil && (!errors.Is(err, os.ErrNotExist) || c.Old != nil) {
			return Refusal{err.Error()}
		} else if string(have) != string(c.Old) {
			return Refusal{c.Path + ": it has changed in the meantime"}
		}
	}
	return p.commit()
}

// commit writes all that is to be written beside its place, and then moves it there.
func (p *Plan) commit() error {
	type staged struct {
		temp string
		c    Change
	}
	var list []staged
	defer func() {
		for _, s := range list {
			if s.temp != "" {
				os.Remove(s.temp)
			}
		}
	}()
	for _, c := range p.Changes {
		source := c.Path
		if c.From != "" {
			source = c.From
		}
		c.mode = 0o644
		if info, err := os.Stat(source); err == nil {
			c.mode = info.Mode().Perm()
		}
		s := staged{c: c}
		if c.New != nil {
			temp, err := stage(c)
			if err != nil {
				return Refusal{err.Error()}
			}
			s.temp = temp
		}
		list = append(list, s)
	}
	for i, s := range list {
		var err error
		if s.temp != "" {
			err = os.Rename(s.temp, s.c.Path)
		} else {
			err = os.Remove(s.c.Path)
		}
		if err == nil {
			list[i].temp = ""
			continue
		}
		for _, done := range list[:i] {
			if back := takeBack(done.c); back != nil {
				return fmt.Errorf("%w; and %s could not be taken back: %w", err, done.c.Path, back)
			}
		}
		return Refusal{err.Error()}
	}
	return nil
}

// stage writes what is to become a file beside it.
func stage(c Change) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(c.Path), ".dstrewrite-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(c.New)
	err = errors.Join(err, f.Chmod(c.mode), f.Close())
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

func takeBack(c Change) error {
	if c.Old == nil {
		return os.Remove(c.Path)
	}
	temp, err := stage(Change{Path: c.Path, New: c.Old, mode: c.mode})
	if err != nil {
		return err
	}
	return os.Rename(temp, c.Path)
}
