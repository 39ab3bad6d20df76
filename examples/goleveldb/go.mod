module github.com/dstkit/dst/examples/goleveldb

go 1.26

replace github.com/dstkit/dst => ../..

tool github.com/dstkit/dst/cmd/dstrewrite

require github.com/dstkit/dst v0.0.0

require (
	golang.org/x/mod v0.32.0 // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/tools v0.41.0 // indirect
)

require (
	github.com/golang/snappy v0.0.4 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/syndtr/goleveldb v1.0.1-0.20220721030215-126854af5e6d
)
