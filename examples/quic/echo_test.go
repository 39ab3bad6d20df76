package quic

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"

	"github.com/quic-go/quic-go"
)

// A flaw is a mistake that somebody might make with QUIC.
type flaw int

const (
	none        flaw = iota
	readOnce         // the server takes what one read gives for the whole request
	freshKey         // each start of the server has another key for stateless resets
	noKeepAlive      // nobody keeps an idle connection alive
	twice            // the server answers a datagram twice
	byAddress        // what stands before the server knows connections by the client's address
)

// Times of the protocol.
const (
	handshakeIdle = 5 * time.Second
	idleMost      = 10 * time.Second
	keepAlive     = 3 * time.Second
)

func config(f flaw) *quic.Config {
	c := &quic.Config{
		HandshakeIdleTimeout: handshakeIdle,
		MaxIdleTimeout:       idleMost,
		KeepAlivePeriod:      keepAlive,
		EnableDatagrams:      true,
		InitialPacketSize:    1200,
	}
	if f == noKeepAlive {
		c.KeepAlivePeriod = 0
	}
	return c
}

// identity is the server's certificate, and who trusts it. It is the same in each process.
var identity, trusted = func() (tls.Certificate, *x509.CertPool) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"server"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}()

// A request's answer has its number, and the hash of what came with it.
type answer struct {
	number uint64
	hash   [sha256.Size]byte
}

const answerSize = 8 + sha256.Size

// serve answers on each stream of each connection, and sends datagrams back.
func serve(conn net.PacketConn, key quic.StatelessResetKey, f flaw, accepted func(*quic.Conn)) error {
	if f == byAddress {
		conn = &balancer{PacketConn: conn, known: map[string]bool{}}
	}
	tr := &quic.Transport{Conn: conn, StatelessResetKey: &key}
	lis, err := tr.Listen(&tls.Config{Certificates: []tls.Certificate{identity}, NextProtos: []string{"echo"}}, config(f))
	if err != nil {
		return err
	}
	for {
		c, err := lis.Accept(context.Background())
		if err != nil {
			return err
		}
		accepted(c)
		go func() {
			for {
				d, err := c.ReceiveDatagram(context.Background())
				if err != nil {
					return
				}
				c.SendDatagram(d)
				if f == twice {
					c.SendDatagram(d)
				}
			}
		}()
		go func() {
			for {
				s, err := c.AcceptStream(context.Background())
				if err != nil {
					return
				}
				go reply(s, f)
			}
		}()
	}
}

// A balancer lets through what comes from an address that a connection began from.
type balancer struct {
	net.PacketConn
	known map[string]bool
}

func (b *balancer) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := b.PacketConn.ReadFrom(p)
		if err != nil {
			return n, from, err
		}
		if n > 0 && p[0]&0xf0 == 0xc0 { // Initial: RFC 9000, section 17.2.2
			b.known[from.String()] = true
		}
		if b.known[from.String()] {
			return n, from, nil
		}
	}
}

func reply(s *quic.Stream, f flaw) {
	defer s.Close()
	var number [8]byte
	if _, err := io.ReadFull(s, number[:]); err != nil {
		return
	}
	h := sha256.New()
	if f == readOnce {
		some := make([]byte, 1<<20)
		n, _ := s.Read(some)
		h.Write(some[:n])
	} else if _, err := io.Copy(h, s); err != nil {
		return
	}
	s.Write(append(number[:], h.Sum(nil)...))
}

func dial(ctx context.Context, conn net.PacketConn, addr string, f flaw) (*quic.Conn, error) {
	to, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, err
	}
	return (&quic.Transport{Conn: conn}).Dial(ctx, to, &tls.Config{RootCAs: trusted, ServerName: "server", NextProtos: []string{"echo"}}, config(f))
}

// ask sends a request over a stream of its own, and waits for the answer.
func ask(ctx context.Context, c *quic.Conn, number uint64, data []byte) (a answer, err error) {
	s, err := c.OpenStreamSync(ctx)
	if err != nil {
		return a, err
	}
	end, _ := ctx.Deadline()
	s.SetDeadline(end)
	defer s.CancelRead(0)
	if _, err := s.Write(binary.BigEndian.AppendUint64(nil, number)); err != nil {
		return a, err
	}
	if _, err := s.Write(data); err != nil {
		return a, err
	}
	if err := s.Close(); err != nil {
		return a, err
	}
	got, err := io.ReadAll(s)
	if err != nil {
		return a, err
	}
	if len(got) != answerSize {
		return a, fmt.Errorf("an answer of %d bytes, want %d", len(got), answerSize)
	}
	a.number = binary.BigEndian.Uint64(got)
	copy(a.hash[:], got[8:])
	return a, nil
}

// reason tells the kind of an error of a connection, or "" if it is none that is expected.
func reason(err error) string {
	var (
		idle      *quic.IdleTimeoutError
		handshake *quic.HandshakeTimeoutError
		reset     *quic.StatelessResetError
	)
	switch {
	case errors.As(err, &idle):
		return "idle timeout"
	case errors.As(err, &handshake):
		return "handshake timeout"
	case errors.As(err, &reset):
		return "stateless reset"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline exceeded"
	}
	return ""
}
