//go:build !linux

package db

import "os"

// flushFile writes what a file holds to the disk.
func flushFile(file *os.File) error { return file.Sync() }
