package wire

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// Resolve returns the address of a "host:port", an IPv4 one where the host has
// both, as net.ResolveUDPAddr does; unlike it, Resolve ends when ctx does.
func Resolve(ctx context.Context, hostport string) (netip.AddrPort, error) {
	host, service, err := net.SplitHostPort(hostport)
	if err != nil {
		return netip.AddrPort{}, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
	if err != nil {
		return netip.AddrPort{}, err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	for _, ip := range ips {
		if ip = ip.Unmap(); ip.Is4() {
			return netip.AddrPortFrom(ip, uint16(port)), nil
		}
	}
	if len(ips) == 0 {
		return netip.AddrPort{}, fmt.Errorf("wire: no address for %q", host)
	}
	return netip.AddrPortFrom(ips[0], uint16(port)), nil
}
