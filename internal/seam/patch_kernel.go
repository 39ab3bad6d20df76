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
		}},
		{File: "syscall/zsyscall_linux_" + goarch + ".go", Edits: []Edit{
			{Find: "rawSyscallNoError(", Replace: "dstSyscallNoError(", Count: 8},
		}},
		{File: "internal/syscall/unix/fcntl_unix.go", Edits: []Edit{
			{In: "func Fcntl(", Find: "func Fcntl(fd int, cmd int, arg int) (int, error) {\n", Replace: "$0\tif fd >= dstFirstFD {\n\t\treturn dstFcntl(fd, cmd, arg)\n\t}\n"},
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
