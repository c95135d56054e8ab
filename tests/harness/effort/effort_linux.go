package effort

import (
	"syscall"
	"time"
)

// spent returns the processor time that the calling thread has used. The caller must be locked to it.
func spent() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_THREAD, &usage) // cannot fail with these arguments
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
