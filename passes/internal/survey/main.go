//go:build linux

// Survey runs dstvet over std and over public modules, and prints the tables of
// docs/dstvet.md: packages, findings by analyzer, seconds, and peak memory.
//
//	go run ./passes/internal/survey [-sample N] [-seed S] [module@version ...]
//
// With -sample it prints a random sample of the modules' findings as well, to be checked by
// hand: docs/dstvet-sample.md has ours. Modules are downloaded and copied to
// a temporary folder. Each is analysed twice: the first run also compiles what the
// module needs, the second is measured.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

var modules = []string{
	"github.com/hashicorp/raft@v1.8.0",
	"github.com/hashicorp/memberlist@v0.7.0",
	"go.etcd.io/raft/v3@v3.7.0",
	"github.com/nats-io/nats-server/v2@v2.15.3",
	"google.golang.org/grpc@v1.85.0",
}

var analyzers = []string{"escape", "globalrand", "mapiter", "sharedstate", "straygo", "wallclock"}

type finding struct{ module, posn, analyzer, message string }

func main() {
	log.SetFlags(0)
	log.SetPrefix("survey: ")
	n := flag.Int("sample", 0, "print a random sample of this many of the modules' findings")
	seed := flag.Uint64("seed", 1, "of the sample")
	flag.Parse()
	if flag.NArg() > 0 {
		modules = flag.Args()
	}
	if err := run(*n, *seed); err != nil {
		log.Fatal(err)
	}
}

//dst:ignore escape it runs other programs
func run(sample int, seed uint64) error {
	tmp, err := os.MkdirTemp("", "dstvet-survey")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	tool := filepath.Join(tmp, "dstvet")
	if out, err := exec.Command("go", "build", "-o", tool, "github.com/dstkit/dst/cmd/dstvet").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build dstvet: %w\n%s", err, out)
	}
	fmt.Printf("| | packages | %s | seconds | again | peak MB |\n|---|%s\n", strings.Join(analyzers, " | "), strings.Repeat("---:|", len(analyzers)+4))
	var all []finding
	for _, m := range modules {
		dir, err := fetch(m, tmp)
		if err != nil {
			return err
		}
		found, err := survey(tool, m, dir, "./...")
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.posn, b.posn), cmp.Compare(a.analyzer, b.analyzer))
	})
	rng := rand.New(rand.NewPCG(seed, 0))
	picked := rng.Perm(len(all))[:min(sample, len(all))]
	slices.Sort(picked)
	for _, i := range picked {
		f := all[i]
		fmt.Printf("%s\t%s\t%s\t%s\n", f.module, f.posn, f.analyzer, f.message)
	}
	_, err = survey(tool, "std", tmp, "std")
	return err
}

// fetch copies a module of the module cache to where it may be a main module.
//
//dst:ignore escape it runs other programs
func fetch(module, tmp string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = tmp
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if jerr := json.Unmarshal(out, &m); jerr != nil || m.Error != "" {
		return "", fmt.Errorf("cannot fetch %s: %s: %w", module, m.Error, errors.Join(err, jerr))
	}
	dir := filepath.Join(tmp, strings.NewReplacer("/", "_", "@", "_").Replace(module))
	err = filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(m.Dir, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
	return dir, err
}

// survey analyses the packages of a pattern, and prints a row of the table.
//
//dst:ignore escape it runs other programs
func survey(tool, name, dir, pattern string) ([]finding, error) {
	list := exec.Command("go", "list", pattern)
	list.Dir = dir
	pkgs, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: go list: %w", name, err)
	}
	// Another flag, another key in the build cache: this run compiles, and the next
	// one analyses all again.
	if _, _, _, err := vet(tool, dir, "-sim", pattern); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	found, took, peak, err := vet(tool, dir, pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	_, again, _, err := vet(tool, dir, pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range found {
		found[i].module = name
		found[i].posn = strings.TrimPrefix(found[i].posn, dir+"/")
	}
	fmt.Printf("| %s | %d", name, len(strings.Fields(string(pkgs))))
	for _, a := range analyzers {
		n := 0
		for _, f := range found {
			if f.analyzer == a {
				n++
			}
		}
		fmt.Printf(" | %d", n)
	}
	fmt.Printf(" | %.0f | %.1f | %d |\n", took.Seconds(), again.Seconds(), peak>>10)
	return found, nil
}

// vet runs dstvet, and tells how long it took and the peak memory, in KiB, of the
// largest process below it.
func vet(tool, dir string, args ...string) ([]finding, time.Duration, int64, error) {
	cmd := exec.Command(tool, append([]string{"-json"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	start := time.Now()       //dst:ignore wallclock it measures
	out, err := cmd.Output()  //dst:ignore escape it measures another program
	took := time.Since(start) //dst:ignore wallclock it measures
	if err != nil {
		return nil, 0, 0, fmt.Errorf("dstvet: %w", err)
	}
	var tree map[string]map[string][]struct{ Posn, Message string }
	if err := json.Unmarshal(out, &tree); err != nil {
		return nil, 0, 0, fmt.Errorf("dstvet -json: %w", err)
	}
	var found []finding
	//dst:ignore mapiter the caller sorts, or counts
	for _, byName := range tree {
		for name, list := range byName {
			for _, d := range list {
				found = append(found, finding{"", d.Posn, name, d.Message})
			}
		}
	}
	var peak int64
	if ru, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = int64(ru.Maxrss)
	}
	return found, took, peak, nil
}
