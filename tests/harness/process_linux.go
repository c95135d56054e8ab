package harness

import "syscall"

// dieWithUs makes the kernel end a server whose test process was killed and cannot clean up.
func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
