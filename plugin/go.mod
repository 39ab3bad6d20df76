module github.com/dstkit/dst/plugin

go 1.26

require (
	github.com/dstkit/dst v0.0.0
	github.com/golangci/plugin-module-register v0.1.2
	golang.org/x/tools v0.41.0
)

replace github.com/dstkit/dst => ../
