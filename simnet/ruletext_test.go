package simnet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestParseRule(t *testing.T) {
	for text, want := range map[string]string{
		"drop":                                  "",
		"drop first syn to port 80":             "drop 1st syn to port 80",
		"drop 1st-3rd udp from a to b port 53":  "",
		"delay 200ms tcp to port 443":           "",
		"delay 10ms-50ms":                       "",
		"drop 10% icmp":                         "",
		"drop 0.7%":                             "",
		"drop 100% udp":                         "drop udp",
		"reject tcp to port 25":                 "",
		"reject with prohibited tcp":            "",
		"reject with host-unreachable":          "",
		"drop every 5th tcp data from a":        "",
		"drop every 1st":                        "",
		"drop first 3 fin":                      "drop 1st-3rd fin",
		"drop after 10th ack":                   "",
		"drop 2nd":                              "",
		"accept tcp port 22":                    "",
		"duplicate syn-ack from a port 22 to b": "",
		"corrupt rst to b from a":               "corrupt rst from a to b",
		"drop  udp   port 1,5-9,80":             "drop udp port 1,5-9,80",
		`drop to "port" port 80`:                "",
		"drop to dns port 53":                   "",
		`drop to "a"`:                           "drop to a",
		"drop udp over 1200 bytes":              "",
		"drop over 0 bytes of each flow":        "",
		"drop 1st of each flow port 5":          "drop 1st port 5 of each flow",
	} {
		r, err := ParseRule(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if want == "" {
			want = text
		}
		if got := r.String(); got != want {
			t.Errorf("%q: String gives %q, want %q", text, got, want)
		}
	}
}

func TestParseRuleErrors(t *testing.T) {
	for _, c := range []struct {
		text     string
		column   int
		found    string
		expected string // a part of it
	}{
		{"", 1, "", "an action"},
		{"dorp udp", 1, "dorp", "an action"},
		{"drop fist syn", 6, "fist", "which (first"},
		{"drop first sin", 12, "sin", "a kind"},
		{"drop udp first", 10, "first", "port, from, to"},
		{"drop 1th", 6, "1th", "1st"},
		{"drop 0th", 6, "0th", "a number such as"},
		{"drop 3rd-2nd", 10, "2nd", "3rd or later"},
		{"drop 1st-3", 10, "3", "3rd"},
		{"drop every 5", 12, "5", "5th"},
		{"drop after", 11, "", "a number such as"},
		{"drop 0%", 6, "0%", "a percentage"},
		{"drop 101%", 6, "101%", "a percentage"},
		{"drop x%", 6, "x%", "a percentage"},
		{"delay tcp", 7, "tcp", "a duration"},
		{"delay", 6, "", "a duration"},
		{"delay 5ms-1ms", 11, "1ms", "a duration above 5ms"},
		{"reject with anger", 13, "anger", "port-unreachable"},
		{"reject icmp", 8, "icmp", "another kind"},
		{"drop to", 8, "", "a host, or port"},
		{"drop to a!", 9, "a!", "a host, or port"},
		{"drop to 10.0.0.1", 9, "10.0.0.1", "a host, or port"},
		{`drop to "a`, 9, `"a`, "a host's name in quotes"},
		{"drop to a to b", 11, "to", "no second to"},
		{"drop to port x", 14, "x", "ports such as"},
		{"drop port 80,", 14, "", "ports such as"},
		{"drop port 9-5", 13, "5", "a port from 9"},
		{"drop port 65536", 11, "65536", "ports such as"},
		{"drop over many", 11, "many", "how many bytes"},
		{"drop over 5", 12, "", "bytes"},
		{"drop of every flow", 9, "every", "of each flow"},
		{"drop first 0", 12, "0", "how many"},
		{"drop udp\tto a", 6, "udp\tto", "a kind"},
	} {
		r, err := ParseRule(c.text)
		var e *RuleError
		if !errors.As(err, &e) || r != nil {
			t.Errorf("%q: %v, %v, want an error", c.text, r, err)
			continue
		}
		if e.Column != c.column || e.Found != c.found || !strings.Contains(e.Expected, c.expected) {
			t.Errorf("%q: %v; want %d, %q, %s", c.text, err, c.column, c.found, c.expected)
		}
	}
	_, err := ParseRule("drop fist syn")
	if want := `rule "drop fist syn": column 6: found "fist", expected which (first, 2nd, 1st-3rd, every 5th, after 3rd, 10%), ` +
		`a kind of packets (udp, tcp, tcp data, icmp, syn, syn-ack, ack, fin, rst), port, from, to, over, of or the end`; err.Error() != want {
		t.Errorf("%v\nwant %v", err, want)
	}
}

// randomRule makes a rule of all that the grammar has.
func randomRule(r *rand.Rand) *Rule {
	ports := func() (s ports) {
		for range r.IntN(3) {
			a := uint16(r.IntN(60000))
			s = append(s, [2]uint16{a, a + uint16(r.IntN(3)*r.IntN(1000))})
		}
		return s
	}
	host := func() string {
		return []string{"", "a", "b-1.x", "port", "to", "of", "tcp", "data", "first"}[r.IntN(9)]
	}
	v := &Rule{
		verdict: []Verdict{Drop, Accept, Duplicate, Corrupt, Reject, RejectPort, RejectHost, RejectProhibited, Delay(time.Duration(r.IntN(1e9)))}[r.IntN(9)],
		first:   1, last: never, percent: 100, kind: kind(r.IntN(len(kindNames))),
		ports: ports(), from: end{host(), ports()}, to: end{host(), ports()}, over: r.IntN(1000) - 500, flow: r.IntN(2) == 0,
	}
	v.over = max(v.over, -1)
	if v.verdict.what == delay && r.IntN(2) == 0 {
		v.upTo = v.verdict.delay + time.Duration(1+r.IntN(1e9))
	}
	if v.verdict.what == reject && v.kind == kindICMP {
		v.kind = kindUDP
	}
	switch r.IntN(6) {
	case 0:
		v.percent = float64(1+r.IntN(99999)) / 1000
	case 1:
		v.every = 1 + r.Uint64N(1000)
	case 2:
		v.first = 2 + r.Uint64N(1000)
	case 3:
		v.first = 1 + r.Uint64N(1000)
		v.last = v.first + r.Uint64N(1000)
	}
	return v
}

// TestRuleRoundTrip: what String gives is parsed to the same rule.
func TestRuleRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		a := randomRule(r)
		b, err := ParseRule(a.String())
		if err != nil {
			t.Fatal(err)
		}
		if x, y := fmt.Sprintf("%+v", *a), fmt.Sprintf("%+v", *b); x != y {
			t.Fatalf("%s\nis %s\nthen %s", a, x, y)
		}
	}
}

// FuzzParseRule: any text gives a rule that comes back, or an error that points into
// the text.
func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"drop first syn to port 80", "delay 1ms-2ms 3rd-4th tcp data from a port 1,2-3", `reject with prohibited to "to" over 5 bytes of each flow`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		var e *RuleError
		switch {
		case err == nil:
			again, err := ParseRule(r.String())
			if err != nil || again.String() != r.String() {
				t.Fatalf("%q: %q: %v, %v", text, r, again, err)
			}
		case !errors.As(err, &e) || e.Column < 1 || e.Column > len(text)+1 || e.Expected == "" || !strings.HasPrefix(text[e.Column-1:], e.Found):
			t.Fatalf("%q: %+v", text, err)
		}
	})
}
