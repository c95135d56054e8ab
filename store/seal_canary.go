package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// canary is the name of the row, and what is sealed in it.
const canary = "canary"

// KeyChange is what OwnSecretKeys did to the key of the database.
type KeyChange string

// What may have changed.
const (
	KeyKept     KeyChange = "kept"     // nothing
	KeyMoved    KeyChange = "moved"    // to a newer key of the list: servers that have only older ones do not start any more
	KeyReplaced KeyChange = "replaced" // to a key of ours, for nothing is sealed or signed with the one before
)

// OwnSecretKeys makes sure that our secret keys are those of the database, or returns a *SecretKeyError. Whoever serves a
// database first chooses: of several at once, one. From then on it opens only for lists of keys with the one that came
// first in the list of the server that started last. Who serves it alone may come with any that open all that is sealed, if
// that is nothing, say, and no address was given out that another one has signed; where there may be replicas, which seal any
// moment, that takes AdoptSecretKey.
func (s *Store) OwnSecretKeys(ctx context.Context) (KeyChange, error) {
	sealed, err := s.canary(ctx)
	if err != nil {
		return KeyKept, err
	}
	if sealed == nil {
		if sealed, err = s.makeCanary(ctx); err != nil {
			return KeyKept, err
		}
	}
	sealer := s.db.Options.Sealer
	if _, err := sealer.Open(sealed, canary); err != nil {
		if adopted, err := s.adoptUnasked(ctx); err != nil || adopted {
			return KeyReplaced, err
		}
		return KeyKept, sealer.NotOurs(sealed)
	}
	if sealer.IsNewest(sealed) {
		return KeyKept, nil
	}
	moved, err := tx(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
		return u.Exec(ctx, `UPDATE secret_key_canary SET sealed = ? WHERE name = ? AND sealed = ?`, sealer.Seal([]byte(canary), canary), canary, sealed)
	})
	switch {
	case err != nil:
		return KeyKept, fmt.Errorf("seal canary anew: %w", err)
	case moved == 0:
		return KeyKept, nil // another one was faster, and says so
	}
	return KeyMoved, nil
}

// makeCanary returns the canary of a database that has none yet: ours, unless another server is faster.
func (s *Store) makeCanary(ctx context.Context) ([]byte, error) {
	if err := s.checkEverSealed(ctx); err != nil {
		return nil, err
	}
	_, err := tx(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
		return u.Exec(ctx, `INSERT INTO secret_key_canary (name, sealed) VALUES (?, ?) ON CONFLICT DO NOTHING`,
			canary, s.db.Options.Sealer.Seal([]byte(canary), canary))
	})
	if err != nil {
		return nil, fmt.Errorf("seal canary: %w", err)
	}
	return s.canary(ctx)
}

// adoptUnasked is AdoptSecretKey for who alone serves an embedded database, if nobody would notice. What a key has signed is not
// stored: the addresses of orders and invoices were given out with them, and answers are kept for who asks again.
func (s *Store) adoptUnasked(ctx context.Context) (bool, error) {
	if s.db.Engine != core.SQLite || !s.db.Options.Exclusive {
		return false, nil
	}
	given, err := db.Get[int](ctx, s.db, `SELECT count(*) FROM (
		SELECT 1 FROM invoices UNION ALL SELECT 1 FROM orders
		UNION ALL SELECT 1 FROM idempotency_keys WHERE status > 0 AND expires_at >= ? LIMIT 1) AS given`, s.Now())
	if err != nil {
		return false, fmt.Errorf("look for what was given out: %w", err)
	}
	if *given > 0 {
		return false, nil
	}
	return s.AdoptSecretKey(ctx, false)
}

// AdoptSecretKey makes our newest secret key the one of the database, whatever it was before, and says whether it did: unless
// the keys before are lost, only if ours open all that is sealed. No server may be at work on the database.
func (s *Store) AdoptSecretKey(ctx context.Context, lost bool) (bool, error) {
	adopted, err := tx(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
		keys, ours := s.db.Options.Sealer.Ours()
		closed, err := db.Get[int](ctx, s.db, `SELECT count(*) FROM (SELECT 1 FROM (`+sealedRows+`) AS sealed WHERE substr(sealed, 1, 4) NOT IN `+ours+` LIMIT 1) AS closed`,
			append([]any{s.Now()}, keys...)...)
		if err != nil || *closed > 0 && !lost {
			return 0, err
		}
		return u.Exec(ctx, `INSERT INTO secret_key_canary (name, sealed) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed`,
			canary, s.db.Options.Sealer.Seal([]byte(canary), canary))
	})
	if err != nil {
		return false, fmt.Errorf("adopt secret key: %w", err)
	}
	return adopted > 0, nil
}

// canary returns nil if there is none.
func (s *Store) canary(ctx context.Context) ([]byte, error) {
	sealed, err := db.Get[[]byte](ctx, s.db, `SELECT sealed FROM secret_key_canary WHERE name = ?`, canary)
	if err != nil || sealed == nil {
		return nil, err
	}
	return *sealed, nil
}

// checkEverSealed is for a database that was served before there were canaries: something in it must open, if anything is
// sealed.
func (s *Store) checkEverSealed(ctx context.Context) error {
	keys, ours := s.db.Options.Sealer.Ours()
	found, err := db.Get[[]byte](ctx, s.db, `SELECT sealed FROM (`+sealedRows+`) AS sealed
		ORDER BY CASE WHEN substr(sealed, 1, 4) IN `+ours+` THEN 0 ELSE 1 END LIMIT 1`, append([]any{s.Now()}, keys...)...)
	if err != nil {
		return fmt.Errorf("find what is sealed: %w", err)
	}
	if found != nil && !s.db.Options.Sealer.Knows(*found) {
		return s.db.Options.Sealer.NotOurs(*found)
	}
	return nil
}

// CountClosed returns how many signing secrets of webhooks, keys of Stripe and tokens of activated channels none of our keys
// opens, although they open the canary: the key that they were sealed with has left the list, or is lost.
func (s *Store) CountClosed(ctx context.Context) (int, error) {
	keys, ours := s.db.Options.Sealer.Ours()
	closed, err := db.Get[int](ctx, s.db, `SELECT count(*) FROM (`+sealedInUse+`) AS sealed WHERE substr(sealed, 1, 4) NOT IN `+ours, append([]any{s.Now()}, keys...)...)
	if err != nil {
		return 0, fmt.Errorf("count what is closed: %w", err)
	}
	return *closed, nil
}

// sealedRows is all that outlives a request, sealedInUse what the program cannot do without: somebody has to enter it again, or
// to have it made anew. Nobody misses the client secret of a checkout, for it comes with the buyer. Both take the time first,
// by which the secret before a rotation is in use or not.
const (
	sealedInUse = `
		SELECT account_id, id, previous_secret AS sealed FROM webhook_endpoints WHERE previous_secret_until > ?
		UNION ALL SELECT account_id, id, secret FROM webhook_endpoints
		UNION ALL SELECT account_id, id, token FROM social_accounts WHERE length(token) > 0 AND ads_status <> 'inactive'
		UNION ALL SELECT id, id, stripe_secret_key FROM accounts WHERE stripe_secret_key IS NOT NULL
		UNION ALL SELECT id, id, stripe_webhook_secret FROM accounts WHERE stripe_webhook_secret IS NOT NULL`
	sealedRows = sealedInUse + `
		UNION ALL SELECT account_id, id, client_secret FROM checkouts WHERE length(client_secret) > 0
		UNION ALL SELECT account_id, id, token FROM social_accounts WHERE length(token) > 0 AND ads_status = 'inactive'`
)
