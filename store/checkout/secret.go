package checkout

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// OfSecret returns the account and the id of the checkout that a client secret opens. A secret that opens none is
// CodeMissing, as all are while the account is disabled.
func (s *Store) OfSecret(ctx context.Context, secret string) (account, id string, err error) {
	type place struct {
		Account  string `db:"account_id"`
		Checkout string `db:"object_id"`
		Sealed   []byte `db:"client_secret"`
	}
	found, err := db.Get[place](ctx, s.db, `
		SELECT account_id, object_id, (SELECT c.client_secret FROM checkouts AS c WHERE c.account_id = global_names.account_id AND c.id = object_id) AS client_secret
		FROM global_names WHERE kind = ? AND name = ? AND `+db.EnabledAccount, secretName, core.HashOf(secret))
	if err != nil {
		return "", "", err
	}
	if found == nil {
		return "", "", &core.Error{Code: core.CodeMissing, Message: "No checkout has this client secret."}
	}
	if !s.db.Options.Sealer.Knows(found.Sealed) {
		err = s.sealSecretAgain(ctx, &Checkout{AccountID: found.Account, ID: found.Checkout, ClientSecret: secret, SealedSecret: found.Sealed})
	}
	return found.Account, found.Checkout, err
}

// CustomerOf returns whose a checkout is by now, nil while it is nobody's.
func (s *Store) CustomerOf(ctx context.Context, account, id string) (*string, error) {
	return db.Get[string](ctx, s.db, `SELECT customer_id FROM checkouts WHERE account_id = ? AND id = ? AND customer_id IS NOT NULL`, account, id)
}

// sealSecretAgain seals the client secret of a checkout with the current key, after the key that it was sealed with was lost. It
// can, because the buyer has just sent the secret.
func (s *Store) sealSecretAgain(ctx context.Context, c *Checkout) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE checkouts SET client_secret = ? WHERE account_id = ? AND id = ? AND client_secret = ?`,
			s.db.Options.Sealer.Seal([]byte(c.ClientSecret), c.sealContext()), c.AccountID, c.ID, c.SealedSecret)
	})
	if err != nil {
		return fmt.Errorf("seal client secret: %w", err)
	}
	return nil
}

// reveal sets the checkout's client secret, and the address of the page that it opens.
func (c *Checkout) reveal(s *Store, secret string) {
	c.ClientSecret, c.URL = secret, s.db.Options.PublicURL+"/checkout/"+secret
}

func (c *Checkout) sealContext() string { return "checkout\x00" + c.AccountID + "\x00" + c.ID }

// secretName is the kind of global name under which client secrets are found, by their hash.
const secretName = "checkout_secret"

// giveSecret makes a new client secret for a checkout, seals it, and stores the hash by which it is found. The caller stores the sealed secret.
// The secret is made of the checkout's id, for people who read their own logs, and 256 random bits.
func (s *Store) giveSecret(ctx context.Context, u *db.Unit, c *Checkout) error {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err) // crypto/rand does not fail on a supported system
	}
	c.reveal(s, c.ID+"_secret_"+core.TokenEncoding.EncodeToString(random[:]))
	c.SealedSecret = s.db.Options.Sealer.Seal([]byte(c.ClientSecret), c.sealContext())
	return u.Later(ctx, db.Change{
		Table: "global_names", Query: `INSERT INTO global_names (kind, name, account_id, object_id) VALUES (?, ?, ?, ?)`,
		Args: []any{secretName, core.HashOf(c.ClientSecret), c.AccountID, c.ID}, Rows: 1,
	})
}

// RenewClosedSecret returns a checkout with its client secret. If that was sealed with a key that is lost, the checkout gets
// another one. It commits at once, because a payment provider is told the address with the secret next.
func (s *Store) RenewClosedSecret(ctx context.Context, account, id string) (*Checkout, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		return s.LockWithSecret(ctx, u, account, id)
	})
}
