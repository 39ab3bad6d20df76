package dst

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A setting is something that the person who runs the tests decides: by a flag
// or, if that is not given, by an environment variable. Its text is looked at
// when a test runs, so that what is wrong with it is told once and briefly,
// without the list of all flags.
type setting struct {
	flag, env string
	bare      string // what the flag means without a value, or ""
	text      string // given by the flag
	given     bool
}

// String, Set and IsBoolFlag make it a flag.Value.

func (s *setting) String() string {
	if s == nil {
		return ""
	}
	return s.text
}

func (s *setting) Set(text string) error {
	if text == "true" && s.bare != "" {
		text = s.bare
	}
	s.text, s.given = text, true
	return nil
}

func (s *setting) IsBoolFlag() bool { return s.bare != "" }

// value returns the text and what to call it in errors; an empty text means
// that nobody asked.
func (s *setting) value() (text, source string) {
	if s.given {
		return strings.TrimSpace(s.text), "-" + s.flag + "=" + s.text
	}
	v := os.Getenv(s.env)
	return strings.TrimSpace(v), s.env + "=" + v
}

// number returns a setting that is on, off or a level; 0 if nobody asked.
func (s *setting) number() (int, error) {
	text, source := s.value()
	if text == "" {
		return 0, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return n, nil
	}
	if on, err := strconv.ParseBool(text); err == nil {
		if on {
			return 1, nil
		}
		return 0, nil
	}
	return 0, fmt.Errorf("%s: %q is neither true nor false, nor a number", source, text)
}
