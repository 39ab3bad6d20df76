package dst

import (
	"strings"
	"testing"
)

func TestShellQuote(t *testing.T) {
	for word, want := range map[string]string{
		"./pkg-a_b.c@v1": "./pkg-a_b.c@v1",
		"":               "''",
		"^TestX$/^a$":    "'^TestX$/^a$'",
		"it's":           `'it'\''s'`,
	} {
		if got := shellQuote(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Run("sub (1)", func(t *testing.T) {
		r := &runner{t: t, checked: true}
		got := r.command(42)
		want := `^TestCommand$/^sub_\(1\)$/^seed=42$' github.com/dstkit/dst -dst.seed=42 -dst.check`
		if !strings.HasPrefix(got, testCommand+" ") || !strings.HasSuffix(got, want) {
			t.Errorf("got %s, want one that ends in %s", got, want)
		}
	})
}

func TestFileName(t *testing.T) {
	if got := fileName(`TestA/b c:"d"_seed=1.txt`); got != "TestA_b c__d__seed=1.txt" {
		t.Errorf("got %s", got)
	}
	if got := fileName(strings.Repeat("x", 1000) + "_seed=1.txt"); len(got) > 255 || !strings.HasSuffix(got, "_seed=1.txt") {
		t.Errorf("a long name became one of %d bytes: %s", len(got), got)
	}
}
