package effort

import (
	"syscall"
	"time"
)

// spent is the processor time of the thread that the caller is locked to.
func spent() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_THREAD, &usage) // cannot fail with these arguments
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
