//go:build !unix

package db

import "os"

// lockFile makes the file and does not lock it: the system has no flock.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
