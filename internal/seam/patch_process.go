package seam

// processPatches give each host what std keeps in the process: its end, its
// environment, its signals.
func processPatches() []Patch {
	return []Patch{
		{File: "runtime/panic.go", Edits: []Edit{
			{In: "func gopanic(", Find: "debug.panicnil.Load() != 1", Replace: "!dstPanicnil()"},
			{In: "func fatalpanic(", Find: "\tvar docrash bool\n", Replace: "$0\tif msgs != nil {\n\t\tdstPanicked(msgs.arg, false)\n\t}\n"},
			{In: "func sync_fatal(", Find: "\tfatal(s)\n", Replace: "\tdstPanicked(s, true)\n$0"},
			{In: "func maps_fatal(", Find: "\tfatal(s)\n", Replace: "\tdstPanicked(s, true)\n$0"},
			{In: "func internal_sync_fatal(", Find: "\tfatal(s)\n", Replace: "\tdstPanicked(s, true)\n$0"},
		}},
		// When memory is found to be garbage depends on the machine, and what a
		// destroyed goroutine held (the reference that a read has on its
		// descriptor) is held for ever: a simulated process has no finalizers.
		{File: "runtime/mfinal.go", Edits: []Edit{
			{In: "func SetFinalizer(", Find: "func SetFinalizer(obj any, finalizer any) {\n", Replace: "$0\tif dst_inHost() {\n\t\treturn\n\t}\n"},
		}},
		{File: "runtime/mcleanup.go", Edits: []Edit{
			{In: "func AddCleanup[", Find: "func AddCleanup[T, S any](ptr *T, cleanup func(S), arg S) Cleanup {\n", Replace: "$0\tif dst_inHost() {\n\t\treturn Cleanup{}\n\t}\n"},
		}},
		{File: "runtime/mheap.go", Edits: []Edit{
			{In: "func internal_weak_runtime_registerWeakPointer(", Find: "\treturn ", Replace: "\tdstKeep(p)\n$0"},
		}},
		// Every simulated machine is alike, whatever the real one is.
		{File: "runtime/debug.go", Edits: []Edit{
			{In: "func NumCPU()", Find: "func NumCPU() int {\n", Replace: "$0\tif dst_inHost() {\n\t\treturn dstCPUs\n\t}\n"},
			{In: "func GOMAXPROCS(", Find: "func GOMAXPROCS(n int) int {\n", Replace: "$0\tif dst_inHost() {\n\t\treturn dstCPUs\n\t}\n"},
			{In: "func NumGoroutine()", Find: "func NumGoroutine() int {\n", Replace: "$0\tif dst_inHost() {\n\t\treturn int(getg().dst.host.live)\n\t}\n"},
		}},
		{File: "runtime/mprof.go", Edits: []Edit{
			{In: "func Stack(", Find: "tracebackothers(gp)", Replace: "dstTracebackOthers(gp)"},
			{In: "func goroutineProfileWithLabels(", Find: "\treturn goroutineProfileWithLabelsConcurrent(p, labels)\n",
				Replace: "\tif dst_inHost() {\n\t\treturn dstGoroutineProfile(p, labels)\n\t}\n$0"},
		}},
		{File: "runtime/runtime.go", Edits: []Edit{
			{In: "func syscall_Exit(", Find: "\texit(int32(code))\n", Replace: "\tdstExited(code)\n$0"},
		}},
		{File: "os/proc.go", Edits: []Edit{
			{In: "func Exit(", Find: "func Exit(code int) {\n", Replace: "$0\tdstExited(code)\n"},
		}},
		{File: "syscall/env_unix.go", Edits: []Edit{
			{In: "func Getenv(", Find: "\tcopyenv()\n", Replace: "\tif e := dstEnv(); e != nil {\n\t\treturn e.Getenv(key)\n\t}\n$0"},
			{In: "func Setenv(", Find: "\tcopyenv()\n", Replace: "\tif e := dstEnv(); e != nil {\n\t\treturn e.Setenv(key, value)\n\t}\n$0"},
			{In: "func Unsetenv(", Find: "\tcopyenv()\n", Replace: "\tif e := dstEnv(); e != nil {\n\t\treturn e.Unsetenv(key)\n\t}\n$0"},
			{In: "func Clearenv(", Find: "\tcopyenv()\n", Replace: "\tif e := dstEnv(); e != nil {\n\t\te.Clearenv()\n\t\treturn\n\t}\n$0"},
			{In: "func Environ(", Find: "\tcopyenv()\n", Replace: "\tif e := dstEnv(); e != nil {\n\t\treturn e.Environ()\n\t}\n$0"},
		}},
		// Settings are the process's, too. Of the runtime's own, which it reads at its start,
		// panicnil is, too.
		{File: "internal/godebug/godebug.go", Edits: []Edit{
			{In: "func (s *Setting) Value()", Find: "\tv := *s.value.Load()\n", Replace: "\tif text, ok := s.dstValue(); ok {\n\t\treturn text\n\t}\n$0"},
		}},
		{File: "syscall/exec_unix.go", Edits: []Edit{
			{In: "func forkExec(", Find: "func forkExec(argv0 string, argv []string, attr *ProcAttr) (pid int, err error) {\n",
				Replace: "$0\tif p := dstEnv(); p != nil {\n\t\treturn p.ForkExec(argv0, argv, attr)\n\t}\n"},
			{In: "func Exec(", Find: "func Exec(argv0 string, argv []string, envv []string) (err error) {\n",
				Replace: "$0\tif p := dstEnv(); p != nil {\n\t\treturn p.Exec(argv0, argv, envv)\n\t}\n"},
		}},
		// What a host opens and asks its environment for is nothing that the result of
		// the test depends on, as the go command's cache would have it.
		{File: "internal/testlog/log.go", Edits: []Edit{
			{In: "func Logger()", Find: "\timpl := logger.Load()\n", Replace: "\tif dstInHost() {\n\t\treturn nil\n\t}\n$0"},
		}},
		// Children are waited for by their number: the answer is asked for once, by
		// whoever comes first, and the machine's would be another.
		{File: "os/pidfd_linux.go", Edits: []Edit{
			{In: "func pidfdWorks()", Find: "func pidfdWorks() bool {\n", Replace: "$0\tif dstInHost() {\n\t\treturn false\n\t}\n"},
		}},
		{File: "runtime/signal_unix.go", Edits: []Edit{
			{In: "func os_sigpipe()", Find: "func os_sigpipe() {\n", Replace: "$0\tif dst_inHost() {\n\t\tdstExited(-_SIGPIPE)\n\t\treturn\n\t}\n"},
		}},
		{File: "os/signal/signal.go", Edits: []Edit{
			{In: "func Notify(", Find: "\thandlers.Lock()\n", Replace: "\tif s := dstSignals(); s != nil {\n\t\ts.Notify(c, sig)\n\t\treturn\n\t}\n$0"},
			{In: "func Stop(", Find: "func Stop(c chan<- os.Signal) {\n", Replace: "$0\tif s := dstSignals(); s != nil {\n\t\ts.Stop(c)\n\t\treturn\n\t}\n"},
			{In: "func Ignore(", Find: "\tcancel(sig, ignoreSignal)\n", Replace: "\tif s := dstSignals(); s != nil {\n\t\ts.Ignore(sig)\n\t\treturn\n\t}\n$0"},
			{In: "func Reset(", Find: "\tcancel(sig, disableSignal)\n", Replace: "\tif s := dstSignals(); s != nil {\n\t\ts.Reset(sig)\n\t\treturn\n\t}\n$0"},
			{In: "func Ignored(", Find: "\tsn := signum(sig)\n", Replace: "\tif s := dstSignals(); s != nil {\n\t\treturn s.Ignored(sig)\n\t}\n$0"},
		}},
	}
}
