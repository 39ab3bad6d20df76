package seam

// clockPatches make package time follow the world's clock.
func clockPatches() []Patch {
	return []Patch{
		{File: "runtime/time.go", Edits: []Edit{
			{In: "func time_runtimeNow(", Find: "\treturn time_now()\n",
				Replace: "\tif sec, nsec, mono, ok := dstNow(); ok {\n\t\treturn sec, nsec, mono\n\t}\n$0"},
			{In: "func time_runtimeNano(", Find: "\treturn nanotime()\n", Replace: "\treturn dstNano()\n"},
			{In: "type timer struct {", Find: "\tts *timers\n", Replace: "$0\n\tdstw *dstWorld // world whose clock it follows, unless isFake; or nil\n\tdsth *dstHost  // host that set it\n"},
			{In: "func timeSleep(", Find: "\t\tnow = nanotime()\n",
				Replace: "\t\tif h := gp.dst.host; h != nil {\n\t\t\tnow = h.world.now\n\t\t\tns = h.virtual(ns)\n\t\t} else {\n\t\t\tnow = nanotime()\n\t\t}\n"},
			{In: "func timeSleep(", Find: "\tif t.isFake {\n", Replace: "\tif t.isFake || gp.dst.world != nil {\n"},
			{In: "func newTimer(", Find: "\tt.modify(when, period, f, arg, 0)\n", Replace: "\tt.modify(dstWhen(when), dstPeriod(period), f, arg, 0)\n"},
			{In: "func resetTimer(", Find: "\treturn t.reset(when, period)\n", Replace: "\treturn t.reset(dstWhen(when), dstPeriod(period))\n"},
			{In: "func (t *timer) modify(", Find: "\tt.trace(\"modify\")\n", Replace: "$0\tdstOwn(t)\n"},
			{In: "func (t *timer) modify(", Find: "\tif wake {\n", Replace: "\tif wake && t.dstw == nil {\n"},
			{In: "func (t *timer) maybeAdd(", Find: "\tvar ts *timers\n\tif t.isFake {\n",
				Replace: "\tvar ts *timers\n\tif t.dstw != nil && !t.isFake {\n\t\tts = &t.dstw.timers\n\t} else if t.isFake {\n"},
			{In: "func (t *timer) maybeAdd(", Find: "\t\tt.state |= timerHeaped\n",
				Replace: "\t\tif t.dstw != nil {\n\t\t\tt.rand = uint32(dstDraw(&t.dstw.rng))\n\t\t}\n$0"},
			{In: "func (t *timer) maybeAdd(", Find: "\tif wake {\n", Replace: "\tif wake && t.dstw == nil {\n"},
			// Whether the head was cleaned must not depend on a request to stop.
			{In: "func (ts *timers) cleanHead(", Find: "\t\tif gp.preemptStop {\n", Replace: "\t\tif gp.preemptStop && gp.dst.world == nil {\n"},
			{In: "func (t *timer) maybeRunChan(", Find: "\tnow := nanotime()\n", Replace: "\tnow := dstTimerNow(t)\n"},
			{In: "func (t *timer) unlockAndRun(", Find: "\tf := t.f\n", Replace: "\tdstw, dsth := t.dstw, t.dsth\n$0"},
			{In: "func (t *timer) unlockAndRun(", Find: "\tf(arg, seq, delay)\n",
				Replace: "\tif dstw != nil {\n\t\tdstFire(dstw, dsth, f, arg, seq, delay)\n\t} else {\n\t\tf(arg, seq, delay)\n\t}\n"},
		}},
		// A bubble of testing/synctest keeps its own time in a world, too; who wakes
		// when it is idle waits for the token.
		{File: "runtime/proc.go", Edits: []Edit{
			{In: "func park_m(", Find: "\t\tbubble.decActive()\n\t}\n\n", Replace: "\t\tdstDecActive(bubble, gp)\n\t}\n\n"},
		}},
		{File: "runtime/synctest.go", Edits: []Edit{
			{In: "func synctestRun(", Find: "\t\trunqput(pp, bubble.main, true)\n\t\twakep()\n",
				Replace: "\t\tif !dstReady(bubble.main) {\n\t\t\trunqput(pp, bubble.main, true)\n\t\t\twakep()\n\t\t}\n"},
		}},
	}
}
