package simnet

import (
	"fmt"
	"strings"
)

// checkName tells what keeps name from being a host's name, or "". The rules
// are those of host names (letters, digits, hyphens and dots; RFC 1123) plus
// the underscore, which tests like.
func checkName(name string) string {
	switch {
	case name == "":
		return "a host needs a name"
	case len(name) > 63:
		return fmt.Sprintf("host name %q is longer than 63 bytes", name)
	case strings.EqualFold(name, NameServer):
		return fmt.Sprintf("%q is the network's name server, see Network.DNS; give the host another name", name)
	case strings.EqualFold(name, "localhost"):
		return `a host cannot be called "localhost"`
	}
	digits := true
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case '0' <= c && c <= '9':
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
			digits = false
		case (c == '-' || c == '.') && 0 < i && i < len(name)-1:
		default:
			return fmt.Sprintf("host name %q has %q at %d", name, c, i)
		}
	}
	if digits {
		return fmt.Sprintf("host name %q looks like an address", name)
	}
	return ""
}

// EtcHosts returns the content of /etc/hosts on the named host: localhost and
// every host of the network.
func (n *Network) EtcHosts(host string) []byte {
	if n.etcHostsOf == len(n.stacks) && n.etcHosts != nil {
		return n.etcHosts
	}
	var b strings.Builder
	b.WriteString("127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n")
	for _, s := range n.stacks {
		fmt.Fprintf(&b, "%v\t%s\n", s.addr, s.name)
	}
	for _, s := range n.stacks {
		fmt.Fprintf(&b, "%v\t%s\n", s.addr6, s.name)
	}
	n.etcHosts, n.etcHostsOf = []byte(b.String()), len(n.stacks)
	return n.etcHosts
}

// EtcHostname returns the content of /etc/hostname on the named host.
func (n *Network) EtcHostname(host string) []byte { return []byte(host + "\n") }

// EtcResolvConf returns the content of /etc/resolv.conf: the network's name
// server, and the hosts' domain to search. Timeouts are the resolver's own: 5
// seconds, twice.
func (n *Network) EtcResolvConf(host string) []byte {
	return fmt.Appendf(nil, "nameserver %v\nsearch %s\n", nameServer4, Domain)
}

// EtcNsswitchConf returns the content of /etc/nsswitch.conf: /etc/hosts comes
// first, then the name server.
func (n *Network) EtcNsswitchConf(host string) []byte { return []byte("hosts: files dns\n") }
