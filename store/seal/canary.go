package seal

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// canary is the name of a row that is sealed with the secret key of the database. It is also the text that is sealed in it. Whoever cannot open
// it has the wrong key.
const canary = "canary"

// KeyChange says what OwnKeys did to the secret key of the database.
type KeyChange string

// What may have changed.
const (
	KeyKept     KeyChange = "kept"     // nothing
	KeyMoved    KeyChange = "moved"    // the canary is sealed with a newer key of the list now: servers that have only older ones do not start any more
	KeyReplaced KeyChange = "replaced" // the canary is sealed with a key of ours now, because nothing is sealed or signed with the one before
)

// OwnKeys makes sure that our secret keys are those of the database, or returns a *SecretKeyError. It is called before a
// server serves the database, and reports what it changed.
//
// Whoever serves a database first chooses its key: if several do so at once, one of them. From then on the database is only
// served with lists of keys that contain the first key of the server that started last. There is one exception. The only server of an embedded
// database may come with any keys that open all that is sealed in it (nothing, say). It may as long as no address or answer was given out that
// would stop working. Where there may be replicas, which can seal something at any moment, that takes AdoptKey.
func (s *Store) OwnKeys(ctx context.Context) (KeyChange, error) {
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
	moved, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
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

// makeCanary seals and stores the canary of a database that has none yet, and returns it. If another server is faster, it
// returns that server's. A database whose contents are sealed with another key than ours is a *SecretKeyError.
func (s *Store) makeCanary(ctx context.Context) ([]byte, error) {
	if err := s.checkEverSealed(ctx); err != nil {
		return nil, err
	}
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `INSERT INTO secret_key_canary (name, sealed) VALUES (?, ?) ON CONFLICT DO NOTHING`,
			canary, s.db.Options.Sealer.Seal([]byte(canary), canary))
	})
	if err != nil {
		return nil, fmt.Errorf("seal canary: %w", err)
	}
	return s.canary(ctx)
}

// adoptUnasked does what AdoptKey does, for the only server of an embedded database, if nobody would notice; it reports
// whether it did. Somebody would notice once there are orders or invoices, because their addresses are signed and the signatures are not stored
// here. So they would once there are answers that are kept for requests that are sent again.
func (s *Store) adoptUnasked(ctx context.Context) (bool, error) {
	if s.db.Engine != core.SQLite || !s.db.Options.Exclusive {
		return false, nil
	}
	given, err := db.Get[int](ctx, s.db, `SELECT count(*) FROM (
		SELECT 1 FROM invoices UNION ALL SELECT 1 FROM orders
		UNION ALL SELECT 1 FROM idempotency_keys WHERE status > 0 AND expires_at >= ? LIMIT 1) AS given`, s.db.Now())
	if err != nil {
		return false, fmt.Errorf("look for what was given out: %w", err)
	}
	if *given > 0 {
		return false, nil
	}
	return s.AdoptKey(ctx, false)
}

// AdoptKey makes our newest secret key the one of the database, whatever it was before, and reports whether it did. It
// does not if something is sealed that our keys cannot open, unless lost says that the keys before are lost anyway. No server
// may be at work on the database.
func (s *Store) AdoptKey(ctx context.Context, lost bool) (bool, error) {
	adopted, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		keys, ours := s.db.Options.Sealer.Ours()
		closed, err := db.Get[int](ctx, u, `SELECT count(*) FROM (SELECT 1 FROM (`+sealedRows+`) AS sealed WHERE substr(sealed, 1, 4) NOT IN `+ours+` LIMIT 1) AS closed`,
			append([]any{s.db.Now()}, keys...)...)
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

// canary returns the sealed canary of the database, nil if there is none yet.
func (s *Store) canary(ctx context.Context) ([]byte, error) {
	sealed, err := db.Get[[]byte](ctx, s.db, `SELECT sealed FROM secret_key_canary WHERE name = ?`, canary)
	if err != nil || sealed == nil {
		return nil, err
	}
	return *sealed, nil
}

// checkEverSealed checks a database without a canary, which an older version may have served. If anything in it is sealed, our keys must open
// something of it, else it returns a *SecretKeyError.
func (s *Store) checkEverSealed(ctx context.Context) error {
	keys, ours := s.db.Options.Sealer.Ours()
	found, err := db.Get[[]byte](ctx, s.db, `SELECT sealed FROM (`+sealedRows+`) AS sealed
		ORDER BY CASE WHEN substr(sealed, 1, 4) IN `+ours+` THEN 0 ELSE 1 END LIMIT 1`, append([]any{s.db.Now()}, keys...)...)
	if err != nil {
		return fmt.Errorf("find what is sealed: %w", err)
	}
	if found != nil && !s.db.Options.Sealer.Knows(*found) {
		return s.db.Options.Sealer.NotOurs(*found)
	}
	return nil
}

// CountClosed returns how many secrets in use none of our keys opens, although they open the canary. They are those of webhooks, Stripe,
// activated channels and conversion destinations, and what signs licences. The key that sealed them is no longer in the list, or is lost.
func (s *Store) CountClosed(ctx context.Context) (int, error) {
	keys, ours := s.db.Options.Sealer.Ours()
	closed, err := db.Get[int](ctx, s.db, `SELECT count(*) FROM (`+sealedInUse+`) AS sealed WHERE substr(sealed, 1, 4) NOT IN `+ours, append([]any{s.db.Now()}, keys...)...)
	if err != nil {
		return 0, fmt.Errorf("count what is closed: %w", err)
	}
	return *closed, nil
}

// sealedInUse selects the sealed secrets that the program cannot work without. If they do not open, somebody has to enter them again or to have
// them made anew. Of what signs licences only the newest is among them. The first argument is the time, which decides whether the secret before a
// rotation is still in use.
//
// sealedLicenses are the texts of licence keys, which may be very many. Only doctor says that they do not open. Programs find them by their
// hashes, but no seller can read them any more. One that is revoked is not among them, because it can be rotated no more.
//
// sealedRows adds everything else that is sealed for longer than a request. Nobody misses the client secret of a checkout, because the
// buyer brings it along, nor the certificate of a site, because another one is obtained.
const (
	sealedInUse = `
		SELECT account_id, id, previous_secret AS sealed FROM webhook_endpoints WHERE previous_secret_until > ?
		UNION ALL SELECT account_id, id, secret FROM webhook_endpoints
		UNION ALL SELECT account_id, id, token FROM social_accounts WHERE length(token) > 0 AND ads_status <> 'inactive'
		UNION ALL SELECT account_id, id, refresh_token FROM social_accounts WHERE refresh_token IS NOT NULL AND ads_status <> 'inactive'
		UNION ALL SELECT account_id, id, token FROM ad_conversion_destinations WHERE token IS NOT NULL
		UNION ALL SELECT id, id, stripe_secret_key FROM accounts WHERE stripe_secret_key IS NOT NULL
		UNION ALL SELECT account_id, id, sealed_seed FROM license_signing_keys AS k WHERE NOT EXISTS (
			SELECT 1 FROM license_signing_keys AS newer WHERE newer.account_id = k.account_id AND newer.number > k.number)
		UNION ALL SELECT id, id, stripe_webhook_secret FROM accounts WHERE stripe_webhook_secret IS NOT NULL`
	sealedLicenses = `
		UNION ALL SELECT account_id, id, sealed_key FROM license_keys WHERE status <> 'revoked'`
	sealedRows = sealedInUse + sealedLicenses + `
		UNION ALL SELECT account_id, id, sealed_key FROM license_keys WHERE status = 'revoked'
		UNION ALL SELECT account_id, id, client_secret FROM checkouts WHERE length(client_secret) > 0
		UNION ALL SELECT account_id, id, token FROM social_accounts WHERE length(token) > 0 AND ads_status = 'inactive'
		UNION ALL SELECT account_id, id, refresh_token FROM social_accounts WHERE refresh_token IS NOT NULL AND ads_status = 'inactive'
		UNION ALL SELECT account_id, id, access FROM social_connections WHERE access IS NOT NULL
		UNION ALL SELECT path, path, sealed FROM site_certificate_files`
)
