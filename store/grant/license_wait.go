package grant

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// waitsServed is how many waits one transaction of the worker serves at most, so that it does not keep their grants locked for long.
const waitsServed = 100

// waitForLicense has a grant wait for an imported key.
func (s *Store) waitForLicense(ctx context.Context, u *db.Unit, g *Grant) error {
	_, err := u.Exec(ctx, `INSERT INTO license_waits (account_id, id, product_id, paused) VALUES (?, ?, ?, ?)`, g.AccountID, g.ID, g.ProductID, g.Status == StatusRevoked)
	if err != nil {
		return fmt.Errorf("wait for a licence key: %w", err)
	}
	return nil
}

// pauseWait has a locked grant whose state has changed wait for a key while it is not revoked, if it waits for one.
func (s *Store) pauseWait(ctx context.Context, u *db.Unit, g *Grant) error {
	_, err := u.Exec(ctx, `UPDATE license_waits SET paused = ? WHERE account_id = ? AND id = ?`, g.Status == StatusRevoked, g.AccountID, g.ID)
	return err
}

// endWait has a locked grant wait no more.
func (s *Store) endWait(ctx context.Context, u *db.Unit, g *Grant) error {
	if _, err := u.Exec(ctx, `DELETE FROM license_waits WHERE account_id = ? AND id = ?`, g.AccountID, g.ID); err != nil {
		return fmt.Errorf("end wait for a licence key: %w", err)
	}
	return nil
}

// WaitingAccounts returns the accounts in which a grant waits for an imported key. Disabled ones are left out. It costs two looks at an index for each account.
func (s *Store) WaitingAccounts(ctx context.Context) ([]string, error) {
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]string, error) {
		return db.Select[string](ctx, r, `
			WITH RECURSIVE waiting (account_id) AS (
				SELECT min(account_id) FROM license_waits WHERE NOT paused
				UNION ALL
				SELECT (SELECT min(w.account_id) FROM license_waits AS w WHERE NOT w.paused AND w.account_id > waiting.account_id)
				FROM waiting WHERE account_id IS NOT NULL
			) SELECT account_id FROM waiting WHERE account_id IS NOT NULL AND `+db.EnabledAccount)
	})
}

// DueLicenseWaits names the products of an account, at most limit, for which a grant waits although an imported key is left, for
// ServeLicenseWaits. An import serves those who wait, but sees no sale that commits at the same time. Nor does a sale see the key that another
// one takes and gives back. A grant or a key may also come back later. It costs a look at two indexes for each product that somebody waits for,
// however many wait.
func (s *Store) DueLicenseWaits(ctx context.Context, account string, limit int) ([]core.Due, error) {
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]core.Due, error) {
		return db.Select[core.Due](ctx, r, `
			WITH RECURSIVE waiting (account_id, id) AS (
				SELECT CAST(? AS TEXT), (SELECT min(product_id) FROM license_waits WHERE account_id = ? AND NOT paused)
				UNION ALL
				SELECT account_id, (SELECT min(w.product_id) FROM license_waits AS w WHERE w.account_id = ? AND NOT w.paused AND w.product_id > waiting.id)
				FROM waiting WHERE id IS NOT NULL
			) SELECT account_id, id FROM waiting WHERE id IS NOT NULL AND EXISTS (
				SELECT 1 FROM license_keys AS k WHERE k.account_id = ? AND k.product_id = waiting.id AND in_stock AND status = 'granted' AND (expires_at IS NULL OR expires_at > ?))
			LIMIT ?`, account, account, account, account, now, limit)
	})
}

// ServeLicenseWaits hands imported keys of a product to the grants that wait for one, the oldest first. It reports whether some got theirs. Of
// all that try, one gives a grant its key.
func (s *Store) ServeLicenseWaits(ctx context.Context, account, product string) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		served, err := s.serveWaiting(ctx, u, account, product, waitsServed)
		return served > 0, err
	})
}

// serveWaiting hands imported keys of a product to the grants that wait for one, the oldest first and at most so many. It returns how many got
// theirs. A wait or a grant that somebody else has locked is passed over: DueLicenseWaits finds it again.
func (s *Store) serveWaiting(ctx context.Context, u *db.Unit, account, product string, keys int) (served int, err error) {
	ids, err := db.Select[string](ctx, u, `
		SELECT id FROM license_waits WHERE account_id = ? AND product_id = ? AND NOT paused ORDER BY account_id, product_id, id LIMIT ?`+u.LockSkip(), account, product, keys)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	in, arg := s.db.In("id", ids)
	waiting, err := db.Select[Grant](ctx, u, grantColumns.SelectSQL+` WHERE account_id = ? AND status <> 'revoked' AND `+in+` ORDER BY id`+u.LockSkip(), account, arg)
	if err != nil {
		return 0, fmt.Errorf("lock grants that wait for licence keys: %w", err)
	}
	for i := range waiting {
		g := &waiting[i]
		asked, err := s.licensingOf(ctx, u, g)
		if err != nil {
			return served, err
		}
		k, err := s.stockedLicense(ctx, u, account, product)
		if err != nil || k == nil {
			return served, err
		}
		if err := s.handOut(ctx, u, g, k, asked); err != nil {
			return served, err
		}
		if err := s.endWait(ctx, u, g); err != nil {
			return served, err
		}
		if s.OnKey != nil {
			if err := s.OnKey(ctx, u, g); err != nil {
				return served, err
			}
		}
		served++
	}
	return served, nil
}
