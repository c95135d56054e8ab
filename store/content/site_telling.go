package content

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// AccountsToTell returns accounts whose teams are to be told now of domains that fail. It looks at limit of these domains.
func (s *Store) AccountsToTell(ctx context.Context, limit int) ([]string, error) {
	accounts, err := db.Select[string](ctx, s.db, `SELECT account_id FROM ai_sites WHERE domain_tell_at <= ? ORDER BY domain_tell_at LIMIT ?`, s.Now(), limit)
	slices.Sort(accounts)
	return slices.Compact(accounts), err
}

// LockSitesToTell returns the sites of an account of whose domains the team is to be told now, at most limit and the longest waiting first. It locks them,
// and leaves out those that another transaction has.
func (s *Store) LockSitesToTell(ctx context.Context, u *db.Unit, account string, limit int) ([]AISite, error) {
	return db.Select[AISite](ctx, u, aiSiteColumns.SelectSQL+` WHERE account_id = ? AND domain_tell_at <= ? ORDER BY domain_tell_at, id LIMIT ?`+u.LockSkip(), account, s.Now(), limit)
}

// TellLater has the team told of the domains of some sites from a time on, nil for never.
func (s *Store) TellLater(ctx context.Context, u *db.Unit, account string, sites []string, at *core.Time) error {
	are, arg := s.db.In("id", sites)
	_, err := u.Exec(ctx, `UPDATE ai_sites SET domain_tell_at = ? WHERE account_id = ? AND `+are, at, account, arg)
	return err
}
