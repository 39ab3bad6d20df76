module github.com/dstkit/dst

go 1.26
