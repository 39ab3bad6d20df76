package lib

import "time"

var Started = time.Now()

var Clock func() time.Time = time.Now

type Realtime struct{}

func (Realtime) Now() time.Time { return time.Now() }

type Pure struct{ at time.Time }

func (p Pure) Now() time.Time { return p.at }

func Stamp() int64 { return stamp() }

func stamp() int64 { return time.Now().Unix() }

func Wait(d time.Duration) { time.Sleep(d) }

func Lazy() func() time.Time { return func() time.Time { return time.Now() } }

func Add(t time.Time, d time.Duration) time.Time { return t.Add(d) }

type Timer interface{ Now() time.Time }

func NewTimer() Timer { return Realtime{} }

var Default Timer = Realtime{}
