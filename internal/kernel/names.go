//go:build linux && (amd64 || arm64)

package kernel

// Name returns the name of a system call, for messages.
func Name(trap uintptr) string {
	trap &= 1<<16 - 1
	if trap < uintptr(len(callNames)) && callNames[trap] != "" {
		return callNames[trap]
	}
	return "system call " + itoa(int(trap))
}
