module github.com/dstkit/dst

go 1.26

require (
	github.com/rogpeppe/go-internal v1.16.0
	golang.org/x/net v0.51.0
	golang.org/x/sys v0.41.0
	golang.org/x/tools v0.41.0
	pgregory.net/rapid v1.3.0
)

require (
	golang.org/x/mod v0.32.0 // indirect
	golang.org/x/sync v0.19.0 // indirect
)
