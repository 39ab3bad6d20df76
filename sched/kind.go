package sched

// A Kind says what an entry of the trace is about. Its numbers are part of the
// fingerprint: add at the end.
type Kind uint8

const (
	KindRun     Kind = iota + 1 // a goroutine was given the token
	KindEngine                  // the engine was given the token
	KindEvent                   // an event was run
	KindSyscall                 // a system call, by its number
	KindPacket                  // the network moved a packet
	KindFault                   // a fault was injected
	KindHost                    // a host was booted, killed, paused or resumed
	KindDisk                    // the disk model made a choice
	KindUser                    // the test said something
)

var kindNames = [...]string{"?", "run", "engine", "event", "syscall", "packet", "fault", "host", "disk", "user"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[0]
}
