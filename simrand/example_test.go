package simrand_test

import (
	"fmt"
	"math/rand"

	"github.com/dstkit/dst/simrand"
)

// A generator with a seed of its own is math/rand's: the same type, the same numbers.
func ExampleNew() {
	var a, b *rand.Rand = simrand.New(simrand.NewSource(7)), rand.New(rand.NewSource(7))
	fmt.Println(a.Int63() == b.Int63())
	// Output:
	// true
}
