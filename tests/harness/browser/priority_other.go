//go:build !linux

package browser

import "os/exec"

// start starts a browser.
func start(cmd *exec.Cmd) error { return cmd.Start() }
