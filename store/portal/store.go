// Package portal lets customers in to what is theirs: by sessions that their seller makes, and by links that are sent to their address.
// What they find there, and may change, is decided in package store.
package portal

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to the links and sessions in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{d} }

// customer is what the portal has to know of a customer to let them in.
type customer struct {
	AccountID       string  `db:"account_id"`
	ID              string  `db:"id"`
	Email           *string `db:"email"`
	EmailKey        *string `db:"email_key"` // nil unless they own the address
	PreferredLocale *string `db:"preferred_locale"`
}

const selectCustomer = `SELECT account_id, id, email, email_key, preferred_locale FROM customers`

// lockCustomer locks a customer, who is locked before whatever is theirs. One who does not exist, or was deleted, is CodeMissing.
func lockCustomer(ctx context.Context, u *db.Unit, account, ref string) (*customer, error) {
	return findCustomer(ctx, u.Locked(), account, ref)
}

func findCustomer(ctx context.Context, r db.Reader, account, ref string) (*customer, error) {
	id, ok := core.ParseID(core.KindCustomer, ref)
	if !ok {
		return nil, core.Missing("customer", "", ref)
	}
	c, err := db.Get[customer](ctx, r, selectCustomer+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL`, account, id)
	if err == nil && c == nil {
		err = core.Missing("customer", "", ref)
	}
	return c, err
}

// newToken returns a secret token of a session, or of the link that becomes it. It is made of its id, the account's id without its prefix, and
// 256 random bits, with underscores between.
func newToken(account, id string) string {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err) // crypto/rand does not fail on a supported system
	}
	return id + "_" + strings.TrimPrefix(account, core.KindAccount.Prefix()) + "_" + core.TokenEncoding.EncodeToString(random[:])
}

// splitToken returns which row a token names: that of a session, or of the link that becomes it.
func splitToken(token string) (account, id string, ok bool) {
	parts := strings.Split(token, "_")
	if len(parts) != 4 {
		return "", "", false
	}
	id, isSession := core.ParseID(core.KindPortalSession, parts[0]+"_"+parts[1])
	account, isAccount := core.ParseID(core.KindAccount, core.KindAccount.Prefix()+parts[2])
	return account, id, isSession && isAccount
}
