package db

import (
	"os"
	"syscall"
)

// flushFile writes what a file holds to the disk, and of what the system knows of it only what reading it takes, as SQLite does.
func flushFile(file *os.File) error {
	for {
		if err := syscall.Fdatasync(int(file.Fd())); err != syscall.EINTR {
			return err
		}
	}
}
