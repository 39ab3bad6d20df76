package a

import (
	"errors"
	"regexp"
	"sync"
)

const limit = 3 // ok: a constant

var errNot = errors.New("not") // ok: never written

var pattern = regexp.MustCompile("a+") // ok: never written

var names = map[string]int{"a": 1} // ok: read only

func okRead(k string) int { return names[k] + limit }

var inInit int // ok: set by init

func init() { inInit = 1 }

var registry = map[string]int{} // ok: written by register, which init calls

func register(k string) { registry[k] = 1 }

func init() { register("x") }

var viaVar = map[string]int{} // ok: written while a variable is initialised

func add(k string) bool { viaVar[k] = 1; return true }

var _ = add("x")

var chained int // ok: init calls outerSet calls innerSet

func innerSet() { chained = 1 }

func outerSet() { innerSet() }

func init() { outerSet() }

var mu sync.Mutex // ok: what it guards is told

func okLock() { mu.Lock(); defer mu.Unlock() }

var rw sync.RWMutex // ok: what it guards is told

func okRLock() { rw.RLock(); defer rw.RUnlock() }

var pool = sync.Pool{New: func() any { return new(config) }} // ok: what it holds is as good as new

func okPool() { pool.Put(pool.Get()) }

var pool2 sync.Pool // ok: what it holds is as good as new

func okPoolNew() { pool2.New = func() any { return 1 } }

var readOnly = &config{} // ok: its method only reads

func okGet() string { return readOnly.get() }

var byValue config // ok: the method changes a copy

func okWith() config { return byValue.with("x") }

var shadowed int // ok: another variable is written

func okShadow() { shadowed := 1; shadowed++; _ = shadowed }

var aliased = []int{1} // ok: the local variable is written, not what it holds

func okLocal() { a := aliased; a = nil; _ = a }

func okParam(counter int) { counter++ } // ok: a parameter

func okField(c *config) { c.name = "x" } // ok: the caller's

var atomicRead = &atomicInt // ok: never written itself

func okAtomic() int64 { return atomicRead.Load() }

var wg sync.WaitGroup // ok: counts goroutines

func okWait() { wg.Add(1); wg.Done(); wg.Wait() }

var fn = func() {} // ok: never written

var _ = 1 // ok: blank

var cache = map[string]int{} //dst:ignore sharedstate what it holds follows from its keys // ok: ignored

func okCache(k string) { cache[k] = len(k) }

var onlyTests int // ok: only a test writes it
