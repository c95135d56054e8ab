//go:build !linux && !darwin && !freebsd

package db

import "math"

// freeSpace knows nothing of the disk where the system has no statfs.
func freeSpace(string) (int64, error) { return math.MaxInt64, nil }
