package server

import (
	"math/rand/v2"
	"time"

	"github.com/oklog/ulid/v2"
)

// newRequestID returns req_ and a time-ordered random id. Nothing is guarded by
// it, so the fast generator will do; a client's own id is never taken over.
func newRequestID(now time.Time) string {
	var id ulid.ULID
	_ = id.SetTime(uint64(now.UnixMilli())) // fails after the year 10889
	for i, bits := 6, rand.Uint64(); i < 14; i, bits = i+1, bits>>8 {
		id[i] = byte(bits)
	}
	bits := rand.Uint32()
	id[14], id[15] = byte(bits), byte(bits>>8)

	var text [4 + ulid.EncodedSize]byte
	copy(text[:], "req_")
	_ = id.MarshalTextTo(text[4:]) // fails on a wrong length only
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
	return string(text[:])
}
