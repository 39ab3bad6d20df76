package a

func setOnlyTests() { onlyTests = 1 }
