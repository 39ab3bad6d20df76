//go:build dst

package dst_test

import "sync"

// An unlocker unlocks what is not locked. (In a file of its own, since vet
// does not like it elsewhere.)
type unlocker struct{ mu sync.Mutex }

func (u *unlocker) unlock() { u.mu.Unlock() }
