package seam

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDevOverlay(t *testing.T) {
	root, out, rel, arch := os.Getenv("DEV_GOROOT"), os.Getenv("DEV_OUT"), os.Getenv("DEV_REL"), os.Getenv("DEV_ARCH")
	if root == "" {
		t.Skip()
	}
	rep := map[string]string{}
	for _, p := range patches(rel, arch) {
		b, err := os.ReadFile(filepath.Join(root, "src", p.File))
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.apply(string(b))
		if err != nil {
			t.Fatal(err)
		}
		o := filepath.Join(out, p.File)
		os.MkdirAll(filepath.Dir(o), 0o755)
		orig := filepath.Join(root, "src", p.File)
		os.WriteFile(o, []byte(fmt.Sprintf("//line %s:1\n", orig)+s), 0o644)
		rep[orig] = o
	}
	fs.WalkDir(files, "files", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() {
			return nil
		}
		b, _ := files.ReadFile(path)
		rel := strings.TrimSuffix(strings.TrimPrefix(path, "files/"), ".txt")
		o := filepath.Join(out, rel)
		os.MkdirAll(filepath.Dir(o), 0o755)
		os.WriteFile(o, b, 0o644)
		rep[filepath.Join(root, "src", rel)] = o
		return nil
	})
	b, _ := json.Marshal(map[string]any{"Replace": rep})
	os.WriteFile(filepath.Join(out, "overlay.json"), b, 0o644)
}
