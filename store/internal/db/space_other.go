//go:build !linux && !darwin && !freebsd

package db

import "math"

// freeSpace returns a number that is never too small: there is no statfs on this system, so nothing is known about the disk.
func freeSpace(string) (int64, error) { return math.MaxInt64, nil }
