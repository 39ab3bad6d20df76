package conformance

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Report renders verdicts as the section of a Go release in docs/conformance.md.
func Report(version string, verdicts []*Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n\n", version)
	b.WriteString("| package | pass for real | pass in simulation | | subtests: real, simulated | listed |\n|---|---|---|---|---|---|\n")
	for _, v := range verdicts {
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% | %d, %d | %d |\n", v.Package, v.Real, v.Sim, v.Percent(), v.Result.RealSubtests, v.Result.SimSubtests, len(v.Listed))
	}
	for _, v := range verdicts {
		if len(v.Listed)+len(v.Broken) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n\n", v.Package)
		for _, e := range v.Listed {
			fmt.Fprintf(&b, "- %s: %s\n", e.Test, e.Reason)
		}
		for _, t := range v.Broken {
			fmt.Fprintf(&b, "- %s: **not explained**\n", t.Name)
		}
	}
	return b.String()
}

func marks(release string) (begin, end string) {
	return "<!-- go" + release + " -->\n", "<!-- end of go" + release + " -->\n"
}

// WriteDoc replaces the section of a Go release in the page.
func WriteDoc(file, release, section string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, _, after, err := cut(string(data), release)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(before+"\n"+section+"\n"+after), 0o666)
}

// cut splits a page into what is before, in and after a release's section.
func cut(page, release string) (before, section, after string, err error) {
	begin, end := marks(release)
	i, j := strings.Index(page, begin), strings.Index(page, end)
	if i < 0 || j < i {
		return "", "", "", fmt.Errorf("expected the lines %q and %q, found none", begin, end)
	}
	i += len(begin)
	return page[:i], page[i:j], page[j:], nil
}

var row = regexp.MustCompile(`(?m)^\| (\S+) \| \d+ \| \d+ \| ([0-9.]+) % \|`)

// Promised reads what the page promises for a Go release, in per cent by package.
func Promised(page, release string) (map[string]float64, error) {
	_, section, _, err := cut(page, release)
	if err != nil {
		return nil, err
	}
	promised := map[string]float64{}
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		if promised[m[1]], err = strconv.ParseFloat(m[2], 64); err != nil {
			return nil, err
		}
	}
	return promised, nil
}
