package sim

var n int // want `package variable n is written by next`

func next() { n++ }
