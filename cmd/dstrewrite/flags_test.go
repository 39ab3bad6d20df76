package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestParseArgs(t *testing.T) {
	const none = "\x00"
	for _, tt := range []struct {
		args    string // command and arguments, "|" between them
		tags    string
		overlay string
		race    bool
		dir     string
		rest    string
	}{
		{args: "test", tags: none},
		{args: "test|./...", tags: none, rest: "./..."},
		{args: "test|-tags|a,b|./...", tags: "a,b", rest: "./..."},
		{args: "test|-tags=a b|./...", tags: "a b", rest: "./..."},
		{args: "test|--tags|a|--tags=b", tags: "b"},
		{args: "test|-tags=|.", tags: "", rest: "."},
		{args: "test|-overlay|o.json|-race|.", overlay: "o.json", race: true, tags: none, rest: "-race|."},
		{args: "test|--race=false|.", tags: none, rest: "--race=false|."},
		{args: "test|-race=1|.", race: true, tags: none, rest: "-race=1|."},
		{args: "test|-run|-tags|.", tags: none, rest: "-run|-tags|."}, // a value that looks like a flag
		{args: "test|-o|x|-c|-tags|a|.", tags: "a", rest: "-o|x|-c|."},
		{args: "test|-v|-tags|a|.", tags: "a", rest: "-v|."},
		{args: "test|-test.v|-test.run|x|-tags|a|.", tags: "a", rest: "-test.v|-test.run|x|."},
		// go test takes flags after the packages, and its own among the test's.
		{args: "test|./a|./b|-run|X|-tags|a", tags: "a", rest: "./a|./b|-run|X"},
		{args: "test|./a|-dst.seed|5|-tags|a", tags: "a", rest: "./a|-dst.seed|5"},
		{args: "test|./a|-dst.seed=5|-race", race: true, tags: none, rest: "./a|-dst.seed=5|-race"},
		{args: "test|-dst.seed|5|-tags|a|x|-tags|b", tags: "a", rest: "-dst.seed|5|x|-tags|b"},
		// What is meant for the test stays.
		{args: "test|./a|-args|-tags|a|-race", tags: none, rest: "./a|-args|-tags|a|-race"},
		{args: "test|./a|--args|-overlay=x", tags: none, rest: "./a|--args|-overlay=x"},
		{args: "test|./a|-v|word|-tags|a", tags: none, rest: "./a|-v|word|-tags|a"},
		{args: "test|./a|--|-tags|a", tags: none, rest: "./a|--|-tags|a"},
		{args: "run|-tags|a|.|-tags|b|-race", tags: "a", rest: ".|-tags|b|-race"},
		{args: "run|-exec|time|-race|x.go|-C|y", race: true, tags: none, rest: "-exec|time|-race|x.go|-C|y"},
		{args: "run|.|-overlay|o", tags: none, rest: ".|-overlay|o"},
		{args: "build|-o|out|-tags|a|.", tags: "a", rest: "-o|out|."},
		{args: "build|-p|2|-ldflags|-s -w|-tags=a|.", tags: "a", rest: "-p|2|-ldflags|-s -w|."},
		{args: "build|--|-tags", tags: none, rest: "--|-tags"},
		{args: "list|-json|-tags|a|.", tags: "a", rest: "-json|."},
		{args: "list|-json=Dir|-f|{{.}}|-tags|a|.", tags: "a", rest: "-json=Dir|-f|{{.}}|."},
		{args: "vet|-printf|-tags|a|.", tags: "a", rest: "-printf|."}, // an analyzer's flag
		{args: "vet|-funcs|x|-tags|a|.", tags: "a", rest: "-funcs|x|."},
		{args: "vet|-vettool|x|-c|2|-tags|a|.", tags: "a", rest: "-vettool|x|-c|2|."},
		{args: "test|-C|sub|-tags|a|.", dir: "sub", tags: "a", rest: "."},
		{args: "test|-C=sub|.", dir: "sub", tags: none, rest: "."},
		// The go command refuses these itself.
		{args: "test|-v|-C|sub", tags: none, rest: "-v|-C|sub"},
		{args: "build|-tags", tags: none, rest: "-tags"},
	} {
		args := strings.Split(tt.args, "|")
		got := parseArgs(args[0], args[1:])
		tags := none
		if got.tags != nil {
			tags = *got.tags
		}
		if tags != tt.tags || got.overlay != tt.overlay || got.race != tt.race || got.dir != tt.dir || strings.Join(got.rest, "|") != tt.rest {
			t.Errorf("%s:\n got tags %q, overlay %q, race %t, dir %q, rest %q\nwant tags %q, overlay %q, race %t, dir %q, rest %q", tt.args,
				tags, got.overlay, got.race, got.dir, strings.Join(got.rest, "|"), tt.tags, tt.overlay, tt.race, tt.dir, tt.rest)
		}
	}
}

// TestFlagTables holds the tables against what the go command documents.
func TestFlagTables(t *testing.T) {
	line := regexp.MustCompile(`(?m)^(?:\t|  )-([A-Za-z]\w*)( \S.*)?$`)
	prose := regexp.MustCompile(`(?m)^The -(\w+) flag`)
	seen := 0
	for topic, command := range map[string]string{"build": "build", "testflag": "test", "test": "test", "list": "list", "vet": "vet", "run": "run", "install": "install"} {
		out, err := exec.Command("go", "help", topic).CombinedOutput()
		if err != nil {
			t.Fatalf("go help %s: %v\n%s", topic, err, out)
		}
		for _, m := range line.FindAllStringSubmatch(string(out), -1) {
			seen++
			name := m[1]
			wants := m[2] != ""
			needsValue, known := lookup(command, name)
			if !known || needsValue != wants {
				t.Errorf("go help %s has %q; the table says known %t, needs a value %t", topic, m[0], known, needsValue)
			}
		}
		for _, m := range prose.FindAllStringSubmatch(string(out), -1) {
			seen++
			if _, known := lookup(command, m[1]); !known {
				t.Errorf("go help %s has -%s; the table does not", topic, m[1])
			}
		}
	}
	if seen < 80 {
		t.Errorf("only %d flags found in go help: has its layout changed?", seen)
	}
}

func TestTags(t *testing.T) {
	for value, want := range map[string]string{
		"":        "",
		"a":       "a",
		"a,b":     "a,b",
		"a,,b":    "a,b",
		"a b":     "a,b",
		" a  'b'": "a,b",
	} {
		got, err := splitTags(value)
		if err != nil || strings.Join(got, ",") != want {
			t.Errorf("splitTags(%q) = %q, %v, want %s", value, got, err, want)
		}
	}
	if _, err := splitTags("a 'b"); err == nil {
		t.Error("an open quote is no error")
	}
	if got, want := mergeTags([]string{"x", "dst"}, []string{"y", "x"}, simTags), "x,dst,y,dstsim,netgo,osusergo"; got != want {
		t.Errorf("merged tags are %s, want %s", got, want)
	}
}

func TestParseGoflags(t *testing.T) {
	got, err := parseGoflags(`-v '-ldflags=-s -w' --tags=a,b -mod=vendor "-overlay=/my files/o.json" -tags=c --race`)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.tags, []string{"c"}) || got.overlay != "/my files/o.json" || !got.race {
		t.Errorf("got %+v", got)
	}
	if want := []string{"-v", "-ldflags=-s -w", "-mod=vendor", "--race"}; !slices.Equal(got.rest, want) {
		t.Errorf("rest is %q, want %q", got.rest, want)
	}
	if _, err := parseGoflags("-v '-x"); err == nil || !strings.Contains(err.Error(), "GOFLAGS") {
		t.Errorf("error is %v", err)
	}
}

func TestQuoted(t *testing.T) {
	words := []string{"-a", "-b=1 2", "-c='x'", `-d="x" y`, "-e=\t"}
	joined, err := joinQuoted(words)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := splitQuoted(joined); err != nil || !slices.Equal(got, words) {
		t.Errorf("%s splits to %q (%v), want %q", joined, got, err, words)
	}
	if _, err := joinQuoted([]string{`'"`}); err == nil {
		t.Error("both quotes in one word are no error")
	}
	out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(`it's $HOME "\`)).Output()
	if err != nil || string(out) != `it's $HOME "\` {
		t.Errorf("the shell reads %q (%v)", out, err)
	}
}
