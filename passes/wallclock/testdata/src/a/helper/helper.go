package helper

import "time"

func Now() time.Time { return time.Now() } // one finding here, none in the callers
