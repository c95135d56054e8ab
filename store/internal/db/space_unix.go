//go:build linux || darwin || freebsd

package db

import "syscall"

// freeSpace returns how many bytes the disk of a directory has left for this process.
func freeSpace(dir string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, err
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil //nolint:gosec,unconvert // the types differ between systems
}
