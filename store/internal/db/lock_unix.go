//go:build unix

package db

import (
	"fmt"
	"os"
	"syscall"
)

// lockFile makes the file and locks it for this process until it is closed; the system unlocks it when the process dies. If
// another process has locked it, that is an error at once.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("another process serves this database (%s is locked): stop it, or use PostgreSQL for more than one", path)
	}
	return file, nil
}
