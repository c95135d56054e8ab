// Package effort measures how much processor time work takes, which other tests and a busy machine hardly change.
package effort

import (
	"runtime"
	"time"
)

// Of returns the processor time that work takes in its own goroutine. If the system does not tell it, it is the time that
// passes.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := spent()
	work()
	return spent() - before
}
