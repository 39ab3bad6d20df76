package a

import (
	"fmt"
	"lib" // want `importing lib starts a goroutine at package initialisation, before any simulation: lib.init → a go statement`
	"net/http"
	"time"
)

type cache struct{ items map[string]int }

func init() {
	go flush() // want `starts a goroutine at package initialisation, before any simulation: init → a go statement`
}

func init() {
	start() // want `starts a goroutine at package initialisation, before any simulation: init → a.start → a go statement`
}

var started = start() // want `at package initialisation.*var started → a.start → a go statement`

var immediate = func() int {
	go flush() // want `at package initialisation.*var immediate → a go statement`
	return 1
}()

var far = farStart() // want `at package initialisation.*var far → a.farStart → lib.Start → a go statement`

func farStart() int { lib.Start(); return 1 }

func start() bool {
	go flush() // want `nobody can wait for this goroutine or stop it`
	return true
}

func flush() {
	for {
		time.Sleep(time.Second)
	}
}

func plain() {
	go flush() // want `nobody can wait`
}

func literal() {
	go func() { // want `nobody can wait`
		fmt.Println("later")
	}()
}

func loop(c *cache) {
	go func() { // want `nobody can wait`
		for {
			time.Sleep(time.Second)
			clear(c.items)
		}
	}()
}

func (c *cache) refresh() { c.items["x"]++ }

func (c *cache) start() {
	go c.refresh() // want `nobody can wait`
}

func argument(n int) {
	go func(n int) { // want `nobody can wait`
		fmt.Println(n)
	}(n)
}

func serve(mux *http.ServeMux) {
	go http.ListenAndServe(":80", mux) // want `nobody can wait`
}

func inLoop(names []string) {
	for _, n := range names {
		go fmt.Println(n) // want `nobody can wait`
	}
}

func nested() {
	f := func() {
		go flush() // want `nobody can wait`
	}
	f()
}

func generic[T any](v T) {
	go func() { // want `nobody can wait`
		fmt.Println(v)
	}()
}

func conditional(b bool) {
	if b {
		go flush() // want `nobody can wait`
	}
}

func named() {
	go work(1) // want `nobody can wait`
}

func work(n int) { deeper(n) }

func deeper(n int) { fmt.Println(n) }

func timer() {
	time.AfterFunc(1, func() {
		go flush() // want `nobody can wait`
	})
}

func pointer(n *int) {
	go func() { *n = 1 }() // want `nobody can wait`
}

func inDefer() {
	defer func() {
		go flush() // want `nobody can wait`
	}()
}
