package a

import (
	"bytes"
	"fmt"
	"io"
	"lib"
	"log"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"sync"
)

var total float64

var events []string

func send(m map[string]int, ch chan string) {
	for k := range m { // want `order of iteration over map m can be seen: it sends on ch`
		ch <- k
	}
}

type peer struct {
	ch    chan int
	id    int
	score float64
	name  string
	keys  []string
}

func sendEach(peers map[string]*peer) {
	for _, p := range peers { // want `it sends on p.ch`
		p.ch <- 1
	}
}

func write(m map[string]int, w io.Writer) {
	for k, v := range m { // want `it writes to w \(write → fmt.Fprintf\)`
		fmt.Fprintf(w, "%s=%d\n", k, v)
	}
}

func print_(m map[string]int) {
	for k := range m { // want `it prints \(print_ → fmt.Println\)`
		fmt.Println(k)
	}
}

func logs(m map[string]int) {
	for k := range m { // want `it logs`
		log.Printf("have %s", k)
	}
}

func buffer(m map[string]int) string {
	var b bytes.Buffer
	for k := range m { // want `it writes to b`
		b.WriteString(k)
	}
	return b.String()
}

func draws(m map[string]int, rng *rand.Rand) int {
	n := 0
	for range m { // ok: nothing differs between iterations without variables
		n += rng.Intn(3)
	}
	for k := range m { // want `it draws randomness \(draws → rand.Rand.Intn\)`
		if rng.Intn(2) == 0 {
			delete(m, k)
		}
	}
	return n
}

func drawsFar(m map[string]int) {
	for k := range m { // want `it draws randomness \(drawsFar → lib.Pick → rand.Intn\)`
		m[k] = lib.Pick(10)
	}
}

func first(m map[string]int) string {
	for k := range m { // want `it returns k of the first entry`
		return k
	}
	return ""
}

func firstError(m map[string]int) error {
	for k, v := range m { // want `it returns fmt.Errorf`
		if v < 0 {
			return fmt.Errorf("%s is negative", k)
		}
	}
	return nil
}

func pick(m map[string]int) string {
	var found string
	for k := range m { // want `the first entry that comes decides found`
		found = k
		break
	}
	return found
}

func last(m map[string]int) string {
	var l string
	for k := range m { // want `the last entry decides l`
		l = k
	}
	return l
}

func keys(m map[string]int) []string {
	var ks []string
	for k := range m { // want `it appends to ks, which is not sorted afterwards`
		ks = append(ks, k)
	}
	return ks
}

func slots(m map[string]int) []string {
	ks := make([]string, len(m))
	i := 0
	for k := range m { // want `it appends to ks`
		ks[i] = k
		i++
	}
	return ks
}

func collect(m map[string]int) []string {
	return slices.Collect(maps.Keys(m)) // want `it returns the unsorted slice`
}

func collectVar(m map[string]int) string {
	ks := slices.Collect(maps.Keys(m)) // want `it appends to ks, which is not sorted`
	return strings.Join(ks, ",")
}

func floats(m map[string]float64) {
	for _, v := range m { // want `it adds up floats in total`
		total += v
	}
}

func concat(m map[string]int) string {
	s := ""
	for k := range m { // want `it concatenates strings in s`
		s += k
	}
	return s
}

func concatLong(m map[string]int) (s string) {
	for k := range m { // want `it folds the entries into s`
		s = s + k + ","
	}
	return s
}

func goroutines(m map[string]int, f func(string)) {
	for k := range m { // want `it starts goroutines`
		go f(k)
	}
}

func evict(m map[string]int, n int) {
	for k := range m { // want `it stops early, with the changes of whichever entries came before`
		delete(m, k)
		if len(m) <= n {
			break
		}
	}
}

func number(m map[string]int) map[string]int {
	ids := make(map[string]int)
	next := 0
	for k := range m { // want `it numbers the entries with next`
		ids[k] = next
		next++
	}
	return ids
}

func argmax(m map[string]int) string {
	best, n := "", 0
	for k, v := range m { // want `the last entry decides best`
		if v > n {
			best, n = k, v
		}
	}
	return best
}

func hash(m map[string]int) int {
	h := 17
	for _, v := range m { // want `it folds the entries into h`
		h = h*31 + v
	}
	return h
}

func firstErr(m map[string]io.Closer) (err error) {
	for _, c := range m { // want `the first entry that comes decides err`
		if e := c.Close(); err == nil {
			err = e
		}
	}
	return err
}

func queue(m map[string]int, q *lib.Queue) {
	for k := range m { // want `it calls lib.Queue.Add on q \(queue → lib.Queue.Add → an append to q.items\)`
		q.Add(k)
	}
}

func announce(m map[string]int) {
	for k := range m { // want `it calls lib.Announce \(announce → lib.Announce → a go statement\)`
		lib.Announce(k)
	}
}

func each(m map[string]int, f func(string, int)) {
	for k, v := range m { // want `it hands the entries to f`
		f(k, v)
	}
}

func (p *peer) all(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m { // want `it hands the entries to yield`
			if !yield(k) {
				return
			}
		}
	}
}

func syncMap(m *sync.Map) {
	m.Range(func(k, v any) bool { // want `it prints`
		fmt.Println(k)
		return true
	})
}

func syncFirst(m *sync.Map) (found any) {
	m.Range(func(k, v any) bool { // want `the first entry that comes decides found`
		found = k
		return false
	})
	return found
}

func syncRange(m *sync.Map, ch chan any) {
	for k := range m.Range { // want `it sends on ch`
		ch <- k
	}
}

func iterators(m map[string]int, ch chan int) {
	for v := range maps.Values(m) { // want `it sends on ch`
		ch <- v
	}
	for k, v := range maps.All(m) { // want `it prints`
		fmt.Println(k, v)
	}
}

func reflected(v reflect.Value) {
	for _, k := range v.MapKeys() { // want `it prints`
		fmt.Println(k)
	}
	it := v.MapRange()
	for it.Next() { // want `order of iteration over map iterator it can be seen: it prints`
		fmt.Println(it.Key())
	}
}

func reflectedKeys(v reflect.Value) []reflect.Value {
	return v.MapKeys() // want `it returns the unsorted slice`
}

func inverse(m map[string]int) map[int][]string {
	inv := make(map[int][]string)
	for k, v := range m { // want `it appends to inv\[v\]`
		inv[v] = append(inv[v], k)
	}
	return inv
}

func viaLocal(m map[string]int) {
	show := func(s string) { fmt.Println(s) }
	for k := range m { // want `it prints`
		show(k)
	}
}

func note(s string) { events = append(events, s) }

func viaPackage(m map[string]int) {
	for k := range m { // want `it calls a.note \(viaPackage → a.note → an append to events\)`
		note(k)
	}
}

func field(m map[string]int, p *peer) {
	for k := range m { // want `the last entry decides p.name`
		p.name = k
	}
}

func labelled(ms []map[string]int) (s string) {
outer:
	for _, m := range ms {
		for k := range m { // want `the first entry that comes decides s`
			s = k
			continue outer
		}
	}
	return s
}

func rangeOther(m map[string]int) {
	var ks []string
	for k := range m { // want `it appends to ks`
		ks = append(ks, k)
	}
	for _, k := range ks {
		fmt.Println(k)
	}
}

//dst:ignore mapiter the caller sorts
func ignoredFunc(m map[string]int) (ks []string) {
	for k := range m { // ok: ignored
		ks = append(ks, k)
	}
	return ks
}

func scratchError(m map[string]io.Closer) error {
	var err error
	for _, c := range m { // want `it returns err of the first entry`
		if err = c.Close(); err != nil {
			return err
		}
	}
	return nil
}
