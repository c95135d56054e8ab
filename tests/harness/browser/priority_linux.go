package browser

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// toStart are browsers that are to be started, each with where to say how that went.
var toStart = make(chan startOf)

type startOf struct {
	cmd     *exec.Cmd
	started chan error
}

var startBrowsers = sync.OnceFunc(func() { go beginner() })

// start starts a browser that leaves processors to what it looks at. A browser of root's would take more than its share: it raises the priority of its
// own threads, and a program beside it waits.
func start(cmd *exec.Cmd) error {
	startBrowsers()
	started := make(chan error)
	toStart <- startOf{cmd, started}
	return <-started
}

// beginner starts all browsers, from a thread that may not raise a priority. It never ends: with its thread would end the servers that it started
// before it was this goroutine's (dieWithUs).
func beginner() {
	runtime.LockOSThread()
	const dropBound, mayRaise = 24, 23 // PR_CAPBSET_DROP and CAP_SYS_NICE of Linux
	// Who may not drop this has no right to raise a priority either.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, dropBound, mayRaise, 0)
	if level, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil { // of this thread: 20 is usual, 1 the least
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 20-max(1, level-5))
	}
	for s := range toStart {
		s.started <- s.cmd.Start()
	}
}
