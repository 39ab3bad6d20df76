//go:build dst

package inhost

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// programs are those of a Linux machine that tests run, as far as these need.
var programs = []struct {
	path string
	main func() int
}{
	{"/bin/echo", func() int {
		fmt.Println(strings.Join(os.Args[1:], " "))
		return 0
	}},
	{"/bin/pwd", func() int {
		dir, err := os.Getwd()
		fmt.Println(dir)
		return status(err)
	}},
	{"/bin/cat", func() int {
		for _, name := range os.Args[1:] {
			f, err := os.Open(name)
			if err == nil {
				_, err = io.Copy(os.Stdout, f)
			}
			if err != nil {
				return status(err)
			}
			f.Close()
		}
		if len(os.Args) > 1 {
			return 0
		}
		_, err := io.Copy(os.Stdout, os.Stdin)
		return status(err)
	}},
	{"/bin/sleep", func() int {
		seconds, err := strconv.ParseFloat(os.Args[1], 64)
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		return status(err)
	}},
	{"/bin/hostname", func() int {
		name, err := os.Hostname()
		fmt.Println(name)
		return status(err)
	}},
	{"/bin/date", func() int {
		fmt.Println(time.Now().Format(time.UnixDate))
		return 0
	}},
	{"/usr/bin/nohup", func() int {
		signal.Ignore(syscall.SIGHUP)
		cmd := exec.Command(os.Args[1], os.Args[2:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Run(); cmd.ProcessState == nil { //dst:ignore escape the program is one of this table
			return status(err)
		}
		return cmd.ProcessState.ExitCode()
	}},
	// Tests run the go command as a program that is there on every machine, and find
	// out first that it has a compiler. It builds nothing.
	{"/usr/bin/go", func() int {
		if len(os.Args) == 4 && os.Args[1] == "tool" {
			fmt.Println("/bin/true")
			return 0
		}
		fmt.Fprintln(os.Stderr, "go: a stand-in, which builds nothing")
		return 2
	}},
	{"/bin/true", func() int { return 0 }},
	{"/bin/false", func() int { return 1 }},
}

// status tells of an error as programs do, and returns what they exit with.
func status(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
	return 1
}
