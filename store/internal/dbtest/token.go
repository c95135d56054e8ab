package dbtest

import "testing"

// Changed replaces a stretch of a text by another one. A fuzz target changes a good token with it, because it would not guess one. Most tokens are
// random, and each process of a run has its own.
func Changed(text string, at, length uint8, by string) string {
	from := min(int(at), len(text))
	to := min(from+int(length), len(text))
	return text[:from] + by + text[to:]
}

// AddChanges gives a target the changes that somebody would try first.
func AddChanges(f *testing.F) {
	f.Add(uint8(0), uint8(0), "")
	f.Add(uint8(0), uint8(255), "")
	f.Add(uint8(0), uint8(255), "\x00")
	f.Add(uint8(0), uint8(255), "____")
	f.Add(uint8(0), uint8(1), "P")
	f.Add(uint8(0), uint8(255), "order_01k0000000000000000000000a_01k0000000000000000000000a_0_0_00000000000000000000000000")
	f.Add(uint8(0), uint8(255), "psess_01k0000000000000000000000a_01k0000000000000000000000a_0000000000000000000000000000000000000000000000000000")
	f.Add(uint8(60), uint8(1), "1")
	f.Add(uint8(80), uint8(255), "")
	f.Add(uint8(255), uint8(0), "_")
	f.Add(uint8(255), uint8(0), "0")
	f.Add(uint8(255), uint8(0), "\n")
}
