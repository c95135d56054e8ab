// Package mailbox says how many letters are written to a mailbox, of an account, and because of whoever asks for them. Which letter is due, and what
// it says, says package store.
package mailbox

import "github.com/tillwright/tillwright/store/throttle"

// Store counts the letters in one database. It is safe for concurrent use.
type Store struct{ throttle *throttle.Store }

// New returns the room that counts by throttle.
func New(t *throttle.Store) *Store { return &Store{t} }
