package simfs

import "github.com/dstkit/dst/sched"

// CrashStates returns the distinct states of the disk that a loss of power now
// could leave, max of them at most; the first is the one that loses nothing.
// With all, they are all there are. Else they are a sample, the same each time
// for the same disk, of which the second loses as much as can be.
//
// The disk itself stays as it is. A state goes to another host, or to this one
// once it is down, by [Disk.Restore].
func (d *Disk) CrashStates(max int) (states []*Snapshot, all bool) {
	sched.Enter()
	defer sched.Leave()
	if max < 1 {
		panic("simfs: CrashStates needs a positive number of states")
	}
	// All combinations of choices, as long as there are few.
	var o odometer
	seen := map[uint64]bool{}
	for range 4*max + 64 {
		if s := d.crashed(&o, seen); s != nil {
			states = append(states, s)
		}
		if len(states) > max {
			break
		}
		if !o.next() {
			return states, true
		}
	}
	// Too many: the two ends, then draws.
	states = states[:0]
	clear(seen)
	for i := range 4*max + 2 {
		var c chooser = sched.NewStream(uint64(i), "crash states")
		switch i {
		case 0:
			c = lose(false)
		case 1:
			c = lose(true)
		}
		if s := d.crashed(c, seen); s != nil {
			states = append(states, s)
		}
		if len(states) == max {
			break
		}
	}
	return states, false
}

// crashed is the disk after a loss of power, unless that state was seen.
func (d *Disk) crashed(c chooser, seen map[uint64]bool) *Snapshot {
	crashed := d.clone()
	crashed.lose(c)
	sum := crashed.digest()
	if seen[sum] {
		return nil
	}
	seen[sum] = true
	return &Snapshot{crashed}
}

// An odometer goes through all combinations of choices.
type odometer struct {
	digits, limits []int
	pos            int
}

func (o *odometer) N(n int) int {
	if o.pos == len(o.digits) {
		o.digits, o.limits = append(o.digits, 0), append(o.limits, n)
	}
	o.pos++
	return o.digits[o.pos-1]
}

// next moves on, and reports whether there is another combination.
func (o *odometer) next() bool {
	o.pos = 0
	for i := len(o.digits) - 1; i >= 0; i-- {
		if o.digits[i]++; o.digits[i] < o.limits[i] {
			o.digits, o.limits = o.digits[:i+1], o.limits[:i+1]
			return true
		}
	}
	return false
}

// lose keeps everything, or loses all that may be lost.
type lose bool

func (l lose) N(n int) int {
	if l {
		return n - 1
	}
	return 0
}
