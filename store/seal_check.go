package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// CheckSealed tells which rows hold what the secret keys do not open. That is a promise of whoever configures the keys, with
// a copy of the database that is put back among others, and so no part of Check.
func (s *Store) CheckSealed(ctx context.Context, checked func(promise string, broken []core.Violation)) error {
	keys, ours := s.db.Options.Sealer.Ours()
	sealed := db.Invariant{Promise: "what is sealed opens with the secret keys",
		Query: `SELECT account_id, id FROM (` + sealedInUse + ` UNION ALL SELECT name, name, sealed FROM secret_key_canary) AS sealed WHERE substr(sealed, 1, 4) NOT IN ` + ours}
	return s.db.CheckAll(ctx, []db.Invariant{sealed}, checked, append([]any{s.Now()}, keys...)...)
}
