//go:build !linux

package harness

import "syscall"

// dieWithUs has no counterpart here: a server may outlive a test process that is killed.
func dieWithUs() *syscall.SysProcAttr { return nil }
