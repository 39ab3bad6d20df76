//go:build dst

package dst_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dstkit/dst"
)

// An arm is a program that is run by a real process and by a simulated one, and
// has to do the same there.
type arm struct {
	name string
	main func()
}

var arms = []arm{
	{"exit", func() { fmt.Println("before"); defer fmt.Println("deferred"); os.Exit(3) }},
	{"exit of a goroutine", func() { go os.Exit(300); select {} }},
	{"fatal", func() { log.SetFlags(0); log.SetOutput(os.Stdout); log.Fatal("no quorum") }},
	{"goexit", func() {
		go func() { time.Sleep(10 * time.Millisecond); fmt.Println("still there"); os.Exit(4) }()
		runtime.Goexit()
	}},
	{"environment", func() {
		os.Clearenv()
		fmt.Println(os.Environ(), os.Setenv("A", "1"), os.Setenv("B", ""), os.Setenv("", "x"), os.Setenv("a=b", "x"), os.Setenv("z\x00", "x"))
		v, ok := os.LookupEnv("B")
		fmt.Println(os.ExpandEnv("$A${B}$C"), v, ok, os.Unsetenv("A"), os.Unsetenv("none"), os.Getenv("A"))
	}},
	{"working directory", func() {
		os.MkdirAll("/tmp/dst-arm/x", 0o755)
		defer os.RemoveAll("/tmp/dst-arm")
		fmt.Println(os.Chdir("/tmp/dst-arm/x"), os.WriteFile("f", []byte("1"), 0o600), os.Chdir(".."), os.Chdir("none"), os.Chdir("x/f"))
		wd, err := os.Getwd()
		_, staterr := os.Stat("x/f")
		fmt.Println(wd, err, staterr)
	}},
	{"umask", func() {
		defer os.Remove("/tmp/dst-arm-umask")
		fmt.Printf("%o ", syscall.Umask(0o027))
		os.WriteFile("/tmp/dst-arm-umask", nil, 0o666)
		st, err := os.Stat("/tmp/dst-arm-umask")
		fmt.Printf("%o %v %v\n", syscall.Umask(0o022), st.Mode(), err)
	}},
	{"too many files", func() {
		var l syscall.Rlimit
		fmt.Println(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l), l.Cur <= l.Max, l.Cur >= 64)
		l.Cur = 64
		fmt.Println(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l))
		var open []*os.File
		var err error
		for len(open) < 100 {
			var f *os.File
			if f, err = os.Open("/dev/null"); err != nil {
				break
			}
			open = append(open, f)
		}
		fmt.Println(len(open) > 40 && len(open) <= 61, err, errors.Is(err, syscall.EMFILE))
		_, _, err = os.Pipe()
		fmt.Println(err)
		open[0].Close()
		f, err := os.Open("/dev/null")
		fmt.Println(f != nil, err)
		l.Cur, l.Max = 10, 5
		fmt.Println(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l), syscall.Getrlimit(99, &l))
	}},
	{"identity", func() {
		fmt.Println(os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid(), os.Getpid() > 1, os.Getppid() > 0, syscall.Kill(os.Getpid(), 0), syscall.Kill(4194303, 0))
		pgid, err := syscall.Getpgid(0)
		fmt.Println(pgid > 0, err)
	}},
	{"proc", func() {
		for _, name := range []string{"comm", "cmdline", "status", "stat", "limits", "cgroup", "mounts", "statm"} {
			b, err := os.ReadFile("/proc/self/" + name)
			fmt.Println(name, len(b) > 0, err)
		}
		for _, name := range []string{"meminfo", "cpuinfo", "loadavg", "uptime", "stat", "mounts", "sys/kernel/hostname", "sys/net/core/somaxconn", "sys/fs/file-max"} {
			b, err := os.ReadFile("/proc/" + name)
			fmt.Println(name, len(b) > 0, err)
		}
		fields := func(path string) int {
			b, _ := os.ReadFile(path)
			return len(strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])))
		}
		fmt.Println(fields("/proc/self/stat"), fields(fmt.Sprintf("/proc/%d/stat", os.Getpid())))
		fds, err := os.ReadDir("/proc/self/fd")
		fmt.Println(len(fds) >= 3, err)
		before := len(fds)
		f, _ := os.Open("/dev/null")
		fds, _ = os.ReadDir("/proc/self/fd")
		fmt.Println(len(fds) - before)
		to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		fmt.Println(to, err)
		wd, _ := os.Getwd()
		to, err = os.Readlink("/proc/self/cwd")
		fmt.Println(to == wd, err)
		status, _ := os.ReadFile("/proc/self/status")
		for _, name := range []string{"Name:", "Pid:", "PPid:", "Uid:", "VmRSS:", "Threads:", "State:"} {
			fmt.Print(name, strings.Contains(string(status), "\n"+name) || strings.HasPrefix(string(status), name), " ")
		}
		fmt.Println(strings.Contains(string(status), fmt.Sprintf("Pid:\t%d\n", os.Getpid())))
		var u syscall.Rusage
		var s syscall.Sysinfo_t
		var n syscall.Utsname
		var tms syscall.Tms
		_, err = syscall.Times(&tms)
		fmt.Println(syscall.Getrusage(0, &u), u.Maxrss > 0, syscall.Sysinfo(&s), s.Totalram > 0, syscall.Uname(&n), n.Sysname[0], err)
	}},
	{"cat", func() {
		cmd := exec.Command("/usr/bin/cat")
		cmd.Stdin = strings.NewReader("through a pipe\n")
		out, err := cmd.CombinedOutput()
		fmt.Printf("%q %v %v\n", out, err, cmd.ProcessState.ExitCode())
		cmd = exec.Command("/usr/bin/cat", "/nowhere/at/all")
		err = cmd.Run()
		fmt.Println(err, cmd.ProcessState.ExitCode(), cmd.ProcessState.Pid() == cmd.Process.Pid)
		cmd = exec.Command("/usr/bin/cat")
		in, _ := cmd.StdinPipe()
		cmd.Stdout = os.Stdout
		fmt.Println(cmd.Start())
		io.WriteString(in, "inherited\n")
		in.Close()
		fmt.Println(cmd.Wait(), cmd.Wait())
		fmt.Println(exec.Command("/usr/bin/none").Run(), exec.Command("none-such").Run())
		cmd = exec.Command("/usr/bin/cat")
		in, _ = cmd.StdinPipe()
		cmd.Start()
		fmt.Println(cmd.Process.Kill(), cmd.Wait(), cmd.ProcessState.Exited(), cmd.Process.Kill())
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGCHLD)
		exec.Command("/usr/bin/cat").Run()
		fmt.Println(<-c)
		r, w, _ := os.Pipe()
		cmd = exec.Command("/usr/bin/cat", "/dev/fd/3")
		cmd.ExtraFiles = []*os.File{r}
		w.WriteString("the fourth descriptor\n")
		w.Close()
		out, err = cmd.Output()
		fmt.Printf("%q %v\n", out, err)
		for _, bad := range []*exec.Cmd{{Path: "/usr/bin/cat", Dir: "/nowhere"}, {Path: "/tmp"}, {Path: "/etc/passwd"}, {Path: "/etc/passwd/x"}} {
			fmt.Println(bad.Run())
		}
		_, err = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		fmt.Println(err)
	}},
	{"write to a broken pipe", func() {
		r, w, _ := os.Pipe()
		r.Close()
		_, err := w.WriteString("x")
		fmt.Println(err) // and it goes on
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		_, err = w.WriteString("x")
		fmt.Println(err)
	}},
}

func init() {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSYS, syscall.SIGTRAP,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGCHLD, syscall.SIGURG, syscall.SIGWINCH, syscall.SIGIO, syscall.SIGCONT, syscall.Signal(40)} {
		arms = append(arms, arm{sig.String(), func() {
			syscall.Kill(syscall.Getpid(), sig)
			time.Sleep(20 * time.Millisecond)
			signal.Ignore(sig)
			syscall.Kill(syscall.Getpid(), sig)
			time.Sleep(20 * time.Millisecond)
			fmt.Println("ignored", signal.Ignored(sig))
			c := make(chan os.Signal, 1)
			signal.Notify(c, sig)
			syscall.Kill(syscall.Getpid(), sig)
			fmt.Println(<-c)
			signal.Reset(sig)
			syscall.Kill(syscall.Getpid(), sig)
			time.Sleep(20 * time.Millisecond)
			fmt.Println("still there")
		}})
	}
}

// TestArm is what a real process runs.
func TestArm(t *testing.T) {
	i := slices.IndexFunc(arms, func(a arm) bool { return a.name == os.Getenv("DST_ARM") })
	if i < 0 {
		t.Skip("runs in processes of TestArms")
	}
	go func() { // which may end without a return
		arms[i].main()
		os.Exit(0)
	}()
	select {}
}

func TestArms(t *testing.T) {
	// What this process ignores (nohup, a job in the background), the real ones would,
	// too. What it handles they begin with as a host does.
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			c := make(chan os.Signal, 1)
			signal.Notify(c, sig)
			defer signal.Stop(c)
		}
	}
	for _, a := range arms {
		t.Run(a.name, func(t *testing.T) {
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe, "-test.run=^TestArm$")
			cmd.Env = append(os.Environ(), "DST_ARM="+a.name)
			out, err := cmd.Output()
			want := fmt.Sprint(string(out), status(err))
			dst.Run(t, func(w *dst.World) {
				w.Program("cat", func() int {
					if len(os.Args) > 1 {
						f, err := os.Open(os.Args[1])
						if err != nil {
							return 1
						}
						os.Stdin = f
					}
					io.Copy(os.Stdout, os.Stdin)
					return 0
				})
				h := w.Host("a", func() error { a.main(); return nil })
				time.Sleep(time.Hour)
				var got strings.Builder
				for _, l := range h.Output() {
					if l.FD == 1 {
						fmt.Fprintln(&got, l.Text)
					}
				}
				got.WriteString(status(h.Err()))
				if got.String() != want {
					w.Failf("a host does\n%s\na real process\n%s", &got, want)
				}
			}, dst.Seeds(1))
		})
	}
}

// status is how a process ended.
func status(err error) string {
	var real *exec.ExitError
	var simulated *dst.ExitError
	switch {
	case err == nil:
		return "exit status 0"
	case errors.As(err, &real):
		return strings.TrimSuffix(real.ProcessState.String(), " (core dumped)")
	case errors.As(err, &simulated):
		return simulated.Error()
	}
	return err.Error()
}
