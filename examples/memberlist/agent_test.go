package memberlist

import (
	"encoding/json"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
)

// rejoinEvery is how often an agent tries to join one that it misses.
const rejoinEvery = 10 * time.Second

// An agent is what a service makes of memberlist: a member that joins, joins again
// whom it misses, and shares notes with all others.
type agent struct {
	list  *memberlist.Memberlist
	queue memberlist.TransmitLimitedQueue
	name  string
	peers []string // the other hosts that there are
	alive atomic.Int64
	gone  func(name string) // told of each member that leaves or is declared dead

	mu     sync.Mutex
	notes  map[string]note // the newest, by author
	boring bool            // takes no notes from the exchange of states
}

// A note is what a host has to say. Seq orders the notes of one author.
type note struct {
	Author, Text string
	Seq          int64
}

// A change makes an agent worse.
type change struct {
	config   func(*memberlist.Config) // optional
	noRejoin bool                     // joins once, and never again
	boring   bool
}

// start creates a member of that name and address and lets it join its peers. It does
// not wait for that. The agent ends with its process, or by list.Shutdown.
func start(name, addr string, peers []string, gone func(string), ch change) (*agent, error) {
	a := &agent{name: name, peers: peers, gone: gone, notes: map[string]note{}, boring: ch.boring}
	a.queue.RetransmitMult = 4
	a.queue.NumNodes = func() int { return int(a.alive.Load()) }
	c := memberlist.DefaultLANConfig()
	c.Name, c.BindAddr = name, addr
	c.Logger = log.New(io.Discard, "", 0)
	c.Delegate, c.Events = a, a
	if ch.config != nil {
		ch.config(c)
	}
	var err error
	if a.list, err = memberlist.Create(c); err != nil {
		return nil, err
	}
	go a.join(ch.noRejoin)
	return a, nil
}

// join tries one of the peers that are no members, again and again. Memberlist does
// not do so by itself: two parts of a cluster that have given each other up stay apart.
func (a *agent) join(once bool) {
	for {
		var missing []string
		members := a.members()
		for _, p := range a.peers {
			if _, found := slices.BinarySearch(members, p); p != a.name && !found {
				missing = append(missing, p)
			}
		}
		pause := rejoinEvery
		if len(missing) > 0 {
			n, _ := a.list.Join([]string{missing[rand.IntN(len(missing))]})
			if once && n > 0 {
				return
			}
			if len(members) == 1 {
				pause = time.Second // alone, there is nothing else to do
			}
		}
		time.Sleep(pause)
	}
}

// members returns the sorted names of those that the agent holds for alive.
func (a *agent) members() []string {
	var names []string
	for _, n := range a.list.Members() {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return names
}

// say makes the agent's newest note and broadcasts it.
func (a *agent) say(text string) {
	a.learn(note{a.name, text, time.Now().UnixNano()})
}

// learn takes a note, and passes on what is news.
func (a *agent) learn(n note) {
	a.mu.Lock()
	news := n.Seq > a.notes[n.Author].Seq
	if news {
		a.notes[n.Author] = n
	}
	a.mu.Unlock()
	if news {
		b, _ := json.Marshal(n)
		a.queue.QueueBroadcast(broadcast{n.Author, b})
	}
}

// known returns the notes that the agent knows.
func (a *agent) known() map[string]note {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.notes)
}

// A broadcast is a note on its way. A newer one of the same author replaces it.
type broadcast struct {
	author string
	note   []byte
}

func (b broadcast) Name() string                            { return b.author }
func (b broadcast) Invalidates(o memberlist.Broadcast) bool { return o.(broadcast).author == b.author }
func (b broadcast) Message() []byte                         { return b.note }
func (b broadcast) Finished()                               {}

var _ memberlist.NamedBroadcast = broadcast{}

// An agent is its member's delegate.
var (
	_ memberlist.Delegate      = (*agent)(nil)
	_ memberlist.EventDelegate = (*agent)(nil)
)

func (a *agent) NodeMeta(int) []byte { return nil }

func (a *agent) NotifyMsg(b []byte) {
	var n note
	if json.Unmarshal(b, &n) == nil {
		a.learn(n)
	}
}

func (a *agent) GetBroadcasts(overhead, limit int) [][]byte {
	return a.queue.GetBroadcasts(overhead, limit)
}

func (a *agent) LocalState(bool) []byte {
	b, _ := json.Marshal(a.known())
	return b
}

func (a *agent) MergeRemoteState(b []byte, _ bool) {
	var notes map[string]note
	if a.boring || json.Unmarshal(b, &notes) != nil {
		return
	}
	for _, author := range slices.Sorted(maps.Keys(notes)) {
		a.learn(notes[author])
	}
}

func (a *agent) NotifyJoin(*memberlist.Node)   { a.alive.Add(1) }
func (a *agent) NotifyUpdate(*memberlist.Node) {}

func (a *agent) NotifyLeave(n *memberlist.Node) {
	a.alive.Add(-1)
	a.gone(n.Name)
}
