// Dstrewrite runs the go command for simulation builds: builds whose standard
// library has a simulated scheduler and operating system beneath it.
//
// Usage:
//
//	dstrewrite build|install|list|run|test|vet [arguments of the go command]
//	dstrewrite env [-json]
//	dstrewrite diff
//	dstrewrite swap [-d | -w | -u] [-n] [-tag dst] [packages]
//	dstrewrite version
//	dstrewrite help
//
// Examples:
//
//	dstrewrite test ./...                     test all packages in simulation
//	dstrewrite test -race -run TestSync .     with flags of go test
//	go tool dstrewrite test ./...             when your go.mod has it as a tool
//	dstrewrite vet -vettool=dstvet -sim .     what stays nondeterministic in simulation
//	eval "$(dstrewrite env)"                  for this shell: plain go test, gopls, dlv
//	dstrewrite diff | less                    what changes in the standard library
//
// # Forwarded commands
//
// The commands build, install, list, run, test and vet take the go command's
// own flags and arguments, and end with its exit code. Two flags are added:
//
//   - -overlay names the patched files. They are made from the Go installation that
//     the go command chooses in the current module (GOTOOLCHAIN and the
//     toolchain line of go.mod count), and kept in the user's cache folder.
//     Your own -overlay is merged; it must not replace a file that is patched.
//   - -tags adds dst, dstsim, netgo and osusergo to the tags that you give on the
//     command line and those in GOFLAGS. Here both count, where the go command
//     would let the first override the second.
//
// The first build with a Go version compiles the standard library, which takes
// a minute or so; afterwards it comes from the build cache.
//
// # Environment
//
// Env prints the variables with which plain go commands, and tools that run them,
// make simulation builds: GOFLAGS with the two flags, and GOROOT, GOTOOLCHAIN and
// PATH so that they all use the Go installation that the overlay was made for. A
// -tags flag given to plain go replaces those in GOFLAGS: name dst, dstsim,
// netgo and osusergo there too.
//
// # Swap
//
// Swap gives each file that imports net, time, os, io/ioutil, path/filepath, math/rand,
// math/rand/v2 or crypto/rand a twin, FILE_dst.go, that imports the drop-in packages
// simnet, simtime, simfs and simrand instead and is built with the tag dst; the original is
// marked to be built without it. Without flags, or with -n, it lists the changes; -d prints
// them as a diff, -w makes them, -u undoes them. See docs/swap.md.
//
// # Diff and version
//
// Diff prints the patches as a unified diff against the Go installation, which
// patch -p1 applies to a copy of it. Version prints the versions of dstrewrite
// and Go, and the overlay's key, for bug reports.
package main
