package a

import (
	"cmp"
	"fmt"
	"io"
	"lib"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

func okSorted(m map[string]int) []string {
	var ks []string
	for k := range m { // ok: sorted below
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}

func okSortFunc(m map[string]*peer) []*peer {
	ps := make([]*peer, 0, len(m))
	for _, p := range m { // ok: sorted below
		ps = append(ps, p)
	}
	slices.SortFunc(ps, func(a, b *peer) int { return cmp.Compare(a.id, b.id) })
	return ps
}

type byID []*peer

func (s byID) Len() int           { return len(s) }
func (s byID) Less(i, j int) bool { return s[i].id < s[j].id }
func (s byID) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

func okSortInterface(m map[string]*peer) byID {
	var ps byID
	for _, p := range m { // ok: sorted through sort.Interface
		ps = append(ps, p)
	}
	sort.Sort(ps)
	return ps
}

func sorted(s []string) { slices.Sort(s) }

func okSortHelper(m map[string]int) []string {
	var ks []string
	for k := range m { // ok: a helper sorts
		ks = append(ks, k)
	}
	sorted(ks)
	return ks
}

func okSortFar(m map[string]int) []string {
	var ks []string
	for k := range m { // ok: by its name, another module's helper sorts
		ks = append(ks, k)
	}
	lib.Sort(ks)
	return ks
}

func okSlots(m map[string]int) []string {
	ks, i := make([]string, len(m)), 0
	for k := range m { // ok: sorted below
		ks[i] = k
		i++
	}
	sort.Strings(ks)
	return ks
}

func okIterator(m map[string]int) {
	for _, k := range slices.Sorted(maps.Keys(m)) { // ok: sorted keys
		fmt.Println(k)
	}
}

func okCollect(m map[string]int) []string {
	ks := slices.Collect(maps.Keys(m)) // ok: sorted below
	slices.Sort(ks)
	return ks
}

func okSum(m map[string]int) (n int) {
	for _, v := range m { // ok: integers add up to the same
		n += v
	}
	return n
}

func okCount(m map[string]int) (n int) {
	for _, v := range m { // ok: counts
		if v > 3 {
			n++
		}
	}
	return n
}

func okBits(m map[string]uint) (n, x uint) {
	for _, v := range m { // ok: or and xor commute
		n |= v
		x ^= v
	}
	return n, x
}

func okDelete(m map[string]int) {
	for k, v := range m { // ok: each entry is judged by itself
		if v == 0 {
			delete(m, k)
		}
	}
}

func okCopy(m map[string]int) map[string]int {
	c := make(map[string]int, len(m))
	for k, v := range m { // ok: another map
		c[k] = v
	}
	return c
}

func okSet(m map[string]int) map[int]bool {
	set := make(map[int]bool)
	for _, v := range m { // ok: the same value whoever comes last
		set[v] = true
	}
	return set
}

func okFloatsPerKey(m, sums map[string]float64) {
	for k, v := range m { // ok: a sum of its own for each key
		sums[k] += v
	}
}

func okAny(m map[string]int) bool {
	for _, v := range m { // ok: whether any is negative
		if v < 0 {
			return true
		}
	}
	return false
}

func okAll(m, n map[string]int) bool {
	for k, v := range m { // ok: whether all are equal
		if w, ok := n[k]; !ok || v != w {
			return false
		}
	}
	return true
}

func okFlag(m map[string]int) bool {
	found := false
	for _, v := range m { // ok: a constant, and then no more
		if v == 1 {
			found = true
			break
		}
	}
	return found
}

func okMin(m map[string]int) int {
	lo := 1 << 30
	for _, v := range m { // ok: the least is the same in any order
		if v < lo {
			lo = v
		}
	}
	return lo
}

func okMaxBuiltin(m map[string]int) (hi int) {
	for _, v := range m { // ok: max commutes
		hi = max(hi, v)
	}
	return hi
}

func okLatest(m map[string]time.Time) (t time.Time) {
	for _, v := range m { // ok: the latest
		if v.After(t) {
			t = v
		}
	}
	return t
}

func okTies(m map[string]int) string {
	best, n := "", -1
	for k, v := range m { // ok: the key breaks ties
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best
}

func okEqual(m map[string]int, name string) int {
	for k, v := range m { // ok: one entry at most
		if k == name {
			return v
		}
	}
	return 0
}

func okSkip(m map[string]int, name string) (n int) {
	for k, v := range m { // ok: one entry at most
		if k != name {
			continue
		}
		n = v
	}
	return n
}

func okOnly(m map[string]int) string {
	if len(m) == 1 {
		for k := range m { // ok: the only entry
			return k
		}
	}
	return ""
}

func okOnlyEarly(m map[string]int) string {
	if len(m) != 1 {
		return ""
	}
	for k := range m { // ok: the only entry
		return k
	}
	return ""
}

func okClose(m map[string]io.Closer) {
	for _, c := range m { // ok: shutting all down
		c.Close()
	}
}

func okPerEntry(m map[string]*peer) {
	for k, p := range m { // ok: each entry's own memory
		p.name = k
		p.keys = append(p.keys, k)
		p.score += 1.5
	}
}

func okLocalBuffer(m map[string]int) map[string]string {
	out := make(map[string]string)
	for k := range m { // ok: a builder of its own for each entry
		var b strings.Builder
		b.WriteString(k)
		fmt.Fprintf(&b, "/%d", len(k))
		out[k] = b.String()
	}
	return out
}

func okSprintf(m map[string]int) map[string]string {
	out := make(map[string]string)
	for k, v := range m { // ok: formats into another map
		out[fmt.Sprint(v, k)] = fmt.Sprintf("%s-%d", k, v)
	}
	return out
}

func okLen(m map[string]int) int {
	var odd []string
	for k, v := range m { // ok: only counted
		if v%2 == 1 {
			odd = append(odd, k)
		}
	}
	return len(odd)
}

func okDeleteLater(m map[string]int) {
	var old []string
	for k, v := range m { // ok: what is done with each does not depend on the others
		if v == 0 {
			old = append(old, k)
		}
	}
	for _, k := range old {
		delete(m, k)
	}
}

func okBoolFold(m map[string]int) bool {
	all := true
	for _, v := range m { // ok: and commutes
		all = all && v > 0
	}
	return all
}

func okSyncMap(m *sync.Map) (n int) {
	m.Range(func(k, v any) bool { // ok: counts
		n++
		return true
	})
	return n
}

func okSyncDelete(m *sync.Map) {
	m.Range(func(k, v any) bool { // ok: clears
		m.Delete(k)
		return true
	})
}

func okScratch(m map[string]io.Reader) error {
	var err error
	var n int
	for _, r := range m { // ok: err and n serve one iteration at a time
		n, err = r.Read(nil)
		if err != nil || n > 0 {
			continue
		}
	}
	return nil
}

func okInner(m map[string][]int) (n int) {
	for _, vs := range m { // ok: breaks out of the inner loop only
		for _, v := range vs {
			if v < 0 {
				break
			}
			n += v
		}
	}
	return n
}

func okSortEach(m map[string]int) map[int][]string {
	inv := make(map[int][]string)
	for k, v := range m { // ok: each list is sorted below
		inv[v] = append(inv[v], k)
	}
	for _, ks := range inv { // ok: sorts each
		sort.Strings(ks)
	}
	return inv
}

func okSame(m map[string]int, ch chan int) {
	for range m { // ok: sends the same each time
		ch <- 1
	}
}

func okPanic(m map[string]int) {
	for k, v := range m { // ok: a broken invariant ends the program
		if v < 0 {
			panic(k)
		}
	}
}

func okSwitch(m map[string]int) (a, b int) {
	for k, v := range m { // ok: certain keys
		switch k {
		case "a":
			a = v
		case "b":
			b = v
		}
	}
	return a, b
}

func okFilter(m map[string]int, keep func(string) bool) {
	for k := range m { // ok: a predicate
		if !keep(k) {
			delete(m, k)
		}
	}
}

func okPointers(m map[*peer]int) {
	for p := range m { // ok: escape reports maps whose keys are pointers
		fmt.Println(p.id)
	}
}

func okLowered(m map[string]string) (host, port string) {
	for k, v := range m { // ok: certain keys, however they are spelled
		switch strings.ToLower(k) {
		case "host":
			host = v
		case "port":
			port = v
		}
	}
	return host, port
}

func okNestedScratch(ms []map[string]int, out map[string]int) {
	var name string
	for _, m := range ms {
		for k, v := range m { // ok: name serves one iteration
			name = strings.ToUpper(k)
			out[name] = v
		}
	}
}
