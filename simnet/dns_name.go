package simnet

import (
	"errors"
	"fmt"
	"strings"
)

// A dnsName is a domain name as RFC 1035 section 3.1 puts it on the wire,
// without compression: labels, each after its length, and the root's empty one.
type dnsName string

const (
	rootName = dnsName("\x00")
	maxName  = 255 // bytes on the wire
	maxLabel = 63
)

// parseName reads a name as people write it: labels with dots between them, of
// which the last is optional, and \. or \DDD for bytes that would be misread.
func parseName(s string) (dnsName, error) {
	if s == "" || s == "." {
		return rootName, nil
	}
	var wire, label []byte
	end := func() error {
		switch {
		case len(label) == 0:
			return errors.New("it has an empty label")
		case len(label) > maxLabel:
			return fmt.Errorf("the label %q is longer than %d bytes", label, maxLabel)
		}
		wire = append(append(wire, byte(len(label))), label...)
		label = label[:0]
		return nil
	}
	for i := 0; i < len(s); {
		if s[i] == '.' {
			if err := end(); err != nil {
				return "", fmt.Errorf("%q is not a domain name: %v", s, err)
			}
			i++
			continue
		}
		c, n, err := unescape(s[i:])
		if err != nil {
			return "", fmt.Errorf("%q is not a domain name: %v", s, err)
		}
		label = append(label, c)
		i += n
	}
	if len(label) > 0 {
		if err := end(); err != nil {
			return "", fmt.Errorf("%q is not a domain name: %v", s, err)
		}
	}
	wire = append(wire, 0)
	if len(wire) > maxName {
		return "", fmt.Errorf("%q is not a domain name: it is longer than %d bytes", s, maxName)
	}
	return dnsName(wire), nil
}

// unescape reads one character of a master file (RFC 1035 section 5.1), and
// tells how many bytes it took.
func unescape(s string) (c byte, n int, err error) {
	switch {
	case s[0] != '\\':
		return s[0], 1, nil
	case len(s) < 2:
		return 0, 0, errors.New("a backslash ends it")
	case !isDigit(s[1]):
		return s[1], 2, nil
	case len(s) < 4 || !isDigit(s[2]) || !isDigit(s[3]):
		return 0, 0, fmt.Errorf("%q is not an escape: want three digits", s)
	}
	v := int(s[1]-'0')*100 + int(s[2]-'0')*10 + int(s[3]-'0')
	if v > 255 {
		return 0, 0, fmt.Errorf("%q is not an escape: %d is above 255", s[:4], v)
	}
	return byte(v), 4, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// String writes the name so that parseName reads the same.
func (n dnsName) String() string {
	if n == rootName || n == "" {
		return "."
	}
	var b strings.Builder
	for n != rootName {
		for _, c := range []byte(n.label()) {
			switch {
			case c == '.' || c == '\\' || c == '"' || c == ';':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c <= ' ' || c >= 0x7f:
				fmt.Fprintf(&b, "\\%03d", c)
			default:
				b.WriteByte(c)
			}
		}
		b.WriteByte('.')
		n = n.parent()
	}
	return b.String()
}

// label returns the first label of a name that is not the root.
func (n dnsName) label() string { return string(n[1 : 1+n[0]]) }

// parent returns the name without its first label; it is not the root.
func (n dnsName) parent() dnsName { return n[1+n[0]:] }

// fold returns the name by which one is found whatever its case (RFC 4343). A
// length is never a capital letter.
func (n dnsName) fold() dnsName {
	for i := 0; i < len(n); i++ {
		if 'A' <= n[i] && n[i] <= 'Z' {
			b := []byte(n)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return dnsName(b)
		}
	}
	return n
}

// below tells whether the name lies under another; both are folded.
func (n dnsName) below(zone dnsName) bool {
	for n != rootName {
		if n = n.parent(); n == zone {
			return true
		}
	}
	return false
}
