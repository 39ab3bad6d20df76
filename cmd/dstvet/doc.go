// Dstvet finds what makes a Go program differ from run to run.
//
// Usage:
//
//	dstvet [flags] [packages]
//	go vet -vettool=$(which dstvet) [flags] [packages]
//	go tool dstvet [flags] [packages]     when your go.mod has it as a tool
//	dstvet help [analyzer]
//
// Packages are named as for go vet, which does the loading: its build flags (-tags,
// -C, -mod, …) are taken, and results are kept in the build cache. The other flags:
//
//	-sim       report only what stays nondeterministic inside the simulator
//	-test      report what is found in _test.go files too
//	-NAME      run only this analyzer; -NAME=false, all but this one
//	-json      print findings as JSON, in the form of go vet -json
//	-sarif     print findings as SARIF 2.1.0
//	-fix       apply the suggested fixes
//	-diff      print the suggested fixes as a diff
//
// The exit code is 0 when nothing was found, 3 when something was, 1 when a package
// cannot be analysed, 2 for wrong usage. With -json and -sarif findings do not count; with
// -diff, 1 says that the diff is not empty. Under go vet, its exit codes hold.
package main
