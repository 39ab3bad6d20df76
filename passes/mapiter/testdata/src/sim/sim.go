package sim

import "fmt"

var names = map[string]int{"a": 1, "b": 2}

var order []string

func init() {
	for k := range names { // want `it appends to order`
		order = append(order, k)
	}
}

func show() {
	for k := range names { // the seed decides
		fmt.Println(k)
	}
}
