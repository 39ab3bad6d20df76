//go:build linux && amd64

package netns

// Of setns(2), which package syscall does not have for amd64.
const sysSetns = 308
