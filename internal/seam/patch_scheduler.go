package seam

// schedulerPatches puts the token in package runtime: who may run, and who is
// next. See files/runtime for the functions called.
func schedulerPatches() []Patch {
	return []Patch{
		{File: "runtime/runtime2.go", Edits: []Edit{
			{In: "type g struct {", Find: "\tbubble  *synctestBubble\n", Replace: "$0\tdst     dstG\n"},
		}},
		{File: "runtime/proc.go", Edits: []Edit{
			// A goroutine that becomes runnable while another holds the token waits in the world's queue.
			{In: "func ready(", Find: "\trunqput(mp.p.ptr(), gp, next)\n\twakep()\n",
				Replace: "\tif !dstReady(gp) {\n\t\trunqput(mp.p.ptr(), gp, next)\n\t\twakep()\n\t}\n"},
			{In: "func newproc(", Find: "\t\trunqput(pp, newg, true)\n\n\t\tif mainStarted {\n",
				Replace: "\t\tif dstReady(newg) {\n\t\t\treturn\n\t\t}\n$0"},
			// The way from package net into the simulated kernel is deep: with less of a
			// stack, nearly every goroutine would have to move to a larger one.
			{In: "func newproc1(", Find: "malg(stackMin)", Replace: "malg(dstStack)"},
			{In: "func newproc1(", Find: "\t\tnewg.bubble = callergp.bubble\n", Replace: "$0\t\tdstInherit(newg, callergp)\n"},
			{In: "func newproc1(", Find: "\tnewg.goid = pp.goidcache\n", Replace: "$0\tdstSetGoid(newg)\n"},
			// A holder that parks for a reason of the program passes the token on.
			{In: "func park_m(", Find: "\tmp := getg().m\n", Replace: "$0\tdstw := dstParking(gp)\n"},
			{In: "func park_m(", Find: "\t\tif !ok {\n", Replace: "$0\t\t\tif dstw != nil {\n\t\t\t\tdstw.holder.set(gp)\n\t\t\t}\n"},
			{In: "func park_m(", Find: "\tschedule()\n", Replace: "\tif dstw != nil {\n\t\tdstNext(dstw)\n\t}\n$0"},
			// So does one that yields …
			{In: "func Gosched()", Find: "\tmcall(gosched_m)\n", Replace: "\tif dstGosched() {\n\t\treturn\n\t}\n$0"},
			{In: "func goyield()", Find: "\tmcall(goyield_m)\n", Replace: "\tif dstGosched() {\n\t\treturn\n\t}\n$0"},
			// … and one that ends.
			{In: "func goexit0(", Find: "\tgdestroy(gp)\n\tschedule()\n",
				Replace: "\tdstw := dstExiting(gp)\n\tgdestroy(gp)\n\tif dstw != nil {\n\t\tdstNext(dstw)\n\t}\n\tschedule()\n"},
			{In: "func goexit1()", Find: "\tif raceenabled {\n", Replace: "$0\t\tdstRaceExit(getg())\n"},
			{In: "func gdestroy(", Find: "\tgp.bubble = nil\n", Replace: "$0\tdstGone(gp)\n"},
			// Preemption keeps the token where it is, unless the holder spins.
			{In: "func goschedImpl(", Find: "\tpp := gp.m.p.ptr()\n", Replace: "\tif preempted && gp.dst.world != nil {\n\t\tdstPreempted(gp)\n\t}\n$0"},
			// Threads are nobody's business in a world.
			{In: "func LockOSThread()", Find: "func LockOSThread() {\n", Replace: "$0\tif getg().dst.world != nil {\n\t\treturn\n\t}\n"},
			{In: "func UnlockOSThread()", Find: "func UnlockOSThread() {\n", Replace: "$0\tif getg().dst.world != nil {\n\t\treturn\n\t}\n"},
			// Spinning for a mutex depends on what the other Ps do.
			{In: "func internal_sync_runtime_canSpin(", Find: "func internal_sync_runtime_canSpin(i int) bool {\n",
				Replace: "$0\tif getg().dst.world != nil {\n\t\treturn false\n\t}\n"},
			{In: "func main()", Find: "\tneedUnlock = false\n\tunlockOSThread()\n", Replace: "$0\tdstBooted()\n"},
		}},
		// What the runtime waits for during a collection, and how often it yields
		// for its own purposes, depends on the machine: the token stays.
		{File: "runtime/mgc.go", Edits: []Edit{
			{In: "func gcStart(", Find: "\tif gp := getg(); gp.bubble != nil {\n",
				Replace: "\tif gp := getg(); gp.dst.world != nil {\n\t\tgp.dst.rt++\n\t\tdefer func() {\n\t\t\tgp.dst.rt--\n\t\t}()\n\t}\n$0"},
			{Find: "\t\tGosched()\n", Replace: "\t\tdstKeepGosched()\n", Count: 4},
		}},
		{File: "runtime/mgcmark.go", Edits: []Edit{
			{In: "func gcAssistAlloc(", Find: "\tif gp := getg(); gp.bubble != nil {\n",
				Replace: "\tif gp := getg(); gp.dst.world != nil {\n\t\tgp.dst.rt++\n\t\tdefer func() {\n\t\t\tgp.dst.rt--\n\t\t}()\n\t}\n$0"},
			{Find: "\t\t\tGosched()\n", Replace: "\t\t\tdstKeepGosched()\n"},
		}},
		{File: "runtime/stack.go", Edits: []Edit{
			{Find: "var startingStackSize uint32 = fixedStack\n", Replace: "var startingStackSize uint32 = dstStack\n"},
			// A collection would set the size to what stacks use while they wait, and halve
			// those that use little: the next call into the kernel would grow them again.
			{In: "func gcComputeStartingStackSize()", Find: "startingStackSize = fixedStack\n", Replace: "startingStackSize = dstStack\n"},
			{In: "func gcComputeStartingStackSize()", Find: "\tif avg < fixedStack {\n\t\tavg = fixedStack\n", Replace: "\tif avg < dstStack {\n\t\tavg = dstStack\n"},
			{In: "func shrinkstack(", Find: "newsize < fixedStack", Replace: "newsize < dstStack"},
		}},
		{File: "runtime/coro.go", Edits: []Edit{
			{In: "func coroswitch_m(", Find: "\tgogo(&gnext.sched)\n", Replace: "\tdstCoro(gnext)\n$0"},
		}},
		{File: "runtime/select.go", Edits: []Edit{
			{Find: "cheaprandn(uint32(norder + 1))", Replace: "dstSelect(uint32(norder + 1))"},
			// A select queues at its channels, and sets their timers, in the order in
			// which it locks them. That of addresses depends on the garbage collector.
			{In: "func (c *hchan) sortkey()", Find: "\treturn uintptr(unsafe.Pointer(c))\n", Replace: "\treturn c.dst\n"},
		}},
		{File: "runtime/chan.go", Edits: []Edit{
			{In: "type hchan struct {", Find: "\tbubble   *synctestBubble\n", Replace: "$0\tdst      uintptr // how many channels were made before it, and itself\n"},
			{In: "func makechan(", Find: "\tlockInit(&c.lock, lockRankHchan)\n", Replace: "\tc.dst = dstChans.Add(1)\n$0"},
		}},
		{File: "runtime/sema.go", Edits: []Edit{
			// The runtime's own semaphores are not the program's.
			{In: "func semacquire(", Find: "waitReasonSemacquire", Replace: "waitReasonStoppingTheWorld"},
			{In: "func internal_sync_nanotime(", Find: "\treturn nanotime()\n", Replace: "\treturn dstSyncNano()\n"},
		}},
		// A pool's content follows neither Ps nor garbage collections: within a
		// world it is a stack, and empty when the world begins.
		{File: "sync/pool.go", Edits: []Edit{
			{In: "type Pool struct {", Find: "\tNew func() any\n", Replace: "$0\n\tdst dstPool\n"},
			{In: "func (p *Pool) Put(", Find: "func (p *Pool) Put(x any) {\n", Replace: "$0\tif p.dst.put(x) {\n\t\treturn\n\t}\n"},
			{In: "func (p *Pool) Get(", Find: "func (p *Pool) Get() any {\n",
				Replace: "$0\tif x, ok := p.dst.get(); ok {\n\t\tif x == nil && p.New != nil {\n\t\t\tx = p.New()\n\t\t}\n\t\treturn x\n\t}\n"},
		}},
	}
}
