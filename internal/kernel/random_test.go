//go:build linux && (amd64 || arm64)

package kernel

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
)

// TestRandomCallsAsOnTheMachine makes random calls on pipes, pairs of sockets,
// event counters and epoll sets that watch them.
func TestRandomCallsAsOnTheMachine(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		failed := t.Failed()
		onBoth(t, func(a *arm) { randomCalls(a, rand.New(rand.NewPCG(seed, 1))) })
		if t.Failed() && !failed {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomCalls(a *arm, r *rand.Rand) {
	var open []int
	events, grams := map[int]bool{}, map[int]bool{} // by index
	ep := a.open("epoll", syscall.SYS_EPOLL_CREATE1, 0)
	add := func(fds ...int) {
		for _, fd := range fds {
			events := uint32(r.IntN(2)*syscall.EPOLLIN | r.IntN(2)*syscall.EPOLLOUT | r.IntN(2)*syscall.EPOLLRDHUP)
			if r.IntN(3) == 0 {
				// A send that fails is an edge of EPOLLOUT to Linux.
				events = events&^syscall.EPOLLOUT | 1<<31
			}
			if r.IntN(4) == 0 {
				events |= syscall.EPOLLONESHOT
			}
			a.ctl("add", ep, syscall.EPOLL_CTL_ADD, fd, events, int32(len(open)))
			open = append(open, fd)
		}
	}
	for step := range 150 {
		i := 0
		if len(open) > 0 {
			i = r.IntN(len(open))
		}
		op := r.IntN(16)
		if len(open) == 0 || open[i] < 0 && op > 1 {
			op = 0
		}
		what := fmt.Sprintf("step %d: op %d on %d", step, op, i)
		switch op {
		case 0:
			if len(open) > 12 {
				break
			}
			var x, y int
			switch r.IntN(5) {
			case 0:
				x, y = a.pipe(syscall.O_NONBLOCK)
			case 1:
				x, y = a.socketpair(syscall.SOCK_STREAM)
			case 2:
				grams[len(open)], grams[len(open)+1] = true, true
				x, y = a.socketpair(syscall.SOCK_DGRAM)
			case 3:
				x, y = a.socketpair(syscall.SOCK_SEQPACKET)
			case 4:
				x = a.open("eventfd", syscall.SYS_EVENTFD2, r.IntN(2), syscall.O_NONBLOCK)
				events[len(open)] = true
				add(x)
				continue
			}
			add(x, y)
		case 1, 2, 3:
			a.epoll(what, ep)
		case 4, 5, 6, 7:
			n := []int{1, 8, 50, 100, 4096, 5000, 20000}[r.IntN(7)]
			if events[i] && n > 8 {
				n = 8 // later versions of Linux want no more
			}
			a.writeBytes(what, open[i], n)
		case 8, 9, 10, 11:
			a.read(what, open[i], []int{0, 1, 8, 100, 4096, 5000, 20000}[r.IntN(7)])
		case 12:
			a.poll(what, open[i])
		case 13:
			change := []uint32{0, syscall.EPOLLIN, syscall.EPOLLOUT, syscall.EPOLLIN | 1<<31, syscall.EPOLLIN | syscall.EPOLLOUT}
			a.ctl(what, ep, syscall.EPOLL_CTL_MOD, open[i], change[r.IntN(len(change))], int32(i))
		case 14:
			// What comes first, shutdown or no peer, depends on the version.
			if r.IntN(3) == 0 && !grams[i] {
				a.do(what, syscall.SYS_SHUTDOWN, open[i], r.IntN(3))
			}
		case 15:
			if r.IntN(4) == 0 {
				a.close(open[i])
				open[i] = -1
			}
		}
	}
	for _, fd := range open {
		if fd >= 0 {
			a.poll("at the end", fd)
		}
	}
}
