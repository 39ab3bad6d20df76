package seam

import (
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"strings"
)

// Supported lists the Go releases that the patches are made for.
func Supported() []string { return []string{"1.26", "1.27"} }

// A ReleaseError refuses a Go release that no patches are made for.
type ReleaseError struct {
	Found  string // what the GOROOT calls itself, e.g. "go1.25.4" or "devel"
	GOROOT string
}

func (e *ReleaseError) Error() string {
	s := Supported()
	return fmt.Sprintf("simulation builds need Go %s (a release, no development or preview version), found %s in %s; install one of these, or select one with GOTOOLCHAIN, e.g. GOTOOLCHAIN=go%s.0",
		strings.Join(s, " or "), e.Found, e.GOROOT, s[len(s)-1])
}

// A PlatformError refuses a target that cannot be simulated.
type PlatformError struct{ GOOS, GOARCH string }

func (e *PlatformError) Error() string {
	return fmt.Sprintf("simulation builds are for linux/amd64 and linux/arm64, found GOOS=%s GOARCH=%s; unset GOOS and GOARCH or set them to one of these (elsewhere, use plain go: the packages then behave as std)",
		e.GOOS, e.GOARCH)
}

func checkPlatform(goos, goarch string) error {
	if goos == "linux" && (goarch == "amd64" || goarch == "arm64") {
		return nil
	}
	return &PlatformError{goos, goarch}
}

// readVersion returns the first line of the GOROOT's VERSION file, or "devel"
// where there is none: a checkout of the Go repository has no such file, or
// one that begins with "devel".
func readVersion(goroot string) (string, error) {
	data, err := os.ReadFile(filepath.Join(goroot, "VERSION"))
	if os.IsNotExist(err) {
		if _, err := os.Stat(filepath.Join(goroot, "src", "runtime")); err != nil {
			return "", fmt.Errorf("expected a Go installation in GOROOT %s, found no VERSION file and no src/runtime; unset GOROOT, or set it to an installation", goroot)
		}
		return "devel", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot tell the Go release of GOROOT %s: %w", goroot, err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line), nil
}

// releaseOf maps a version such as "go1.26.8" to the release whose patches fit
// it, "1.26". Vendors append to the version ("go1.26.8-acme", "go1.26.8 X:exp"):
// these pass, as the anchors tell if they changed what we patch.
func releaseOf(v string) (string, bool) {
	v, _, _ = strings.Cut(v, " ")
	if !version.IsValid(v) {
		return "", false
	}
	lang := version.Lang(v)
	number, _, _ := strings.Cut(strings.TrimPrefix(v, lang), "-")
	if strings.Contains(number, "rc") || strings.Contains(number, "beta") {
		return "", false
	}
	for _, s := range Supported() {
		if lang == "go"+s {
			return s, true
		}
	}
	return "", false
}
