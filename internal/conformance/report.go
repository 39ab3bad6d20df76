package conformance

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// A Report is the section of a Go release in docs/conformance.md: for each
// package its row of the table, and the list of what does not pass.
type Report struct {
	rows, lists map[string]string
}

// NewReport makes a Report of verdicts on a Go version.
func NewReport(version string, verdicts []*Verdict) *Report {
	r := &Report{rows: map[string]string{}, lists: map[string]string{}}
	for _, v := range verdicts {
		r.rows[v.Package] = fmt.Sprintf("| %s | %d | %d | %.1f %% | %d, %d | %d | %s |\n",
			v.Package, v.Real, v.Sim, v.Percent(), v.Result.RealSubtests, v.Result.SimSubtests, len(v.Listed), version)
		var b strings.Builder
		for _, e := range v.Listed {
			fmt.Fprintf(&b, "- %s: %s\n", e.Test, e.Reason)
		}
		for _, t := range v.Broken {
			fmt.Fprintf(&b, "- %s: **not explained**\n", t.Name)
		}
		r.lists[v.Package] = b.String()
	}
	return r
}

var (
	anyRow  = regexp.MustCompile(`(?m)^\| (\S+) \| \d.*\n`)
	anyList = regexp.MustCompile(`(?m)^(\S+):\n\n((?:- .*\n)+)`)
)

// keep takes over what a section says of packages that r is not about.
func (r *Report) keep(section string) {
	lists := map[string]string{}
	for _, m := range anyList.FindAllStringSubmatch(section, -1) {
		lists[m[1]] = m[2]
	}
	for _, m := range anyRow.FindAllStringSubmatch(section, -1) {
		if _, ok := r.rows[m[1]]; !ok {
			r.rows[m[1]], r.lists[m[1]] = m[0], lists[m[1]]
		}
	}
}

func (r *Report) String() string {
	var b strings.Builder
	b.WriteString("| package | pass for real | pass in simulation | | subtests: real, simulated | listed | with |\n|---|---|---|---|---|---|---|\n")
	for _, p := range packages {
		b.WriteString(r.rows[p.path])
	}
	for _, p := range packages {
		if list := r.lists[p.path]; list != "" {
			fmt.Fprintf(&b, "\n%s:\n\n%s", p.path, list)
		}
	}
	return b.String()
}

func marks(release string) (begin, end string) {
	return "<!-- go" + release + " -->\n", "<!-- end of go" + release + " -->\n"
}

// WriteDoc brings the section of a Go release in the page up to date.
func WriteDoc(file, release string, r *Report) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, section, after, err := cut(string(data), release)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	r.keep(section)
	return os.WriteFile(file, []byte(before+"\n"+r.String()+"\n"+after), 0o666)
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
