// Package signed makes the addresses that open something to whoever has them, without a key: pages of orders and invoices, and files. What they
// open is not stored, but stands in them, signed or sealed with the secret key.
package signed

import "github.com/tillwright/tillwright/store/internal/db"

// Store makes and reads the addresses of one database. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{d} }
