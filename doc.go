// Package dst tests network services in simulation: several hosts in one
// process, with their network, disks and clocks, all following from one seed.
// The same seed gives the same run, to the last goroutine switch.
//
//	//go:build dst
//
//	func TestEcho(t *testing.T) {
//		dst.Run(t, func(w *dst.World) {
//			w.Net().SetDefault(simnet.Link{Latency: simnet.Uniform(time.Millisecond, 50*time.Millisecond), Loss: 0.1})
//			w.Host("server", func() error { return echo.Serve(":7000") })
//			w.Host("client").Do(func() {
//				…  // dials server:7000 with package net
//			})
//			w.Host("server").Crash()
//			w.Host("server").Restart()
//			w.Eventually("it answers", 10*time.Second, func() error { … })
//		})
//	}
//
// The service is not written for this: it imports net, os and time, as always.
//
// # Running
//
// Simulation needs a test binary with the simulator beneath the standard
// library. Command dstrewrite makes it:
//
//	go run github.com/dstkit/dst/cmd/dstrewrite test ./...
//
// It sets the build tag dst: put that atop files that are for simulation only. In
// any other build, and on other systems than linux on amd64 or arm64, [Run] fails
// its test with a line that says so. A binary that was built with the tag dst by
// another command ends with status 2 before any test.
//
// # Seeds
//
// Each seed is a subtest, named seed=N. By default a test runs a handful, from 1
// on ([Seeds]). Whoever runs the tests asks for others by a flag, which go test
// wants after the package, or by an environment variable, which also works where
// some of the packages do not import this one. A flag wins over the environment.
//
//	-dst.seed=42       DST_SEED=42        this one; hexadecimal after 0x
//	-dst.seeds=100     DST_SEEDS=100      the first hundred
//	-dst.seeds=5-900   DST_SEEDS=5-900    from 5 to 900
//	-dst.seeds=1,7,9   DST_SEEDS=1-3,9    these
//	-dst.check         DST_CHECK=1        each twice, comparing the runs ([Twice])
//	-dst.pcap=DIR      DST_PCAP=DIR       write the packets of each to a file in DIR, for Wireshark and tcpdump
//	-dst.trace=DIR     DST_TRACE=DIR      keep the trace of each in DIR, and compare it with the one there
//	-dst.v             DST_V=1            a line for each seed on standard output
//	-dst.v=2           DST_V=2            and what hosts write, as it comes
//
// The line tells seed=42 fingerprint=0x… steps=… virtual=… and ok or FAIL.
//
// # Failures
//
// A failed seed says what failed, at which virtual time, how to run that seed
// again, and where its report lies: a file with everything that hosts wrote, the
// faults, and the stacks. With go test's -artifacts the report is one of the
// test's artifacts, otherwise it is in a folder dst-… of [os.TempDir]. Of many
// failed seeds, the first few are shown in full.
//
// What fails a seed:
//
//   - [World.Failf], [World.Fatalf], and package testing's own means
//   - a check of [World.Always] or [World.Eventually]
//   - a panic or fatal error, of body or of a host; it ends the host's process,
//     and the others go on
//   - a main that returns an error, unless its host is being stopped
//   - a deadlock: nobody can run, and nothing is going to happen
//   - a goroutine that computes for seconds without an end
//   - more virtual time than [Limit]
//   - an escape: a goroutine of the world is woken by one outside of it
//   - a network call of body itself, which belongs to no host
//   - runs that differ, with [Twice]
//
// What does not: a process that ends itself by os.Exit or log.Fatal ([Host.Err]
// tells the status), and what the simulator does not model, which fails with an
// error as on a poorer kernel, and is named in the report.
//
// # Hosts
//
// A [Host] is a machine that runs one process. Goroutines belong to a host, and
// so do those that they start: what they ask of the operating system, they ask of
// their host's. [World.Host] starts a program; [Host.Do] and [Host.Go] run
// functions of the test there. Package variables are one for the whole test
// binary: hosts that share one share memory, which real ones do not.
//
//	             process           sockets                  disk (package simfs)
//	Stop         SIGTERM, waits    as the process does      kept
//	Crash        gone at once      closed, ports refuse     kept
//	PowerLoss    gone at once      silence until the boot   unsynced data at risk
//	Pause        stands still      kept, filling up         kept
//
// # Time
//
// Time is virtual. It passes when all goroutines wait, and about a microsecond
// with each step. Sleeping for an hour takes no longer than the steps that others
// make in that hour. Each host has a [simtime.Clock], which a test can set wrong.
//
// # One at a time
//
// Of a world's goroutines one runs at a time, but each of them may be interrupted
// at any call that waits, or that reaches the operating system. The race detector
// (dstrewrite test -race) works, and finds what is not synchronised even so; for it, body and
// the functions given to [World.Always] are goroutines like all others.
package dst
