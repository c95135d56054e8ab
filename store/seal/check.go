package seal

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Check tells which rows hold secrets in use that the secret keys do not open. It is no part of audit.Store.Check, because it is not the code
// that keeps this promise. Whoever configures the keys does, and puts the right ones back with a copy of the database.
func (s *Store) Check(ctx context.Context, checked func(promise string, broken []core.Violation)) error {
	keys, ours := s.db.Options.Sealer.Ours()
	sealed := db.Invariant{Promise: "what is sealed opens with the secret keys",
		Query: `SELECT account_id, id FROM (` + sealedInUse + sealedLicenses + `
		UNION ALL SELECT name, name, sealed FROM secret_key_canary) AS sealed WHERE substr(sealed, 1, 4) NOT IN ` + ours}
	return s.db.CheckAll(ctx, []db.Invariant{sealed}, checked, append([]any{s.db.Now()}, keys...)...)
}
