package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/dstkit/dst/examples/webservice/client"
	"github.com/dstkit/dst/examples/webservice/ledger"
	"github.com/dstkit/dst/examples/webservice/pki"
)

// Wrong arguments are refused with what to write instead, before anything listens.
func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		"":                        "want -dir",
		"-no-such-flag":           "not defined",
		"-dir /nowhere -order me": "the server makes it",
	} {
		err := run(context.Background(), strings.Fields(args))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// The service on real sockets and files: orders, streams, and what is left after
// a restart.
func TestLoopback(t *testing.T) {
	cert, pem, err := pki.New("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	roots, err := pki.Roots(pem)
	if err != nil {
		t.Fatal(err)
	}
	dir, data := t.TempDir(), bytes.Repeat([]byte("webservice"), 10_000)
	for round, http2 := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		l.Close()
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- ledger.Run(ctx, ledger.Config{Addr: addr, Cert: cert, Dir: dir, Log: log.New(io.Discard, "", 0)})
		}()
		c := client.New(client.Config{URL: "https://" + addr, Roots: roots, HTTP2: http2})
		limit, cancel := context.WithTimeout(t.Context(), time.Minute)
		receipt, err := c.Order(limit, ledger.Order{Account: "a", Amount: 5})
		if want := (ledger.Receipt{Seq: round + 1, Balance: int64(5 * (round + 1))}); err != nil || receipt != want {
			t.Errorf("%+v, %v, want %+v", receipt, err, want)
		}
		if balance, err := c.Balance(limit, "a"); err != nil || balance != receipt.Balance {
			t.Errorf("balance %d, %v", balance, err)
		}
		name := fmt.Sprint("file-", round)
		var got bytes.Buffer
		if err := errors.Join(c.Upload(limit, name, data), c.Download(limit, name, &got)); err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Errorf("%d bytes of %d came back: %v", got.Len(), len(data), err)
		}
		n := 0
		if err := c.Statement(limit, func(ledger.Entry) error { n++; return nil }); err != nil || n != round+1 {
			t.Errorf("%d entries, %v", n, err)
		}
		var status *client.StatusError
		if err := c.Download(limit, "nothing", io.Discard); !errors.As(err, &status) || status.Code != 404 {
			t.Errorf("a file that is not there: %v", err)
		}
		c.Close()
		cancel()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}
}
