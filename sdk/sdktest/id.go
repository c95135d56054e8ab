package sdktest

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"sync"
	"time"
)

const (
	idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	idLength   = 26
)

// ulids makes ids for all servers of the process.
var ulids = newULIDs()

// newULID returns a new id without a prefix: 48 bits of time and 80 more, in Crockford's base32. Each is greater than those before.
func newULID() string { return ulids.next() }

// ulidSource keeps the last id: its milliseconds, its upper 16 random bits, and the lower 64.
type ulidSource struct {
	mu     sync.Mutex
	millis uint64
	high   uint16
	low    uint64
}

func newULIDs() *ulidSource { return &ulidSource{} }

func (u *ulidSource) next() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now := uint64(time.Now().UnixMilli()); now > u.millis {
		var random [10]byte
		_, _ = rand.Read(random[:]) // never fails
		u.millis = now
		u.high, u.low = binary.BigEndian.Uint16(random[:])&0x7fff, binary.BigEndian.Uint64(random[2:])&^(1<<63)
	}
	u.low++ // there are 2^63 of a millisecond at least
	hi, lo := u.millis<<16|uint64(u.high), u.low
	var id [idLength]byte
	for i := idLength - 1; i >= 0; i-- {
		id[i] = idAlphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(id[:])
}

// isID reports whether text is an id with this prefix.
func isID(prefix, text string) bool {
	rest, ok := strings.CutPrefix(text, prefix)
	return ok && len(rest) == idLength && rest[0] <= '7' && strings.Trim(rest, idAlphabet) == ""
}

// newToken returns a text that nobody guesses.
func newToken() string { return strings.ToLower(rand.Text() + rand.Text()) }

func timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
