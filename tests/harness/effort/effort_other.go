//go:build !linux

package effort

import "time"

var begin = time.Now()

func spent() time.Duration { return time.Since(begin) }
