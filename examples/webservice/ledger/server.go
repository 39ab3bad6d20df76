package ledger

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"time"
)

// Limits and timeouts of the server.
const (
	maxOrder     = 64 << 10         // bytes of an order
	grace        = 8 * time.Second  // for what is under way at a shutdown
	headerWithin = 10 * time.Second // after a request has begun
	stallWithin  = 30 * time.Second // a body that does not go on ends
	idleWithin   = time.Minute      // a connection that nobody uses is closed
)

// Config says how to run a server.
type Config struct {
	Addr string          // to listen on, "host:port"
	Cert tls.Certificate // of the server
	Dir  string          // folder of the journal and the files, made if need be
	Log  *log.Logger     // nil: the standard logger
	Flaw Flaw            // for tests
}

// Run serves until ctx ends, then shuts down. It returns nil after a shutdown in
// which everything that was asked was answered.
func Run(ctx context.Context, c Config) error {
	if c.Log == nil {
		c.Log = log.Default()
	}
	if err := makeFolder(c.Dir); err != nil {
		return err
	}
	b, err := openBook(c.Dir, c.Flaw)
	if err != nil {
		return fmt.Errorf("the journal in %s: %w", c.Dir, err)
	}
	defer b.j.f.Close()
	s, err := openStore(c.Dir, c.Flaw)
	if err != nil {
		return fmt.Errorf("the files in %s: %w", c.Dir, err)
	}
	srv := &http.Server{
		Handler:           (&service{b, s, c}).mux(),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{c.Cert}, MinVersion: tls.VersionTLS13},
		ReadHeaderTimeout: headerWithin,
		IdleTimeout:       idleWithin,
		ErrorLog:          c.Log,
	}
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return err
	}
	c.Log.Printf("%d orders in the journal; serving on %v", len(b.entries), l.Addr())
	down := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		if c.Flaw == NoShutdown {
			down <- srv.Close()
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		down <- srv.Shutdown(ctx)
	})
	if err := srv.ServeTLS(l, "", ""); err != http.ErrServerClosed || stop() {
		return err
	}
	err = <-down
	c.Log.Printf("shut down: %v", err)
	return err
}

// A service answers requests.
type service struct {
	b *book
	s *store
	c Config
}

func (s *service) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", s.order)
	mux.HandleFunc("GET /accounts/{name}", s.account)
	mux.HandleFunc("GET /statement", s.statement)
	mux.HandleFunc("PUT /files/{name}", s.upload)
	mux.HandleFunc("GET /files/{name}", s.download)
	return mux
}

func (s *service) order(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		http.Error(w, "an order needs an Idempotency-Key", http.StatusBadRequest)
		return
	}
	var o Order
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder)).Decode(&o); err != nil || o.Account == "" {
		http.Error(w, fmt.Sprintf("not an order: %v", err), http.StatusBadRequest)
		return
	}
	receipt, err := s.b.apply(key, o)
	switch {
	case errors.Is(err, errOtherOrder):
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	case err != nil:
		s.c.Log.Printf("order %s: %v", key, err)
		http.Error(w, "the journal failed", http.StatusInternalServerError)
	default:
		s.answer(w, receipt)
	}
}

func (s *service) account(w http.ResponseWriter, r *http.Request) {
	s.answer(w, map[string]int64{"balance": s.b.balance(r.PathValue("name"))})
}

func (s *service) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.c.Log.Printf("answering: %v", err)
	}
}

// statement streams the entries that there are when it gets to them.
func (s *service) statement(w http.ResponseWriter, r *http.Request) {
	out := s.stream(w, "application/x-ndjson")
	for n := 0; ; {
		entries := s.b.list(n)
		if len(entries) == 0 {
			break
		}
		entries = entries[:min(len(entries), 16)] // a few at a time
		n += len(entries)
		for _, e := range entries {
			data, err := json.Marshal(e)
			if err == nil {
				_, err = out.Write(append(data, '\n'))
			}
			if err != nil {
				return // the client went
			}
		}
		if err := out.flush(); err != nil {
			return
		}
	}
	out.end()
}

func (s *service) upload(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !fileName.MatchString(name) {
		http.Error(w, "a name is up to 64 letters, digits and hyphens", http.StatusBadRequest)
		return
	}
	body := &moving{r.Body, http.NewResponseController(w)}
	switch err := s.s.put(name, r.Header.Get("Digest"), body); {
	case errors.Is(err, errDigest):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		s.c.Log.Printf("upload of %s: %v", name, err)
		http.Error(w, "the upload failed", http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// moving is a body that has to go on.
type moving struct {
	io.Reader
	c *http.ResponseController
}

func (m *moving) Read(b []byte) (int, error) {
	if err := m.c.SetReadDeadline(time.Now().Add(stallWithin)); err != nil {
		return 0, err
	}
	return m.Reader.Read(b)
}

var sharedBuffer [4 << 10]byte // see SharedBuffer

func (s *service) download(w http.ResponseWriter, r *http.Request) {
	f, err := s.s.get(r.PathValue("name"))
	if errors.Is(err, fs.ErrNotExist) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		s.c.Log.Printf("download: %v", err)
		http.Error(w, "the file cannot be read", http.StatusInternalServerError)
		return
	}
	defer f.Close()
	out := s.stream(w, "application/octet-stream")
	buf := make([]byte, len(sharedBuffer))
	if s.c.Flaw == SharedBuffer {
		buf = sharedBuffer[:]
	}
	if _, err := io.CopyBuffer(out, struct{ io.Reader }{f}, buf); err != nil {
		return // the client went; that the trailer is missing tells it
	}
	out.end()
}

// A stream is a response whose length is not known, with its digest as trailer.
type stream struct {
	w http.ResponseWriter
	c *http.ResponseController
	h interface {
		io.Writer
		Sum([]byte) []byte
	}
}

func (s *service) stream(w http.ResponseWriter, typ string) *stream {
	w.Header().Set("Content-Type", typ)
	w.Header().Set("Trailer", "Digest")
	return &stream{w, http.NewResponseController(w), sha256.New()}
}

func (s *stream) Write(b []byte) (int, error) {
	if err := s.c.SetWriteDeadline(time.Now().Add(stallWithin)); err != nil {
		return 0, err
	}
	s.h.Write(b)
	return s.w.Write(b)
}

func (s *stream) flush() error { return s.c.Flush() }

func (s *stream) end() { s.w.Header().Set("Digest", fmt.Sprintf("%x", s.h.Sum(nil))) }
