package fix

import "fmt"

func single(m map[uint8]bool) {
	for k := range m { // want `it prints`
		fmt.Println(k)
	}
}
