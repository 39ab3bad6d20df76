// Package client asks the ledger: it tries again until an answer comes or its
// context ends.
package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dstkit/dst/examples/webservice/ledger"
)

// How long to wait before the next try: at first, and at most, after doubling
// each time. The wait is drawn between half of it and all.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 2 * time.Second
)

// How long until a connection on which nothing comes is asked whether it still
// is one, and how long it has to answer (HTTP/2). Without, requests go out on a
// dead connection until TCP gives it up, after a quarter of an hour.
const (
	quiet  = 3 * time.Second
	answer = 2 * time.Second
)

// A Flaw is something done wrong on purpose, as [ledger.Flaw].
type Flaw string

const (
	None    Flaw = ""
	KeyATry Flaw = "each try has a key of its own"
)

// Config says whom to ask.
type Config struct {
	URL     string         // of the server, "https://host:port"
	Roots   *x509.CertPool // authorities to trust
	HTTP2   bool           // else HTTP/1.1
	OneTry  time.Duration  // a try that takes longer is given up; 0: five seconds
	Flaw    Flaw           // for tests
	Retried func(error)    // if not nil: called for each try that failed
}

// A Client asks one server. Its methods may be called concurrently.
type Client struct {
	c    Config
	http *http.Client
}

// New returns a client. The server need not be up.
func New(c Config) *Client {
	if c.OneTry == 0 {
		c.OneTry = 5 * time.Second
	}
	if c.Retried == nil {
		c.Retried = func(error) {}
	}
	t := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: c.Roots},
		TLSHandshakeTimeout:   2 * time.Second,
		ResponseHeaderTimeout: c.OneTry,
		IdleConnTimeout:       30 * time.Second,
		Protocols:             new(http.Protocols),
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: quiet, PingTimeout: answer},
	}
	t.Protocols.SetHTTP1(!c.HTTP2)
	t.Protocols.SetHTTP2(c.HTTP2)
	return &Client{c, &http.Client{Transport: t}}
}

// Close closes the connections that no request uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A StatusError is an answer other than the one asked for.
type StatusError struct {
	Code int
	Text string
}

func (e *StatusError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Text) }

// Order has an order applied once.
func (c *Client) Order(ctx context.Context, o ledger.Order) (receipt ledger.Receipt, err error) {
	body, err := json.Marshal(o)
	if err != nil {
		return receipt, err
	}
	key := rand.Text()
	err = c.again(ctx, func(ctx context.Context) error {
		if c.c.Flaw == KeyATry {
			key = rand.Text()
		}
		resp, err := c.do(ctx, "POST", "/orders", bytes.NewReader(body), map[string]string{
			"Idempotency-Key": key, "Content-Type": "application/json",
		})
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(&receipt)
	})
	return receipt, err
}

// Balance returns what is in an account.
func (c *Client) Balance(ctx context.Context, account string) (balance int64, err error) {
	err = c.again(ctx, func(ctx context.Context) error {
		resp, err := c.do(ctx, "GET", "/accounts/"+url.PathEscape(account), nil, nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		var b struct{ Balance *int64 }
		if err := json.NewDecoder(resp.Body).Decode(&b); err != nil {
			return err
		}
		if b.Balance == nil {
			return errors.New("the answer has no balance")
		}
		balance = *b.Balance
		return nil
	})
	return balance, err
}

// Upload stores data under a name.
func (c *Client) Upload(ctx context.Context, name string, data []byte) error {
	digest := sha256.Sum256(data)
	return c.again(ctx, func(ctx context.Context) error {
		resp, err := c.do(ctx, "PUT", "/files/"+name, bytes.NewReader(data), map[string]string{"Digest": hex.EncodeToString(digest[:])})
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

// Download writes the file of a name to w, in one try. What it wrote is all of it
// if the error is nil, and the beginning of it otherwise.
func (c *Client) Download(ctx context.Context, name string, w io.Writer) error {
	return c.stream(ctx, "/files/"+name, func(r io.Reader) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// Statement calls f for all orders that were applied, in one try.
func (c *Client) Statement(ctx context.Context, f func(ledger.Entry) error) error {
	return c.stream(ctx, "/statement", func(r io.Reader) error {
		for lines := bufio.NewScanner(r); ; {
			if !lines.Scan() {
				return lines.Err()
			}
			var e ledger.Entry
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				return err
			}
			if err := f(e); err != nil {
				return err
			}
		}
	})
}

// ErrCut is returned for a stream that ended early.
var ErrCut = errors.New("the stream ended before it was complete")

// stream reads a response to its end, which its trailer proves.
func (c *Client) stream(ctx context.Context, path string, read func(io.Reader) error) error {
	resp, err := c.do(ctx, "GET", path, nil, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	h := sha256.New()
	if err := read(io.TeeReader(resp.Body, h)); err != nil {
		return err
	}
	if resp.Trailer.Get("Digest") != hex.EncodeToString(h.Sum(nil)) {
		return ErrCut
	}
	return nil
}

// do makes one request; the answer is one that says yes.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader, header map[string]string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.c.URL+path, body)
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return nil, &StatusError{resp.StatusCode, strings.TrimSpace(string(text))}
}

// again calls try until it succeeds, the server says that it never will (4xx), or
// ctx ends.
func (c *Client) again(ctx context.Context, try func(context.Context) error) error {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		one, cancel := context.WithTimeout(ctx, c.c.OneTry)
		err := try(one)
		cancel()
		if err == nil {
			return nil
		}
		var status *StatusError
		if errors.As(err, &status) && status.Code/100 == 4 {
			return err
		}
		c.c.Retried(err)
		timer := time.NewTimer(wait/2 + mrand.N(wait/2))
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w; the last try: %w", context.Cause(ctx), err)
		case <-timer.C:
		}
	}
}
