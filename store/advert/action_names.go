package advert

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/internal/db"
)

// DueNames returns at most limit actions, of all accounts, that are done and whose token still stands in the names of what they
// made. One of each account comes before the second of any. They are only candidates: the caller claims each with ClaimNames.
func (s *Store) DueNames(ctx context.Context, limit int) ([]DueAction, error) {
	return db.Select[DueAction](ctx, s.db, `
		SELECT account_id, id, op, channel_id, ad_account_id FROM (
			SELECT a.*, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY names_due, id) AS turn
			FROM ad_actions AS a WHERE names_due < `+s.db.NowSQL()+`) AS due
		ORDER BY turn, names_due, id LIMIT ?`, limit)
}

// ClaimNames claims the names of what an action made for the caller, and reports whether it succeeded. Of several that ask, the first one has them.
// If nothing is heard of the caller, they are due again when actionLease is over. It commits at once.
func (s *Store) ClaimNames(ctx context.Context, account, id string) (bool, error) {
	rows, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_actions SET names_due = `+s.db.NowSQL()+` + ? WHERE account_id = ? AND id = ? AND names_due < `+s.db.NowSQL(),
			actionLease.Microseconds(), account, id)
	})
	return rows == 1, err
}

// YieldNames leaves the names of what an action made for later: they are due again after the pause. It commits at once.
func (s *Store) YieldNames(ctx context.Context, account, id string, pause time.Duration) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_actions SET names_due = `+s.db.NowSQL()+` + ? WHERE account_id = ? AND id = ? AND names_due IS NOT NULL`,
			pause.Microseconds(), account, id)
	})
	return err
}

// FinishNames stores that no token stands in the names of what an action made, or that none is taken off any more. It commits at
// once.
func (s *Store) FinishNames(ctx context.Context, account, id string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_actions SET names_due = NULL WHERE account_id = ? AND id = ?`, account, id)
	})
	return err
}

// dueNames lets the token be taken off the names of what an action made.
func (s *Store) dueNames(ctx context.Context, u *db.Unit, action *Action) error {
	if _, err := u.Exec(ctx, `UPDATE ad_actions SET names_due = `+s.db.NowSQL()+` WHERE account_id = ? AND id = ?`, action.AccountID, action.ID); err != nil {
		return fmt.Errorf("let names be tidied: %w", err)
	}
	return nil
}
