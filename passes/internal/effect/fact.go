package effect

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// A Kind is one way in which a function's outcome comes from elsewhere.
type Kind uint8

const (
	Clock    Kind = iota // reads the clock or sets a timer
	Rand                 // draws from a generator that the process shares, or that the machine seeds
	Go                   // starts a goroutine
	Visible              // sends, writes, prints, draws: what others see in the order it is done
	Exec                 // runs another program
	Plugin               // loads code
	Cgo                  // calls C
	Syscall              // has a system call instruction of its own
	numKinds             // count
)

// A Reach is the chain by which a function comes to an effect.
type Reach struct {
	Kind Kind
	Runs bool   // a call of the function comes there; false: it holds a value or closure that does
	Path string // from the function's callee to the source: helper.now → time.Now
}

// A Summary is what one function or package variable does.
type Summary struct {
	Reach  []Reach // at most one a Kind, by Kind
	Writes uint32  // bit i: what argument i (a method's receiver first) points at is changed in the order of calls
	How    string  // what Writes does, for messages
	Sorts  uint32  // bit i: argument i is sorted
	Waits  bool    // has a channel, context, WaitGroup or the like, to wait for it or stop it; known within the package only
}

// To returns the chain to an effect of that kind, if there is one.
func (s *Summary) To(k Kind) (Reach, bool) {
	if s != nil {
		for _, r := range s.Reach {
			if r.Kind == k {
				return r, true
			}
		}
	}
	return Reach{}, false
}

// exported returns what importers may see: std's own writing and starting of
// goroutines is in the table for std, as far as it can be seen at all.
func (s *Summary) exported(std bool) Summary {
	out := Summary{Reach: s.Reach, Writes: s.Writes, How: s.How, Sorts: s.Sorts}
	if std {
		out.Reach = nil
		for _, r := range s.Reach {
			if r.Kind != Visible && r.Kind != Go {
				out.Reach = append(out.Reach, r)
			}
		}
	}
	return out
}

func (s *Summary) empty() bool {
	return len(s.Reach) == 0 && s.Writes == 0 && s.Sorts == 0
}

// add records r unless the summary has a chain of that kind; a chain that runs
// replaces one that is only held. It tells whether something changed.
func (s *Summary) add(r Reach) bool {
	i := 0
	for ; i < len(s.Reach) && s.Reach[i].Kind <= r.Kind; i++ {
		if s.Reach[i].Kind == r.Kind {
			if s.Reach[i].Runs || !r.Runs {
				return false
			}
			s.Reach[i] = r
			return true
		}
	}
	s.Reach = append(s.Reach, Reach{})
	copy(s.Reach[i+1:], s.Reach[i:])
	s.Reach[i] = r
	return true
}

// A Fact is what a package tells those that import it.
type Fact struct {
	Module string  // its module's path; "std" for the standard library
	Funcs  []Named // in the order of their names, so that a fact has one encoding
	Init   []Reach // what its initialisation reaches, with its imports' outside of std
}

// A Named is the summary of one function, method or variable.
type Named struct {
	Key string // see [Key]
	Summary
}

// summary looks a function up by its key.
func (f *Fact) summary(key string) *Summary {
	i, ok := slices.BinarySearchFunc(f.Funcs, key, func(n Named, key string) int { return strings.Compare(n.Key, key) })
	if !ok {
		return nil
	}
	return &f.Funcs[i].Summary
}

var _ analysis.Fact = (*Fact)(nil)

func (*Fact) AFact() {}

func (f *Fact) String() string { return fmt.Sprintf("effects of %d functions", len(f.Funcs)) }

// Key names a function, method or package variable within its package.
func Key(obj types.Object) string {
	if fn, ok := obj.(*types.Func); ok {
		if recv := fn.Signature().Recv(); recv != nil {
			return typeName(recv.Type()) + "." + fn.Name()
		}
	}
	return obj.Name()
}

func typeName(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// Name is how messages call a function: pkg.Func, (*pkg.T).Method is pkg.T.Method.
func Name(obj types.Object) string {
	if obj.Pkg() == nil {
		return obj.Name()
	}
	return obj.Pkg().Name() + "." + Key(obj)
}

const arrow = " → "

// maxLinks bounds a chain, and with it a fact: the middle of a longer one is left out.
const maxLinks = 6

// link puts a name before a chain.
func link(name, path string) string {
	if path == "" {
		return name
	}
	parts := strings.Split(path, arrow)
	if len(parts) >= maxLinks {
		parts = append([]string{parts[0], "…"}, parts[len(parts)-(maxLinks-3):]...)
	}
	return name + arrow + strings.Join(parts, arrow)
}

// Link is a chain with a function before it.
func Link(name, path string) string { return link(name, path) }
