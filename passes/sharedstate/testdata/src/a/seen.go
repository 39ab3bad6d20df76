package a

import (
	"bytes"
	"container/list"
	"sync"
	"sync/atomic"
)

var counter int // want `package variable counter is written by next, after initialisation`

func next() int { counter++; return counter }

var assigned string // want `assigned is written by assign`

func assign(s string) { assigned = s }

var table = map[string]int{} // want `table is written by put`

func put(k string) { table[k] = 1 }

var removed = map[string]int{} // want `removed is written by remove`

func remove(k string) { delete(removed, k) }

var cleared = map[string]int{} // want `cleared is written by clearAll`

func clearAll() { clear(cleared) }

type config struct {
	name  string
	sub   struct{ n int }
	items []int
}

func (c *config) set(n string) { c.name = n }

func (c *config) get() string { return c.name }

func (c config) with(n string) config { c.name = n; return c }

var cfg config // want `cfg is written by setName`

func setName(n string) { cfg.name = n }

var deep config // want `deep is written by setDeep`

func setDeep(n int) { deep.sub.n = n }

var pointed = &config{} // want `pointed is written by setPointed`

func setPointed(n string) { pointed.name = n }

var byMethod config // want `byMethod is written by callSet`

func callSet() { byMethod.set("x") }

var byPointerMethod = new(config) // want `byPointerMethod is written by callPointerSet`

func callPointerSet() { byPointerMethod.set("x") }

var list_ []int // want `list_ is written by push`

func push(n int) { list_ = append(list_, n) }

var slots [4]int // want `slots is written by fill`

func fill(i int) { slots[i]++ }

var atomicInt atomic.Int64 // want `atomicInt is written by count`

func count() { atomicInt.Add(1) }

var oldAtomic int64 // want `oldAtomic is written by oldCount`

func oldCount() { atomic.AddInt64(&oldAtomic, 1) }

var syncMap sync.Map // want `syncMap is written by store`

func store(k string) { syncMap.Store(k, 1) }

var once sync.Once

var lazy *config // want `lazy is written by get`

func get() *config {
	once.Do(func() { lazy = new(config) })
	return lazy
}

var buf bytes.Buffer // want `buf is written by write`

func write(s string) { buf.WriteString(s) }

var queue = list.New() // want `queue is written by enqueue`

func enqueue(v any) { queue.PushBack(v) }

type T struct{}

var inMethod int // want `inMethod is written by T.do`

func (T) do() { inMethod = 1 }

var inClosure int // want `inClosure is written by closure`

func closure() func() { return func() { inClosure++ } }

var first, second int // want `second is written by both`

func both() { second = first }

var ranged int // want `ranged is written by rangeInto`

func rangeInto(m []int) {
	for ranged = range m {
	}
}

var Exported func() // want `Exported is written by SetExported`

func SetExported(f func()) { Exported = f }

var copied = make([]byte, 8) // want `copied is written by copyInto`

func copyInto(b []byte) { copy(copied, b) }

var value int // want `value is written by helper`

func helper() { value = 1 }

var use = helper // a value: may be called at any time
