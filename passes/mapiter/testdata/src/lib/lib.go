package lib

import "math/rand"

type Queue struct{ items []string }

func (q *Queue) Add(s string) { q.items = append(q.items, s) }

func (q *Queue) Len() int { return len(q.items) }

func Pick(n int) int { return rand.Intn(n) }

func Sort(s []string) {
	for i := range s {
		for j := range i {
			if s[i] < s[j] {
				s[i], s[j] = s[j], s[i]
			}
		}
	}
}

func Announce(s string) { go println(s) }
