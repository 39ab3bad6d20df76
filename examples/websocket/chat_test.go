package websocket

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// A flaw is a mistake that somebody might make in a chat.
type flaw int

const (
	none          flaw = iota
	noIDs              // the server takes a message that comes again for a new one
	subscribeLate      // a reader is sent what there is, and then waits for news
	resumeAtSent       // a reader goes on after what was sent to it, not after what it has
	unsyncedName       // the room's file is synced, and the folder with its name is not
	noPing             // nobody asks whether the other end is there
)

// A message is one of a room's. Who has sent it gave it the ID; At is its place.
type message struct {
	ID   string
	Text string
	At   int
}

// A room is a log of messages, on disk.
type room struct {
	flaw

	mu   sync.Mutex
	file *os.File
	log  []message
	ids  map[string]bool
	more chan struct{}  // closed when there is one more
	sent map[string]int // to each reader, for resumeAtSent
}

func openRoom(path string, f flaw) (*room, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	r := &room{flaw: f, file: file, ids: map[string]bool{}, more: make(chan struct{}), sent: map[string]int{}}
	whole := int64(0)
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // the last one was cut off
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		whole += int64(len(line))
		r.log = append(r.log, m)
		r.ids[m.ID] = true
	}
	if err := errors.Join(file.Truncate(whole), file.Sync()); err != nil || f == unsyncedName {
		return r, err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return r, dir.Sync()
}

// add puts a message into the room, unless it is there.
func (r *room) add(m message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids[m.ID] && r.flaw != noIDs {
		return nil
	}
	m.At = len(r.log)
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := r.file.Sync(); err != nil {
		return err
	}
	r.ids[m.ID] = true
	r.log = append(r.log, m)
	close(r.more)
	r.more = make(chan struct{})
	return nil
}

// after returns the messages from the given place on, and a channel that is closed when
// there are more.
func (r *room) after(from int) ([]message, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from = min(from, len(r.log))
	return r.log[from:len(r.log):len(r.log)], r.more
}

// Either end asks the other whether it is there, and gives it so long to answer.
const (
	pingEvery = 5 * time.Second
	pingMost  = 3 * time.Second
	writeMost = 3 * time.Second
)

// ping asks until there is no answer or ctx ends. Then the connection is closed.
func ping(ctx context.Context, c *websocket.Conn, f flaw) {
	defer c.CloseNow()
	for f == noPing {
		<-ctx.Done()
		return
	}
	for {
		select {
		case <-time.After(pingEvery):
		case <-ctx.Done():
			return
		}
		ask, cancel := context.WithTimeout(ctx, pingMost)
		err := c.Ping(ask)
		cancel()
		if err != nil {
			return
		}
	}
}

// ServeHTTP connects a reader of the room: from there on, it is sent what comes, and what
// it says is added.
func (r *room) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	from, err := strconv.Atoi(req.FormValue("from"))
	if err != nil || from < 0 {
		http.Error(w, "from is no place", http.StatusBadRequest)
		return
	}
	c, err := websocket.Accept(w, req, &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover, CompressionThreshold: 1})
	if err != nil {
		return
	}
	defer c.CloseNow()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go ping(ctx, c, r.flaw)
	go func() {
		defer c.CloseNow()
		r.send(ctx, c, from, req.FormValue("name"))
	}()
	for {
		var m message
		if wsjson.Read(ctx, c, &m) != nil || r.add(m) != nil {
			return
		}
	}
}

func (r *room) send(ctx context.Context, c *websocket.Conn, from int, name string) {
	r.mu.Lock()
	if at, ok := r.sent[name]; ok && r.flaw == resumeAtSent {
		from = at
	}
	r.mu.Unlock()
	for {
		messages, more := r.after(from)
		for _, m := range messages {
			write, cancel := context.WithTimeout(ctx, writeMost)
			err := wsjson.Write(write, c, m)
			cancel()
			if err != nil {
				return
			}
			from++
			r.mu.Lock()
			r.sent[name] = from
			r.mu.Unlock()
		}
		if r.flaw == subscribeLate {
			var missed []message
			missed, more = r.after(from)
			from += len(missed)
		} else if len(messages) > 0 {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

// serve serves a room until the process ends.
func serve(addr, path string, f flaw) error {
	r, err := openRoom(path, f)
	if err != nil {
		return err
	}
	return (&http.Server{Addr: addr, Handler: r}).ListenAndServe()
}

// A reader is one who follows the room and says something in it.
type reader struct {
	flaw
	name string
	url  string
	seen func(message)   // is called for all messages, in order
	out  func(err error) // is told why a connection ended
	http *http.Client

	mu   sync.Mutex
	next int       // place of the message that is to be seen next
	said []message // not seen in the room yet
	news chan struct{}
}

func newReader(name, url string, f flaw, seen func(message), out func(error)) *reader {
	return &reader{flaw: f, name: name, url: url, seen: seen, out: out,
		http: &http.Client{Transport: &http.Transport{}}, news: make(chan struct{}, 1)}
}

// say has the message sent until it is in the room.
func (r *reader) say(m message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, m)
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// pending tells how many messages have not been seen in the room.
func (r *reader) pending() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.said)
}

// run follows the room, over one connection after the other, until ctx ends.
func (r *reader) run(ctx context.Context) {
	for wait := 100 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 2*time.Second) {
		began := time.Now()
		r.out(r.connect(ctx))
		if time.Since(began) > 2*time.Second {
			wait = 100 * time.Millisecond
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

func (r *reader) connect(ctx context.Context) error {
	r.mu.Lock()
	from := r.next
	r.mu.Unlock()
	dial, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	c, _, err := websocket.Dial(dial, r.url+"?name="+r.name+"&from="+strconv.Itoa(from),
		&websocket.DialOptions{HTTPClient: r.http, CompressionMode: websocket.CompressionContextTakeover, CompressionThreshold: 1})
	if err != nil {
		return err
	}
	defer c.CloseNow()
	ctx, cancel = context.WithCancel(ctx)
	defer cancel()
	go ping(ctx, c, r.flaw)
	go r.speak(ctx, c)
	for {
		var m message
		if err := wsjson.Read(ctx, c, &m); err != nil {
			return err
		}
		r.mu.Lock()
		r.next++
		if len(r.said) > 0 && r.said[0].ID == m.ID {
			r.said = r.said[1:]
		}
		r.mu.Unlock()
		r.seen(m)
	}
}

// speak sends what is to be said, all of it once over this connection.
func (r *reader) speak(ctx context.Context, c *websocket.Conn) {
	defer c.CloseNow()
	last := "" // that was sent
	for {
		r.mu.Lock()
		var m *message
		for i := len(r.said) - 1; i >= 0 && r.said[i].ID != last; i-- {
			m = &message{ID: r.said[i].ID, Text: r.said[i].Text}
		}
		r.mu.Unlock()
		if m == nil {
			select {
			case <-r.news:
				continue
			case <-ctx.Done():
				return
			}
		}
		write, cancel := context.WithTimeout(ctx, writeMost)
		err := wsjson.Write(write, c, m)
		cancel()
		if err != nil {
			return
		}
		last = m.ID
	}
}
