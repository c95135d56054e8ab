// Package effort measures what work costs in processor time, which other tests and a busy machine hardly change.
package effort

import (
	"runtime"
	"time"
)

// Of returns the processor time of what work does in its own goroutine. Where the system does not tell it, it is the time that passes.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := spent()
	work()
	return spent() - before
}
