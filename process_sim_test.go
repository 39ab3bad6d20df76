//go:build dst

package dst_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
)

// tools registers the programs that the tests run.
func tools(w *dst.World) {
	w.Program("cat", func() int {
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	})
	w.Program("show", func() int {
		wd, _ := os.Getwd()
		fmt.Println(len(os.Args), strings.Join(os.Args, "|"), os.Getenv("KEY"), wd, os.Getpid() != os.Getppid())
		return 0
	})
	w.Program("fail", func() int {
		fmt.Fprintln(os.Stderr, "it failed")
		os.Exit(7)
		return 0
	})
	w.Program("sleep", func() int {
		d, err := time.ParseDuration(os.Args[1])
		if err != nil {
			return 2
		}
		time.Sleep(d)
		return 0
	})
	w.Program("trap", func() int {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		fmt.Println(<-c)
		return 3
	})
	w.Program("yes", func() int {
		for {
			fmt.Println("y")
		}
	})
}

// runs reports on a program that ran.
func ran(out []byte, err error) string {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return fmt.Sprintf("%q %v %d %q", out, err, e.ExitCode(), e.Stderr)
	}
	return fmt.Sprintf("%q %v", out, err)
}

// Package os/exec does with registered programs what it does with real ones.
func TestPrograms(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		tools(w)
		is := func(what, got, want string) {
			if got != want {
				w.Failf("%s: %s, want %s", what, got, want)
			}
		}
		w.Host("a", func() error {
			if path, err := exec.LookPath("cat"); path != "/usr/bin/cat" || err != nil {
				w.Failf("LookPath: %q, %v", path, err)
			}
			if _, err := exec.LookPath("git"); !errors.Is(err, exec.ErrNotFound) {
				w.Failf("LookPath of what is not there: %v", err)
			}
			cmd := exec.Command("cat")
			cmd.Stdin = strings.NewReader(strings.Repeat("0123456789", 20000)) // more than a pipe holds
			out, err := cmd.Output()
			if len(out) != 200000 || err != nil {
				w.Failf("cat of 200000 bytes: %d bytes, %v", len(out), err)
			}
			is("cat of nothing", ran(exec.Command("cat").Output()), `"" <nil>`)

			cmd = exec.Command("show", "x y", "", "z")
			cmd.Env = []string{"KEY=value", "KEY=last"}
			cmd.Dir = "/tmp"
			is("show", ran(cmd.Output()), `"4 show|x y||z last /tmp true\n" <nil>`)
			if len(os.Args) != 1 || os.Args[0] != "a" {
				w.Failf("os.Args of the host: %q", os.Args)
			}
			cmd = exec.Command("show")
			cmd.Dir = "/nowhere"
			is("no such directory", fmt.Sprint(cmd.Run()), "chdir /nowhere: no such file or directory")
			is("fail", ran(exec.Command("fail").Output()), `"" exit status 7 7 "it failed\n"`)
			is("fail", ran(exec.Command("fail").CombinedOutput()), `"it failed\n" exit status 7 7 ""`)
			is("no such file", fmt.Sprint(exec.Command("/usr/bin/git").Run()), "fork/exec /usr/bin/git: no such file or directory")
			os.WriteFile("/tmp/script", []byte("#!/bin/sh\n"), 0o755)
			if err := exec.Command("/tmp/script").Run(); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "World.Program") {
				w.Failf("a script: %v", err)
			}

			// Pipes both ways, while it runs.
			cmd = exec.Command("cat")
			in, _ := cmd.StdinPipe()
			pipe, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				return err
			}
			r := bufio.NewReader(pipe)
			for i := range 3 {
				fmt.Fprintf(in, "line %d\n", i)
				line, err := r.ReadString('\n')
				is("echo", fmt.Sprintf("%q %v", line, err), fmt.Sprintf(`"line %d\n" <nil>`, i))
			}
			in.Close()
			is("the end", fmt.Sprint(cmd.Wait(), cmd.ProcessState), "<nil> exit status 0")

			// A signal that it asked for, and those that it did not.
			cmd = exec.Command("trap")
			pipe, _ = cmd.StdoutPipe()
			cmd.Start()
			r = bufio.NewReader(pipe)
			r.ReadString('\n')
			cmd.Process.Signal(syscall.SIGTERM)
			line, _ := r.ReadString('\n')
			is("trap", fmt.Sprintf("%q %v", line, cmd.Wait()), `"terminated\n" exit status 3`)
			is("signal after Wait", fmt.Sprint(cmd.Process.Signal(syscall.SIGTERM)), "os: process already finished")
			for _, test := range []struct {
				sig  syscall.Signal
				want string
			}{{syscall.SIGTERM, "signal: terminated"}, {syscall.SIGKILL, "signal: killed"}, {syscall.SIGINT, "signal: interrupt"}, {syscall.SIGQUIT, "exit status 2"}, {syscall.SIGUSR1, "<nil>"}} {
				cmd = exec.Command("sleep", "10s")
				cmd.Start()
				time.Sleep(time.Second)
				cmd.Process.Signal(test.sig)
				is(test.sig.String(), fmt.Sprint(cmd.Wait()), test.want)
			}

			// A context ends it.
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			defer cancel()
			start := time.Now()
			is("context", fmt.Sprint(exec.CommandContext(ctx, "sleep", "1h").Run(), time.Since(start).Round(time.Second)), "signal: killed 3s")

			// A broken pipe ends who writes to it as its standard output.
			cmd = exec.Command("yes")
			pipe, _ = cmd.StdoutPipe()
			cmd.Start()
			bufio.NewReader(pipe).ReadString('\n')
			pipe.Close()
			is("yes | head -1", fmt.Sprint(cmd.Wait()), "signal: broken pipe")

			// Groups.
			cmd = exec.Command("sleep", "1h")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			cmd.Start()
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
				w.Failf("kill of a group: %v", err)
			}
			is("group", fmt.Sprint(cmd.Wait()), "signal: killed")
			if _, err := syscall.Wait4(-1, nil, 0, nil); err != syscall.ECHILD {
				w.Failf("a child is left: %v", err)
			}
			return nil
		})
		time.Sleep(2 * time.Hour)
		if w.Host("a").Running() {
			w.Failf("a has not ended")
		}
	}, dst.Twice())
}

// Children go with the host's own process; the machine's other state stays.
func TestProgramsEnd(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		var alive atomic.Int64
		w.Program("tick", func() int {
			for {
				time.Sleep(time.Second)
				alive.Add(1)
			}
		})
		h := w.Host("a", func() error {
			exec.Command("tick").Start()
			exec.Command("tick").Start()
			time.Sleep(time.Hour)
			return nil
		})
		time.Sleep(10500 * time.Millisecond)
		if alive.Load() != 20 {
			w.Failf("two children have ticked %d times in ten seconds", alive.Load())
		}
		h.Pause()
		time.Sleep(10 * time.Second)
		if alive.Load() != 20 {
			w.Failf("children of a paused host tick")
		}
		h.Resume()
		h.Crash()
		alive.Store(0)
		time.Sleep(10 * time.Second)
		if alive.Load() != 0 {
			w.Failf("children have outlived the host's process")
		}
		h.Restart()
		time.Sleep(5500 * time.Millisecond)
		if alive.Load() != 10 {
			w.Failf("after a restart, two children have ticked %d times in five seconds", alive.Load())
		}
	}, dst.Twice())
}

func init() {
	children["programpanic"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Program("bad", func() int { panic("no way") })
			w.Host("a").Do(func() { w.Logf("bad: %v", exec.Command("bad").Run()) })
		}, dst.Seeds(1))
	}
	children["exec"] = func(t *testing.T) {
		dst.Run(t, func(w *dst.World) {
			w.Host("a").Do(func() {
				_, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
				w.Logf("%v, %v", err, errors.Is(err, os.ErrPermission))
				w.Logf("%v", syscall.Exec("/bin/true", nil, nil))
			})
			w.Failf("to see the report")
		}, dst.Seeds(1))
	}
}

func TestProgramPanics(t *testing.T) {
	runChild(t, "programpanic").has(t, "host a: program /usr/bin/bad panicked: no way", "process_sim_test.go:", "bad: exit status 2")
	runChild(t, "exec").has(t, "fork/exec /bin/true: fork/exec of /bin/true is refused in a simulated host", "World.Program", ", true",
		"exec of /bin/true is refused", "not simulated: host a: execve")
}

// ownValue is a variable of this package that each process has for itself.
var ownValue = "outside"

func init() { dst.PerProcess(&ownValue) }

// Each process has its own os.Args, flags, standard files, and what PerProcess names.
func TestVariables(t *testing.T) {
	before := fmt.Sprint(os.Args, ownValue, os.Stdout)
	dst.Run(t, func(w *dst.World) {
		for _, name := range []string{"a", "b", "c"} {
			w.Host(name, func() error {
				if ownValue != "outside" {
					w.Failf("%s begins with %q", name, ownValue)
				}
				n := flag.Int("n", 0, "a number") // on every host, and in every seed
				flag.Parse()
				ownValue = name
				os.Stdout, _ = os.Create("/tmp/out")
				for range 10 {
					time.Sleep(time.Second)
					fmt.Println(name)
					if want := fmt.Sprintf("[/bin/%s -n %d] %d %s", name, len(name), len(name), name); fmt.Sprint(os.Args, *n, " ", ownValue) != want {
						w.Failf("%v %d %s, want %s", os.Args, *n, ownValue, want)
					}
				}
				os.Args = nil
				if b, _ := os.ReadFile("/tmp/out"); string(b) != strings.Repeat(name+"\n", 10) {
					w.Failf("%s wrote %q", name, b)
				}
				if flag.Lookup("n") == nil || flag.Lookup("test.run") == nil || flag.NArg() != 0 {
					w.Failf("flags of %s", name)
				}
				return nil
			}).Args("/bin/"+name, "-n", fmt.Sprint(len(name)))
		}
		time.Sleep(5500 * time.Millisecond)
		if ownValue != "outside" || len(os.Args) < 2 || flag.Lookup("n") != nil {
			w.Failf("the test itself has %q, %q", ownValue, os.Args)
		}
		ownValue = "changed by the test"
		h := w.Host("b")
		h.Restart()
		time.Sleep(time.Hour)
		if h.Err() != nil || len(h.Output()) != 0 {
			w.Failf("b: %v, %v", h.Err(), h.Output())
		}
	}, dst.Twice())
	if after := fmt.Sprint(os.Args, ownValue, os.Stdout); after != before {
		t.Errorf("after the worlds: %s, before: %s", after, before)
	}
	for _, bad := range []any{nil, 1, (*int)(nil), &struct{ m struct{ exec.Cmd } }{}, new([2]struct{ c context.Context }), &struct{ mu [1]sync.Mutex }{}} {
		func() {
			defer func() {
				if r := recover(); (r == nil) != (fmt.Sprintf("%T", bad) == "*[2]struct { c context.Context }" || fmt.Sprintf("%T", bad) == "*struct { m struct { exec.Cmd } }") {
					t.Errorf("PerProcess(%T): %v", bad, r)
				}
			}()
			dst.PerProcess(bad)
		}()
	}
}

// What hosts write is there to read, by line, with time and descriptor.
func TestOutput(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		h := w.Host("a", func() error {
			fmt.Println("one")
			time.Sleep(time.Second)
			fmt.Fprint(os.Stderr, "tw")
			time.Sleep(time.Second)
			fmt.Fprint(os.Stderr, "o\n\nthr\x00\xff")
			os.Stdout.WriteString(strings.Repeat("x", 100000))
			os.Stdout.Close()
			if _, err := fmt.Println("lost"); !errors.Is(err, os.ErrClosed) {
				w.Failf("a write to a closed file: %v", err)
			}
			s, err := io.ReadAll(os.Stdin)
			fmt.Fprintf(os.Stderr, "%s%v", s, err)
			return nil
		}).Stdin("the input\n")
		time.Sleep(time.Hour)
		var got []string
		for _, l := range h.Output() {
			if len(l.Text) > 1000 {
				l.Text = fmt.Sprint(len(l.Text))
			}
			got = append(got, fmt.Sprintf("%v %d %q", l.At.Round(time.Second), l.FD, l.Text))
		}
		want := []string{`0s 1 "one"`, `2s 2 "two"`, `2s 2 ""`, `2s 1 "65536"`, `2s 2 "thr\x00\xffthe input"`, `2s 1 "34464"`, `2s 2 "<nil>"`}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			w.Failf("got\n%q, want\n%q", got, want)
		}
		h.Restart() // with the same input
		time.Sleep(time.Hour)
		if n := len(h.Output()); n != 2*len(want) {
			w.Failf("after another life: %d lines", n)
		}
	})
}

// Signals have the effect that they have on a Go program.
func TestSignals(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		for _, test := range []struct {
			sig  syscall.Signal
			want string
		}{
			{syscall.SIGHUP, "signal: hangup"}, {syscall.SIGINT, "signal: interrupt"}, {syscall.SIGTERM, "signal: terminated"},
			{syscall.SIGKILL, "signal: killed"}, {syscall.SIGQUIT, "exit status 2"}, {syscall.SIGABRT, "exit status 2"},
			{syscall.SIGUSR1, ""}, {syscall.SIGUSR2, ""}, {syscall.SIGPIPE, ""}, {syscall.SIGCHLD, ""}, {syscall.SIGALRM, ""}, {syscall.SIGWINCH, ""},
		} {
			h := w.Host(fmt.Sprintf("s%d", test.sig), sleeper)
			time.Sleep(time.Second)
			h.Signal(test.sig)
			time.Sleep(time.Second)
			if got := fmt.Sprint(h.Err()); got != test.want && !(test.want == "" && h.Running()) {
				w.Failf("%v: %s, running: %v", test.sig, got, h.Running())
			}
			var e *dst.ExitError
			if strings.HasPrefix(test.want, "signal") && (!errors.As(h.Err(), &e) || e.Signal != test.sig || e.Code != 128+int(test.sig)) {
				w.Failf("%v: %#v", test.sig, h.Err())
			}
			h.Signal(test.sig) // of a host that is down, or does not care
		}
		got := make(chan string, 10)
		h := w.Host("handler", func() error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			c := make(chan os.Signal, 1)
			signal.Notify(c, syscall.SIGHUP, syscall.SIGUSR1)
			go func() {
				for s := range c {
					got <- s.String()
				}
			}()
			<-ctx.Done()
			got <- context.Cause(ctx).Error()
			stop()
			signal.Reset(syscall.SIGHUP)
			syscall.Kill(syscall.Getpid(), 0)
			p, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			p.Signal(syscall.SIGUSR1)
			time.Sleep(time.Second)
			p.Signal(syscall.SIGHUP)
			w.Failf("still there after SIGHUP")
			return nil
		})
		for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGTERM} {
			time.Sleep(time.Second)
			h.Signal(sig)
		}
		time.Sleep(5 * time.Second)
		if s := strings.Join([]string{<-got, <-got, <-got, <-got, fmt.Sprint(h.Err())}, ", "); s != "hangup, user defined signal 1, terminated signal received, user defined signal 1, signal: hangup" {
			w.Failf("%s", s)
		}
		// Stopped, and going on.
		var n atomic.Int64
		h = w.Host("stopped", func() error {
			for {
				time.Sleep(time.Second)
				n.Add(1)
			}
		})
		time.Sleep(5500 * time.Millisecond)
		h.Signal(syscall.SIGSTOP)
		time.Sleep(5 * time.Second)
		if n.Load() != 5 {
			w.Failf("%d ticks of a stopped process", n.Load())
		}
		h.Signal(syscall.SIGCONT)
		time.Sleep(5 * time.Second)
		if n.Load() < 10 {
			w.Failf("%d ticks after SIGCONT", n.Load())
		}
	}, dst.Twice())
}

// A Go program leaves SIGHUP ignored if it began so, also after it has asked for
// it, and catches all other signals.
func TestProgramsBeginWithSignalsIgnored(t *testing.T) {
	raise := func(sig syscall.Signal) func() int {
		return func() int {
			c := make(chan os.Signal, 1)
			signal.Notify(c, sig)
			syscall.Kill(os.Getpid(), sig)
			if got := <-c; got != sig {
				return 1
			}
			signal.Stop(c)
			syscall.Kill(os.Getpid(), sig)
			time.Sleep(time.Millisecond)
			return 5
		}
	}
	dst.Run(t, func(w *dst.World) {
		w.Program("hup", raise(syscall.SIGHUP))
		w.Program("term", raise(syscall.SIGTERM))
		w.Host("a").Do(func() {
			for _, want := range []string{"signal: hangup signal: terminated", "exit status 5 signal: terminated"} {
				if got := fmt.Sprint(exec.Command("hup").Run(), " ", exec.Command("term").Run()); got != want {
					w.Failf("the programs ended with %s, want %s", got, want)
				}
				signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
			}
		})
	}, dst.Seeds(2))
}

func TestPipesTakeTime(t *testing.T) {
	dst.Run(t, func(w *dst.World) {
		w.Host("a").Do(func() {
			r, wr, err := os.Pipe()
			if err != nil {
				w.Fatalf("%v", err)
			}
			const size = 10 << 20
			go func() {
				wr.Write(make([]byte, size))
				wr.Close()
			}()
			start := time.Now()
			n, err := io.Copy(io.Discard, r)
			// In and out, a tenth of a nanosecond a byte.
			if d := time.Since(start); n != size || err != nil || d < 2*size/10*time.Nanosecond || d > 10*time.Millisecond {
				w.Failf("%d bytes, %v in %v; want %d in a few milliseconds", n, err, d, size)
			}
		})
	}, dst.Seeds(2))
}
