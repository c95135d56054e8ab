package activity

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/internal/db"
)

// forgotten are those whom a transaction forgets, whose own line is written after that.
type forgotten struct{ ids []string }

// forgets reports whether a line is about somebody whom the transaction forgets.
func (s *Store) forgets(u *db.Unit, a Activity) bool {
	of := db.Kept[forgotten](u)
	about := func(id *string) bool { return id != nil && slices.Contains(of.ids, *id) }
	return about(a.TargetID) || about(a.CustomerID)
}

// Forget removes what lines say of a customer, or of a lead, by its id: that of this transaction too. That something was done, and by
// whom, remains.
func (s *Store) Forget(ctx context.Context, in *db.Unit, account, id string) error {
	of := db.Kept[forgotten](in)
	of.ids = append(of.ids, id)
	for _, column := range []string{"customer_id", "target_id"} {
		if _, err := in.Exec(ctx, `UPDATE activities SET changes = NULL WHERE account_id = ? AND `+column+` = ? AND changes IS NOT NULL`, account, id); err != nil {
			return fmt.Errorf("forget what was changed of somebody: %w", err)
		}
	}
	return nil
}

// ForgetAll does the same for all objects whose ids a query returns.
func (s *Store) ForgetAll(ctx context.Context, in *db.Unit, account, query string, args ...any) error {
	_, err := in.Exec(ctx, `UPDATE activities SET changes = NULL WHERE account_id = ? AND changes IS NOT NULL AND `+s.db.InSelected("target_id", query), append([]any{account}, args...)...)
	if err != nil {
		return fmt.Errorf("forget what was changed of somebody's objects: %w", err)
	}
	return nil
}

// Move makes lines about one customer be about another, who got all that they are about, so that Forget finds them then.
func (s *Store) Move(ctx context.Context, in *db.Unit, account, from, to string) error {
	if _, err := in.Exec(ctx, `UPDATE activities SET customer_id = ? WHERE account_id = ? AND customer_id = ? AND changes IS NOT NULL`, to, account, from); err != nil {
		return fmt.Errorf("move what was changed: %w", err)
	}
	return nil
}
