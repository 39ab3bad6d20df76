package fix

import (
	"fmt"
	"os"
)

type id int

type server struct{ peers map[id]string }

func show(m map[string]int) {
	for k, v := range m { // want `it prints`
		fmt.Println(k, v)
	}
	for k := range m { // want `it writes to os.Stdout`
		fmt.Fprintln(os.Stdout, k)
	}
}

func (s *server) show() {
	for _, p := range s.peers { // want `it prints`
		fmt.Println(p)
	}
}

func noFix(f map[float64]int, a map[any]int, m map[string]int) {
	for k := range f { // want `it prints`
		fmt.Println(k)
	}
	for k := range a { // want `it prints`
		fmt.Println(k)
	}
	for k := range m { // want `it prints`
		fmt.Println(k)
		delete(m, k)
	}
	slices := 1
	for k := range m { // want `it prints`
		fmt.Println(k, slices)
	}
}
