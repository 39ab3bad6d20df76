package sim

import "lib" // want `importing lib starts a goroutine`

func init() {
	go loop() // want `starts a goroutine at package initialisation`
}

var _ = run() // want `var _ → sim.run → a go statement`

func run() bool {
	go loop()
	return true
}

func loop() { lib.Run() }
