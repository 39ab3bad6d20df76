package dropin

const (
	hostClock = "On a simulated host it follows the host's clock, in the test's body that of the world; while packages are initialised in a simulation build, the clock stands at the worlds' beginning; otherwise it is the real one."
	hostTimer = "On a simulated host it takes virtual time, by the host's clock, and in the test's body by that of the world."
)

var timePackage = &Package{
	Std: "time", Name: "time", Path: Module + "/simtime", Dir: "simtime",
	note:   "It is the same everywhere.",
	copied: "Programs do not assign to these.",
	funcs: map[string]Func{
		"Now":       {note: hostClock},
		"Since":     {note: hostClock},
		"Until":     {note: hostClock},
		"Sleep":     {note: hostTimer},
		"After":     {note: hostTimer},
		"AfterFunc": {note: hostTimer + " The function runs as a goroutine of the host that set the timer."},
		"NewTimer":  {note: hostTimer},
		"NewTicker": {note: hostTimer},
		"Tick":      {note: hostTimer},
		"LoadLocation": {note: "On a simulated host it reads that host's files. It is not refused elsewhere, since " +
			"packages call it while they are initialised, and what it reads is data that comes with every system."},
	},
	Assigned: map[string]string{
		"Local": "In a simulation build local time is UTC.",
	},
}
