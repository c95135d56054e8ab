package db

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
)

const (
	// invalidIndexes is SQL for the indexes that PostgreSQL keeps up to date but does not use, since what built them was interrupted.
	invalidIndexes = `
		SELECT CAST(CAST(c.oid AS regclass) AS text) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE NOT i.indisvalid AND c.relkind = 'i' AND n.nspname = current_schema()`

	// ofThisRole is SQL for whether this role may build the index c.
	ofThisRole = ` AND pg_has_role(c.relowner, 'USAGE')`

	// isBuilding is SQL for whether somebody is building an index of the table of the index i.
	isBuilding = `
		AND EXISTS (
			SELECT 1 FROM pg_locks AS l JOIN pg_stat_progress_create_index AS p ON p.pid = l.pid
			WHERE l.relation = i.indrelid AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted AND p.datname = current_database())`
)

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

// rebuildIndexes builds those invalid indexes anew that the migrations know: CREATE INDEX IF NOT EXISTS would pass over them. Writes go on
// meanwhile. If somebody else is building one, it waits for them. Indexes of other roles are left as they are.
func rebuildIndexes(ctx context.Context, db *sqlx.DB) error {
	if err := awaitBuilds(ctx, db); err != nil {
		return fmt.Errorf("wait for whoever builds indexes: %w", err)
	}
	var names []string
	if err := db.SelectContext(ctx, &names, invalidIndexes+ofThisRole+` ORDER BY 1`); err != nil {
		return fmt.Errorf("look for invalid indexes: %w", err)
	}
	known, err := migrationTexts()
	if err != nil {
		return err
	}
	var interrupted []string
	for _, name := range names { // the leftovers first: a REINDEX that fails leaves one each time
		replaced, isLeftover := leftoverOf(name)
		if !strings.Contains(known, replaced) {
			continue // of whoever shares the schema, to whom doctor leaves it
		}
		if !isLeftover {
			interrupted = append(interrupted, name)
			continue
		}
		if _, err := db.ExecContext(ctx, `DROP INDEX CONCURRENTLY IF EXISTS `+name); err != nil {
			return fmt.Errorf("drop the index %s: %w", name, err)
		}
	}
	for _, name := range interrupted {
		slog.InfoContext(ctx, "build an index anew", "index", name)
		if _, err := db.ExecContext(ctx, `REINDEX INDEX CONCURRENTLY `+name); err != nil {
			return fmt.Errorf("build the index %s anew: %w", name, err)
		}
	}
	return nil
}

// awaitBuilds waits until nobody builds an index of a table that has invalid ones. It asks again and again: a statement that waits for their
// lock has a snapshot, for which they wait in turn, and PostgreSQL ends one of the two.
func awaitBuilds(ctx context.Context, db *sqlx.DB) error {
	for {
		var building bool
		if err := db.GetContext(ctx, &building, `SELECT EXISTS (`+invalidIndexes+ofThisRole+isBuilding+`)`); err != nil || !building {
			return err
		}
		select {
		case <-time.After(schemaPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// migrationTexts returns the migrations, which name every index of ours.
func migrationTexts() (string, error) {
	files, err := migrations.FS(core.PostgreSQL)
	if err != nil {
		return "", err
	}
	paths, err := fs.Glob(files, "*.sql")
	if err != nil {
		return "", err
	}
	var texts strings.Builder
	for _, path := range paths {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return "", err
		}
		texts.Write(text)
	}
	return texts.String(), nil
}

// leftoverOf returns the name of the index that an index was to replace, if an interrupted REINDEX CONCURRENTLY left it. Otherwise that is its own.
// PostgreSQL's page on REINDEX names the two endings, which a digit may follow.
func leftoverOf(name string) (replaced string, isLeftover bool) {
	for _, ending := range []string{"_ccnew", "_ccold"} {
		if replaced, found := strings.CutSuffix(strings.TrimRight(name, "0123456789"), ending); found {
			return replaced, true
		}
	}
	return name, false
}
