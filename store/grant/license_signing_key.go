package grant

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// LicenseSigningKey is what signs the tokens of an account's licences. Its id is the `kid` of their headers.
type LicenseSigningKey struct {
	AccountID  string    `db:"account_id"`
	ID         string    `db:"id"`
	Number     int64     `db:"number"`      // 1, 2, ...: the greatest signs
	PublicKey  string    `db:"public_key"`  // base64url, as `x` of a JWK has it
	SealedSeed []byte    `db:"sealed_seed"` // RFC 8032 makes the private key of it
	CreatedAt  core.Time `db:"created_at"`
	UpdatedAt  core.Time `db:"updated_at"`
}

var signingKeyColumns = db.ColumnsOf[LicenseSigningKey]("license_signing_keys")

// signer is a signing key that is open.
type signer struct {
	id      string
	private ed25519.PrivateKey
}

func (k *LicenseSigningKey) sealContext() string {
	return "license signing key\x00" + k.AccountID + "\x00" + k.ID
}

// ListLicenseSigningKeys returns a page of an account's signing keys, newest first, and whether there are more.
func (s *Store) ListLicenseSigningKeys(ctx context.Context, account string, page core.Page) ([]LicenseSigningKey, bool, error) {
	return db.Page(ctx, s.db, signingKeyColumns, core.KindLicenseSigningKey, account, page, &db.Filter{})
}

// CreateLicenseSigningKey makes the key that signs tokens from now on. Those before go on checking what they signed.
func (s *Store) CreateLicenseSigningKey(ctx context.Context, account string) (*LicenseSigningKey, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*LicenseSigningKey, error) {
		newest, err := s.newestSigningKey(ctx, u, account)
		if err != nil {
			return nil, err
		}
		var number int64 = 1
		if newest != nil {
			number = newest.Number + 1
		}
		return s.makeSigningKey(ctx, u, account, number)
	})
}

// signer returns the key that signs an account's tokens. The first token makes the first key.
func (s *Store) signer(ctx context.Context, u *db.Unit, account string) (*signer, error) {
	k, err := s.newestSigningKey(ctx, u, account)
	if err == nil && k == nil {
		k, err = s.makeSigningKey(ctx, u, account, 1)
	}
	if err != nil {
		return nil, err
	}
	seed, err := s.db.Options.Sealer.Open(k.SealedSeed, k.sealContext())
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w", k.ID, err)
	}
	return &signer{k.ID, ed25519.NewKeyFromSeed(seed)}, nil
}

func (s *Store) newestSigningKey(ctx context.Context, u *db.Unit, account string) (*LicenseSigningKey, error) {
	return db.Get[LicenseSigningKey](ctx, u, signingKeyColumns.SelectSQL+` WHERE account_id = ? ORDER BY number DESC LIMIT 1`, account)
}

// makeSigningKey makes the key with a number. Of two that are made at once one meets the other's number, and looks again.
func (s *Store) makeSigningKey(ctx context.Context, u *db.Unit, account string, number int64) (*LicenseSigningKey, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("make signing key: %w", err)
	}
	k := &LicenseSigningKey{
		AccountID: account, ID: core.NewID(core.KindLicenseSigningKey), Number: number,
		PublicKey: base64.RawURLEncoding.EncodeToString(public), CreatedAt: s.Now(),
	}
	k.UpdatedAt = k.CreatedAt
	k.SealedSeed = s.db.Options.Sealer.Seal(private.Seed(), k.sealContext())
	return k, u.Insert(ctx, signingKeyColumns, k)
}
