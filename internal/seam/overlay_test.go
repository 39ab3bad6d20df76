package seam

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// checkOverlay compares an overlay on disk with the fake set's.
func checkOverlay(t *testing.T, tc *Toolchain, o *Overlay) {
	t.Helper()
	var js overlayJSON
	if err := json.Unmarshal([]byte(read(t, o.File)), &js); err != nil {
		t.Fatal(err)
	}
	src := tc.GOROOT + "/src/runtime/"
	want := map[string]string{
		src + "proc.go": "//line " + src + "proc.go:1\n" + strings.Replace(fakeFile, "\trunqput(gp)", "\tif !held(gp) {\n\t\trunqput(gp)\n\t}", 1),
		src + "asm.s":   "TEXT y(SB)\n",
		src + "held.go": "package runtime\n\nfunc held(gp *g) bool { return false }\n",
	}
	if len(js.Replace) != len(want) {
		t.Errorf("overlay replaces %d files, want %d", len(js.Replace), len(want))
	}
	for from, text := range want {
		if got := read(t, js.Replace[from]); got != text {
			t.Errorf("%s became\n%s\nwant\n%s", from, got, text)
		}
	}
}

func TestMake(t *testing.T) {
	tc := fakeToolchain(t, t.TempDir(), "go1.26.8")
	o, err := fakeSet().make(tc, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	checkOverlay(t, tc, o)

	// The line in front must leave the build constraint what it is.
	ctx := build.Default
	for goos, want := range map[string]bool{"linux": true, "plan9": false} {
		ctx.GOOS = goos
		file := o.replace[tc.source("runtime/proc.go")]
		if got, err := ctx.MatchFile(filepath.Dir(file), filepath.Base(file)); err != nil || got != want {
			t.Errorf("on %s, the patched file is built: %t (%v), want %t", goos, got, err, want)
		}
	}
}

func TestKey(t *testing.T) {
	dir := t.TempDir()
	tc := fakeToolchain(t, dir, "go1.26.8")
	key := func(s *set) string {
		t.Helper()
		o, err := s.make(tc, filepath.Join(dir, "cache"))
		if err != nil {
			t.Fatal(err)
		}
		return o.Key
	}
	base := key(fakeSet())
	if again := key(fakeSet()); again != base {
		t.Errorf("the same twice: %s and %s", base, again)
	}
	seen := map[string]string{base: "nothing"}
	differs := func(what string, s *set) {
		t.Helper()
		k := key(s)
		if other, ok := seen[k]; ok {
			t.Errorf("changing %s gives the key of changing %s", what, other)
		}
		seen[k] = what
	}

	s := fakeSet()
	s.patches[0].Edits[0].Replace = "$0 // changed"
	differs("an edit", s)
	s = fakeSet()
	s.added["runtime/held.go"] += "\n"
	differs("an added file", s)
	s = fakeSet()
	s.added["runtime/more.go"] = "package runtime\n"
	differs("the added files", s)
	s = fakeSet()
	s.patches = s.patches[:1]
	differs("the patches", s)

	proc := filepath.Join(tc.GOROOT, "src", "runtime", "proc.go")
	write(t, proc, fakeFile+"\n// changed\n")
	differs("a file of the GOROOT", fakeSet())
	write(t, proc, fakeFile)
	tc.Version = "go1.26.9"
	differs("the version", fakeSet())
	tc.Version = "go1.26.8"
	tc.GOARCH = "arm64"
	differs("the architecture", fakeSet())
	tc.GOARCH = "amd64"
	link := filepath.Join(dir, "link")
	if err := os.Symlink(tc.GOROOT, link); err != nil {
		t.Fatal(err)
	}
	tc.GOROOT = link
	differs("the place of the GOROOT", fakeSet())
}

func TestDamagedEntry(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, file string){
		"removed":   func(t *testing.T, file string) { must(t, os.Remove(file)) },
		"truncated": func(t *testing.T, file string) { must(t, os.Truncate(file, 10)) },
		"garbled": func(t *testing.T, file string) {
			text := []byte(read(t, file))
			text[len(text)/2] ^= 1 // same size
			write(t, file, string(text))
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc := fakeToolchain(t, t.TempDir(), "go1.26.8")
			cache := t.TempDir()
			o, err := fakeSet().make(tc, cache)
			must(t, err)
			for _, file := range append([]string{o.File}, values(o.replace)...) {
				damage(t, file)
				o, err := fakeSet().make(tc, cache)
				must(t, err)
				checkOverlay(t, tc, o)
			}
		})
	}
	t.Run("half of the folder", func(t *testing.T) {
		tc := fakeToolchain(t, t.TempDir(), "go1.26.8")
		cache := t.TempDir()
		o, err := fakeSet().make(tc, cache)
		must(t, err)
		must(t, os.RemoveAll(filepath.Join(o.Dir, "src")))
		o, err = fakeSet().make(tc, cache)
		must(t, err)
		checkOverlay(t, tc, o)
	})
}

func TestKeepLeavesGoodFiles(t *testing.T) {
	tc := fakeToolchain(t, t.TempDir(), "go1.26.8")
	cache := t.TempDir()
	o, err := fakeSet().make(tc, cache)
	must(t, err)
	before, err := os.Stat(o.File)
	must(t, err)
	_, err = fakeSet().make(tc, cache)
	must(t, err)
	after, err := os.Stat(o.File)
	must(t, err)
	if !os.SameFile(before, after) {
		t.Error("a good file was written again")
	}
}

// TestConcurrentMakers lets many make, and one damage, the same entry. A file
// that is there must always be whole.
func TestConcurrentMakers(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	base := fakeToolchain(t, dir, "go1.26.8")
	s := fakeSet()
	s.added["runtime/large.go"] = "package runtime\n" + strings.Repeat("// large\n", 1<<15)
	first, err := s.make(base, cache)
	must(t, err)
	large := first.replace[base.source("runtime/large.go")]

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			tc := *base
			for range 50 {
				if _, err := s.make(&tc, cache); err != nil {
					t.Error(err)
				}
				data, err := os.ReadFile(large)
				if err == nil && string(data) != s.added["runtime/large.go"] {
					t.Errorf("read %d bytes of a file of %d", len(data), len(s.added["runtime/large.go"]))
				}
			}
		})
	}
	wg.Go(func() {
		for range 50 {
			if err := os.Remove(large); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if _, err := s.make(base, cache); err != nil {
		t.Fatal(err)
	}
	if got := read(t, large); got != s.added["runtime/large.go"] {
		t.Errorf("the entry holds %d bytes, want %d", len(got), len(s.added["runtime/large.go"]))
	}
	must(t, filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
		if strings.Contains(d.Name(), ".tmp-") {
			t.Errorf("left behind: %s", path)
		}
		return err
	}))
}

func TestUnwritableCache(t *testing.T) {
	tc := fakeToolchain(t, t.TempDir(), "go1.26.8")
	cache := filepath.Join(t.TempDir(), "file")
	write(t, cache, "no folder")
	if _, err := fakeSet().make(tc, cache); err == nil || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("error %v does not tell what to do", err)
	}
}

func TestFirstBuild(t *testing.T) {
	tc := fakeToolchain(t, t.TempDir(), "go1.26.8")
	o, err := fakeSet().make(tc, t.TempDir())
	must(t, err)
	for _, step := range []struct {
		gocache string
		race    bool
		want    bool
	}{{"/a", false, true}, {"/a", false, false}, {"/a", true, true}, {"/a", true, false}, {"/b", false, true}} {
		if got := o.FirstBuild(step.gocache, step.race); got != step.want {
			t.Errorf("%+v: got %t", step, got)
		}
	}
}

func TestMerge(t *testing.T) {
	dir := t.TempDir()
	tc := fakeToolchain(t, dir, "go1.26.8")
	o, err := fakeSet().make(tc, filepath.Join(dir, "cache"))
	must(t, err)
	user := func(replace map[string]string) string {
		data, err := marshalOverlay(replace)
		must(t, err)
		write(t, filepath.Join(dir, "work", "user.json"), string(data))
		return "user.json"
	}
	merge := func(file string) (map[string]string, error) {
		merged, err := o.Merge(file, filepath.Join(dir, "work"))
		if err != nil {
			return nil, err
		}
		var js overlayJSON
		must(t, json.Unmarshal([]byte(read(t, merged)), &js))
		return js.Replace, nil
	}

	got, err := merge(user(map[string]string{"a.go": "b.go", "/x/gone.go": ""}))
	must(t, err)
	if len(got) != len(o.replace)+2 || got[dir+"/work/a.go"] != dir+"/work/b.go" {
		t.Errorf("merged overlay is %v", got)
	}
	if to, ok := got["/x/gone.go"]; !ok || to != "" {
		t.Errorf("a deleted file became %q, %t", to, ok)
	}

	// Merged once more, as in an environment made by dstrewrite env, also when the
	// overlay there is from before an update.
	got[tc.source("runtime/proc.go")] = filepath.Join(dir, "cache", "go1.26.7-0", "src", "proc.go")
	got[tc.source("runtime/old.go")] = filepath.Join(dir, "cache", "go1.26.7-0", "src", "old.go")
	data, err := marshalOverlay(got)
	must(t, err)
	write(t, filepath.Join(dir, "work", "twice.json"), string(data))
	twice, err := merge("twice.json")
	must(t, err)
	delete(got, tc.source("runtime/old.go"))
	got[tc.source("runtime/proc.go")] = o.replace[tc.source("runtime/proc.go")]
	if !maps.Equal(twice, got) {
		t.Errorf("merging again gives %v, want %v", twice, got)
	}
	if file, err := o.Merge(o.File, dir); err != nil || file != o.File {
		t.Errorf("our own file merged is %s (%v), want itself", file, err)
	}

	for _, to := range []string{"mine.go", ""} {
		_, err = merge(user(map[string]string{tc.source("runtime/proc.go"): to}))
		if err == nil || !strings.Contains(err.Error(), tc.source("runtime/proc.go")) || !strings.Contains(err.Error(), "simulation patches") {
			t.Errorf("for a conflict, error is %v", err)
		}
	}
	write(t, filepath.Join(dir, "work", "bad.json"), "{")
	for _, file := range []string{"bad.json", "none.json"} {
		if _, err := merge(file); err == nil || !strings.Contains(err.Error(), "your -overlay file") {
			t.Errorf("for %s, error is %v", file, err)
		}
	}
}

func TestDiff(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("needs the patch command")
	}
	dir := t.TempDir()
	tc := fakeToolchain(t, dir, "go1.26.8")
	var diff bytes.Buffer
	must(t, fakeSet().diff(&diff, tc))
	for _, want := range []string{"--- a/src/runtime/proc.go\n+++ b/src/runtime/proc.go\n@@ ", "--- /dev/null\n+++ b/src/runtime/held.go\n@@ -0,0 +1,3 @@\n"} {
		if !strings.Contains(diff.String(), want) {
			t.Errorf("diff has no %q:\n%s", want, &diff)
		}
	}
	if strings.Contains(diff.String(), "//line") {
		t.Errorf("diff has a //line directive:\n%s", &diff)
	}
	cmd := exec.Command(patch, "-p1")
	cmd.Dir = tc.GOROOT
	cmd.Stdin = &diff
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := read(t, tc.source("runtime/proc.go")); !strings.Contains(got, "if !held(gp) {") {
		t.Errorf("patched to\n%s", got)
	}
	if got := read(t, tc.source("runtime/held.go")); got != fakeSet().added["runtime/held.go"] {
		t.Errorf("added\n%s", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func values(m map[string]string) []string {
	var list []string
	for _, v := range m {
		list = append(list, v)
	}
	return list
}
