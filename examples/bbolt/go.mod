module github.com/dstkit/dst/examples/bbolt

go 1.26

replace github.com/dstkit/dst => ../..

tool github.com/dstkit/dst/cmd/dstrewrite

require (
	github.com/dstkit/dst v0.0.0
	go.etcd.io/bbolt v1.4.3
)

require (
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	golang.org/x/mod v0.32.0 // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
	golang.org/x/tools v0.41.0 // indirect
)
