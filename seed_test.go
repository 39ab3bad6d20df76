package dst

import (
	"slices"
	"strings"
	"testing"
)

func TestParseSeeds(t *testing.T) {
	const top = 1<<64 - 1
	for _, tt := range []struct {
		text string
		want []span
	}{
		{"1", []span{{1, 1}}},
		{"100", []span{{1, 100}}},
		{"0x10", []span{{1, 16}}},
		{"9223372036854775808", []span{{1, 1 << 63}}}, // counted, not made
		{"5-900", []span{{5, 900}}},
		{"0x10-0x20", []span{{16, 32}}},
		{"7-7", []span{{7, 7}}},
		{"0,1", []span{{0, 1}}},
		{"1,7,9", []span{{1, 1}, {7, 7}, {9, 9}}},
		{"1-3,9", []span{{1, 3}, {9, 9}}},
		{" 9 , 1 - 3 ", []span{{1, 3}, {9, 9}}},
		{"1-5,3-8,8,20-30,25", []span{{1, 8}, {20, 30}}}, // each once
		{"1-3,4-6", []span{{1, 6}}},
		{"18446744073709551615,0-1", []span{{0, 1}, {top, top}}},
		{"18446744073709551614-18446744073709551615,18446744073709551615", []span{{top - 1, top}}},
	} {
		got, err := parseSeeds(tt.text)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
}

func TestParseSeedsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"0":                      "0 seeds are none",
		"x":                      `"x" is not a number of seeds`,
		"0x":                     `"0x" is not a number of seeds`,
		"1_000":                  `"1_000" is not a number of seeds`,
		"9223372036854775809":    "too many seeds",
		"18446744073709551616":   `"18446744073709551616" is not a number of seeds`,
		"-5":                     `in "-5": "" is not a seed`,
		"5-":                     `in "5-": "" is not a seed`,
		"1,,2":                   "a part is empty",
		"1,2,":                   "a part is empty",
		"1-2-3":                  `in "1-2-3": "2-3" is not a seed`,
		"1,two":                  `in "two": "two" is not a seed`,
		"9-5":                    `the range "9-5" ends before it begins`,
		"0-18446744073709551615": "too many seeds",
		"0-9223372036854775807,9223372036854775809-18446744073709551615": "too many seeds",
	} {
		got, err := parseSeeds(text)
		if err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		} else if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "5-900") {
			t.Errorf("%q: error %q, want %q and how to write seeds", text, err, want)
		}
	}
}

// ask sets what is asked for, as flags and environment would.
func ask(t *testing.T, seed, seeds string, env map[string]string) {
	t.Helper()
	for _, s := range []*setting{&seedSetting, &seedsSetting} {
		old := *s
		t.Cleanup(func() { *s = old })
		s.text, s.given = "", false
		t.Setenv(s.env, env[s.env])
	}
	if seed != "" {
		seedSetting.Set(seed)
	}
	if seeds != "" {
		seedsSetting.Set(seeds)
	}
}

func TestAskedSeeds(t *testing.T) {
	type env = map[string]string
	for _, tt := range []struct {
		seed, seeds string
		env         env
		want        []span // nil: nobody asked
		err         string
	}{
		{},
		{seed: "42", want: []span{{42, 42}}},
		{seed: "0x2a", want: []span{{42, 42}}},
		{seeds: "3", want: []span{{1, 3}}},
		{env: env{"DST_SEED": "42"}, want: []span{{42, 42}}},
		{env: env{"DST_SEEDS": "2-4"}, want: []span{{2, 4}}},
		{env: env{"DST_SEED": "42", "DST_SEEDS": "3"}, want: []span{{42, 42}}},
		{seed: "7", env: env{"DST_SEED": "42"}, want: []span{{7, 7}}},
		{seeds: "3", env: env{"DST_SEED": "42"}, want: []span{{1, 3}}},
		{seed: "7", seeds: "3", want: []span{{7, 7}}},
		{seed: "x", err: `-dst.seed=x: "x" is not a seed`},
		{seeds: "1,", err: "-dst.seeds=1,: a part is empty"},
		{env: env{"DST_SEED": "1-2"}, err: `DST_SEED=1-2: "1-2" is not a seed`},
		{env: env{"DST_SEEDS": "lots"}, err: `DST_SEEDS=lots: "lots" is not a number of seeds`},
	} {
		ask(t, tt.seed, tt.seeds, tt.env)
		got, err := askedSeeds()
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%+v: got %v, error %v", tt, got, err)
			}
		} else if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%+v: got %v, %v", tt, got, err)
		}
	}
}

func TestSettingNumber(t *testing.T) {
	for text, want := range map[string]int{"": 0, "0": 0, "1": 1, "2": 2, "true": 1, "false": 0} {
		s := setting{flag: "dst.v", env: "DST_V_TEST", bare: "1"}
		t.Setenv("DST_V_TEST", text)
		if got, err := s.number(); err != nil || got != want {
			t.Errorf("DST_V=%q: got %d, %v, want %d", text, got, err, want)
		}
		t.Setenv("DST_V_TEST", "2")
		if text != "" {
			s.Set(text)
			if got, err := s.number(); err != nil || got != want {
				t.Errorf("-dst.v=%s over DST_V=2: got %d, %v, want %d", text, got, err, want)
			}
		}
	}
	s := setting{flag: "dst.v", env: "DST_V_TEST", bare: "1"}
	s.Set("loud")
	if _, err := s.number(); err == nil || !strings.Contains(err.Error(), "-dst.v=loud") {
		t.Errorf("-dst.v=loud: got error %v", err)
	}
}
