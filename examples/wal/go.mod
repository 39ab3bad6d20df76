module github.com/dstkit/dst/examples/wal

go 1.26

replace github.com/dstkit/dst => ../..

tool github.com/dstkit/dst/cmd/dstrewrite

require (
	github.com/dstkit/dst v0.0.0
	github.com/tidwall/wal v1.1.8
)

require (
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/tidwall/gjson v1.10.2 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	github.com/tidwall/tinylru v1.1.0 // indirect
	golang.org/x/mod v0.32.0 // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/tools v0.41.0 // indirect
)
