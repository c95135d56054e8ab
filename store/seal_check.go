package store

import (
	"context"
	"slices"
	"strings"
)

// CheckSealed tells which rows hold what the secret keys do not open. That is a promise of whoever configures the keys, with
// a copy of the database that is put back among others, and so no part of Check.
func (s *Store) CheckSealed(ctx context.Context, checked func(promise string, broken []Violation)) error {
	keys := s.options.Sealer.keyIDs()
	ours := `(?` + strings.Repeat(`, ?`, len(keys)-1) + `)`
	query := `
		SELECT account_id, id FROM checkouts WHERE length(client_secret) > 0 AND substr(client_secret, 1, 4) NOT IN ` + ours + `
		UNION ALL SELECT account_id, id FROM webhook_endpoints WHERE substr(secret, 1, 4) NOT IN ` + ours + `
		UNION ALL SELECT account_id, id FROM social_accounts WHERE length(token) > 0 AND substr(token, 1, 4) NOT IN ` + ours + `
		UNION ALL SELECT id, id FROM accounts WHERE substr(stripe_secret_key, 1, 4) NOT IN ` + ours + `
		UNION ALL SELECT id, id FROM accounts WHERE substr(stripe_webhook_secret, 1, 4) NOT IN ` + ours
	sealed := invariant{"what is sealed opens with the secret keys", query}
	return s.checkAll(ctx, []invariant{sealed}, checked, slices.Repeat(keys, strings.Count(query, ours))...)
}

// keyIDs are what texts that it can open begin with.
func (s *Sealer) keyIDs() []any {
	ids := make([]any, len(s.open))
	for i, key := range s.open {
		ids[i] = key.id
	}
	return ids
}
