//go:build !unix

package db

import "os"

// lockFile only marks the file where the system has no flock.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
