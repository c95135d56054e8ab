package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/tillwright/tillwright/store/core"
)

// invalidIndexes is SQL for the indexes that PostgreSQL keeps up to date but does not use, since what built them was interrupted.
const invalidIndexes = `
	SELECT CAST(CAST(c.oid AS regclass) AS text) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
	WHERE NOT i.indisvalid AND c.relkind = 'i' AND c.relnamespace = CAST(current_schema() AS regnamespace)`

// InvalidIndexes returns the names of the indexes that PostgreSQL does not use: building them was interrupted, or is under way.
// SQLite has none.
func (d *DB) InvalidIndexes(ctx context.Context) ([]string, error) {
	if d.Engine == core.SQLite {
		return nil, nil
	}
	names, err := Select[string](ctx, d, invalidIndexes+` ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("look for invalid indexes: %w", err)
	}
	return names, nil
}

// rebuildIndexes builds the invalid indexes of this role anew: CREATE INDEX IF NOT EXISTS would pass over them. Writes go on meanwhile. If
// somebody else is building one, it waits for them.
func rebuildIndexes(ctx context.Context, db *sqlx.DB) error {
	var names []string
	if err := db.SelectContext(ctx, &names, invalidIndexes+` AND pg_has_role(c.relowner, 'USAGE') ORDER BY 1`); err != nil {
		return fmt.Errorf("look for invalid indexes: %w", err)
	}
	for _, name := range names {
		statement := `REINDEX INDEX CONCURRENTLY ` + name
		if isLeftover(name) {
			statement = `DROP INDEX CONCURRENTLY IF EXISTS ` + name
		}
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("build the index %s anew: %w", name, err)
		}
	}
	return nil
}

// isLeftover reports whether an interrupted REINDEX CONCURRENTLY left the index beside the one that it was to replace.
// PostgreSQL's page on REINDEX names the two endings, which a digit may follow.
func isLeftover(name string) bool {
	name = strings.TrimRight(strings.Trim(name, `"`), "0123456789")
	return strings.HasSuffix(name, "_ccnew") || strings.HasSuffix(name, "_ccold")
}
