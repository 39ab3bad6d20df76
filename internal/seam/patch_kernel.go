package seam

// kernelPatches send the system calls of simulated goroutines, and the waits
// of their descriptors, to the simulated kernel.
func kernelPatches(goarch string) []Patch {
	hook := func(args string) string {
		return "\tif mask, ok := dstSimulated(trap, a1); ok {\n\t\treturn dstSyscall(mask, trap, " + args + ")\n\t}\n$0"
	}
	return []Patch{
		{File: "syscall/syscall_linux.go", Edits: []Edit{
			{In: "func RawSyscall6(", Find: "\tvar errno uintptr\n", Replace: hook("a1, a2, a3, a4, a5, a6")},
			{In: "func Syscall(", Find: "\truntime_entersyscall()\n", Replace: hook("a1, a2, a3, 0, 0, 0")},
			{In: "func Syscall6(", Find: "\truntime_entersyscall()\n", Replace: hook("a1, a2, a3, a4, a5, a6")},
			// Calls for all threads at once, which would stop the runtime, or go by way of C.
			{In: "func AllThreadsSyscall(", Find: "\tif cgo_libc_setegid != nil {\n", Replace: hook("a1, a2, a3, 0, 0, 0")},
			{In: "func AllThreadsSyscall6(", Find: "\tif cgo_libc_setegid != nil {\n", Replace: hook("a1, a2, a3, a4, a5, a6")},
			{Find: " == nil {\n\t\tif _, _, e1 := AllThreadsSyscall(", Replace: " == nil || dstInHost() {\n\t\tif _, _, e1 := AllThreadsSyscall(", Count: 9},
			{In: "func Setgroups(", Find: "\t\tif cgo_libc_setgroups == nil {\n", Replace: "\t\tif cgo_libc_setgroups == nil || dstInHost() {\n"},
		}},
		{File: "syscall/zsyscall_linux_" + goarch + ".go", Edits: []Edit{
			{Find: "rawSyscallNoError(", Replace: "dstSyscallNoError(", Count: 8},
		}},
		{File: "internal/syscall/unix/fcntl_unix.go", Edits: []Edit{
			{In: "func Fcntl(", Find: "func Fcntl(fd int, cmd int, arg int) (int, error) {\n", Replace: "$0\tif fd >= dstFirstFD || dstInHost() {\n\t\treturn dstFcntl(fd, cmd, arg)\n\t}\n"},
		}},
		// What leaves Go by another way is an escape.
		{File: "runtime/cgocall.go", Edits: []Edit{
			{In: "func cgocall(", Find: "\tif raceenabled {\n\t\tracereleasemerge(", Replace: "\tleaves := dstLeaves()\n\tif leaves {\n\t\tdstForeign(dstEscapeC)\n\t}\n\n$0"},
			{In: "func cgocall(", Find: "\tgetg().m.winsyscall = winsyscall\n", Replace: "$0\tif leaves {\n\t\tdstReturned()\n\t}\n"},
		}},
		{File: "runtime/proc.go", Edits: []Edit{
			{In: "func entersyscall()", Find: "func entersyscall() {\n", Replace: "$0\tif dstLeaves() {\n\t\tdstForeign(dstEscapeSyscall)\n\t}\n"},
		}},
		{File: "internal/poll/fd_poll_runtime.go", Edits: []Edit{
			{In: "func (pd *pollDesc) init(", Find: "runtime_pollOpen(", Replace: "dstPollOpen("},
			{In: "func (pd *pollDesc) close(", Find: "runtime_pollClose(", Replace: "dstPollClose("},
			{In: "func (pd *pollDesc) evict(", Find: "runtime_pollUnblock(", Replace: "dstPollUnblock("},
			{In: "func (pd *pollDesc) prepare(", Find: "runtime_pollReset(", Replace: "dstPollReset("},
			{In: "func (pd *pollDesc) wait(", Find: "runtime_pollWait(", Replace: "dstPollWait("},
			{In: "func (pd *pollDesc) waitCanceled(", Find: "runtime_pollWaitCanceled(", Replace: "dstPollWaitCanceled("},
			{In: "func setDeadlineImpl(", Find: "runtime_pollSetDeadline(", Replace: "dstPollSetDeadline("},
		}},
	}
}
