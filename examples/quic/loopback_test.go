package quic

import (
	"context"
	"crypto/sha256"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

func listen(t *testing.T) *net.UDPConn {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// The same server and client on real sockets, undisturbed.
func TestLoopback(t *testing.T) {
	server := listen(t)
	go serve(server, quic.StatelessResetKey{1}, none, func(*quic.Conn) {})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := dial(ctx, listen(t), server.LocalAddr().String(), none)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 300_000)
	for number := range uint64(5) {
		if a, err := ask(ctx, c, number, data); err != nil || a.number != number || a.hash != sha256.Sum256(data) {
			t.Errorf("request %d: %v, %v", number, a, err)
		}
	}
	if err := c.SendDatagram([]byte("hello")); err != nil {
		t.Error(err)
	}
	if d, err := c.ReceiveDatagram(ctx); err != nil || string(d) != "hello" {
		t.Errorf("datagram: %q, %v", d, err)
	}
	if err := c.CloseWithError(0, ""); err != nil {
		t.Error(err)
	}
}
