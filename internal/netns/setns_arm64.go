//go:build linux && arm64

package netns

import "syscall"

const sysSetns = syscall.SYS_SETNS
