package passes_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/dstkit/dst/passes"
)

// Packages of std whose outcome follows from their input: nothing may be found
// there, except what the map gives a reason for. A reason that begins with go1.26
// is of that release only.
var (
	pure = strings.Fields(`
		archive/tar archive/zip bufio bytes cmp compress/bzip2 compress/flate compress/gzip compress/lzw compress/zlib
		container/heap container/list container/ring context crypto/aes crypto/cipher crypto/hmac crypto/md5 crypto/sha1
		crypto/sha256 crypto/sha512 encoding/ascii85 encoding/base32 encoding/base64 encoding/binary encoding/csv
		encoding/hex encoding/json encoding/pem errors fmt go/constant go/format go/parser go/printer go/scanner go/token
		hash/adler32 hash/crc32 hash/fnv html html/template image image/color image/draw image/gif image/jpeg image/png
		index/suffixarray io io/fs iter maps math math/big math/bits math/cmplx mime mime/multipart mime/quotedprintable
		net/mail net/netip net/textproto net/url path path/filepath regexp regexp/syntax slices sort strconv strings
		text/scanner text/tabwriter text/template text/template/parse unicode unicode/utf16 unicode/utf8`)

	exceptions = map[string]string{
		"archive/tar mapiter":         "an error names whichever bad PAX record comes first",
		"archive/tar sharedstate":     "caches of user and group names",
		"archive/zip sharedstate":     "the registries of compressors and decompressors",
		"compress/flate sharedstate":  "the fixed Huffman decoder, made on first use",
		"context sharedstate":         "counts goroutines, for its own tests",
		"context wallclock":           "deadlines are times",
		"encoding/binary sharedstate": "a cache of struct sizes",
		"encoding/json sharedstate":   "go1.26: a cache of encoders and of fields",
		"html/template mapiter":       "an error names whichever bad template comes first",
		"image sharedstate":           "the registry of formats",
		"math/big sharedstate":        "a cache of powers",
		"mime mapiter":                "types read from the machine's tables",
		"mime sharedstate":            "the tables of types",
		"mime/multipart globalrand":   "the boundary is random",
		"mime/multipart mapiter":      "an error of whichever file cannot be removed",
		"net/textproto sharedstate":   "the table of common headers, made on first use",
		"regexp/syntax sharedstate":   "tables made on first use",
		"text/template mapiter":       "templates are copied, and named in a message, in the order of the map",
	}
)

func TestStd(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, pure...)
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(pkgs) > 0 {
		t.Fatal("std does not load")
	}
	graph, err := checker.Analyze(passes.All(), pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	used := make(map[string]bool)
	for act := range graph.All() {
		if act.Err != nil {
			t.Errorf("%s: %v", act, act.Err)
		}
		if !act.IsRoot {
			continue
		}
		for _, d := range act.Diagnostics {
			key := act.Package.PkgPath + " " + act.Analyzer.Name
			if exceptions[key] == "" {
				t.Errorf("%s: %s (%s)", act.Package.Fset.Position(d.Pos), d.Message, act.Analyzer.Name)
			}
			used[key] = true
		}
	}
	for key, reason := range exceptions {
		if !used[key] && !(strings.HasPrefix(reason, "go1.26: ") && !strings.HasPrefix(runtime.Version(), "go1.26")) {
			t.Errorf("exception %q: nothing is found there any more", key)
		}
	}
	if len(pkgs) != len(pure) || !slices.IsSorted(pure) {
		t.Errorf("got %d packages for %d names, which should be sorted", len(pkgs), len(pure))
	}
}
