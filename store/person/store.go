// Package person holds who signs in to the dashboard: people, the accounts they are members of, and their sessions. It also holds the links that
// let somebody in once, and how often signing in may fail.
package person

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/throttle"
)

// Store gives access to the people in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db       *db.DB
	throttle *throttle.Store
}

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{d, throttle.New(d)} }

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }

// newToken returns 256 random bits as text. What is stored is its hash.
func newToken() string {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err) // crypto/rand does not fail on a supported system
	}
	return core.TokenEncoding.EncodeToString(random[:])
}

// hashOf returns the hash under which something is stored that nobody is to read in the database.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return core.TokenEncoding.EncodeToString(sum[:])
}
