package dst

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A span is the seeds from lo to hi, both included.
type span struct{ lo, hi uint64 }

// maxSeeds bounds how many seeds can be asked for. Seeds are counted, never
// kept, so this is about what a number can hold.
const maxSeeds = 1 << 63

const seedsHelp = "write a count such as 100 (seeds 1 to 100), a range such as 5-900, a list such as 1,7,9, or both: 1-3,9"

// parseSeed reads a seed: decimal, or hexadecimal after 0x.
func parseSeed(text string) (uint64, error) {
	digits, base := text, 10
	if len(text) > 2 && (text[:2] == "0x" || text[:2] == "0X") {
		digits, base = text[2:], 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a seed: a number from 0 to 18446744073709551615, or hexadecimal after 0x", text)
	}
	return n, nil
}

// parseSeeds reads a set of seeds: a count, or a list of seeds and ranges. Each
// seed comes once, in ascending order.
func parseSeeds(text string) ([]span, error) {
	if !strings.ContainsAny(text, ",-") {
		n, err := parseSeed(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is not a number of seeds; %s", text, seedsHelp)
		case n == 0:
			return nil, fmt.Errorf("0 seeds are none; %s", seedsHelp)
		case n > maxSeeds:
			return nil, fmt.Errorf("%s are too many seeds, at most 2^63 can be asked for; %s", text, seedsHelp)
		}
		return []span{{1, n}}, nil
	}
	var spans []span
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, fmt.Errorf("a part is empty (look for a comma too many); %s", seedsHelp)
		}
		lo, hi, isRange := strings.Cut(part, "-")
		var s span
		var err error
		if s.lo, err = parseSeed(strings.TrimSpace(lo)); err != nil {
			return nil, inPart(part, err)
		}
		s.hi = s.lo
		if isRange {
			if s.hi, err = parseSeed(strings.TrimSpace(hi)); err != nil {
				return nil, inPart(part, err)
			}
		}
		if s.hi < s.lo {
			return nil, fmt.Errorf("the range %q ends before it begins; %s", part, seedsHelp)
		}
		spans = append(spans, s)
	}
	spans = union(spans)
	var n uint64
	for _, s := range spans {
		d := s.hi - s.lo
		if d >= maxSeeds-n {
			return nil, fmt.Errorf("%q are too many seeds, at most 2^63 can be asked for; %s", text, seedsHelp)
		}
		n += d + 1
	}
	return spans, nil
}

func inPart(part string, err error) error {
	return fmt.Errorf("in %q: %w; %s", part, err, seedsHelp)
}

// union sorts spans and joins those that touch.
func union(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		switch {
		case a.lo < b.lo:
			return -1
		case a.lo > b.lo:
			return 1
		}
		return 0
	})
	joined := spans[:1]
	for _, s := range spans[1:] {
		last := &joined[len(joined)-1]
		if s.lo <= last.hi || s.lo == last.hi+1 {
			last.hi = max(last.hi, s.hi)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// askedSeeds returns the seeds that the person who runs the tests asked for; nil
// if nobody asked. A flag wins over the environment, and one seed over several.
func askedSeeds() ([]span, error) {
	one, many := &seedSetting, &seedsSetting
	if many.given && !one.given {
		one = nil
	}
	if one != nil {
		if text, source := one.value(); text != "" {
			n, err := parseSeed(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", source, err)
			}
			return []span{{n, n}}, nil
		} else if one.given {
			return nil, fmt.Errorf("%s: no seed is given; write -dst.seed=42", source)
		}
	}
	text, source := many.value()
	if text == "" {
		if many.given {
			return nil, fmt.Errorf("%s: no seeds are given; %s", source, seedsHelp)
		}
		return nil, nil
	}
	spans, err := parseSeeds(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return spans, nil
}
