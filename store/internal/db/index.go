package db

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jmoiron/sqlx"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
)

const (
	// invalid is SQL for the indexes that PostgreSQL keeps up to date but does not use, since what built them was interrupted.
	invalid = `
		FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE NOT i.indisvalid AND c.relkind = 'i' AND n.nspname = current_schema()`

	invalidIndexes = `SELECT CAST(CAST(c.oid AS regclass) AS text)` + invalid

	// ofThisRole is SQL for whether this role may build the index c.
	ofThisRole = ` AND pg_has_role(c.relowner, 'USAGE')`

	// builders is SQL for the server processes that are building an index of a table that has invalid ones.
	builders = `
		SELECT DISTINCT p.pid FROM pg_stat_progress_create_index AS p JOIN pg_locks AS l ON l.pid = p.pid
		WHERE l.mode = 'ShareUpdateExclusiveLock' AND l.granted AND p.datname = current_database()
		AND l.relation IN (SELECT i.indrelid` + invalid + ofThisRole + `) ORDER BY p.pid`
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
	known, err := migrationWords()
	if err != nil {
		return err
	}
	var interrupted []string
	for _, name := range names { // the leftovers first: a REINDEX that fails leaves one each time
		replaced, isLeftover := leftoverOf(name)
		if !known[replaced] {
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

// awaitBuilds waits until nobody builds an index of a table that has invalid ones, and logs for whom. It asks again and again. A statement that
// waited for their lock would have a snapshot. They would wait for that in turn, and PostgreSQL would end one of the two.
func awaitBuilds(ctx context.Context, db *sqlx.DB) error {
	var last []int64
	for {
		var pids []int64
		if err := db.SelectContext(ctx, &pids, builders); err != nil || len(pids) == 0 {
			return err
		}
		if !slices.Equal(pids, last) {
			slog.InfoContext(ctx, "wait until another session has built its index", "pids", pids)
			last = pids
		}
		select {
		case <-time.After(schemaPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// migrationWords returns the words of the migrations, among which is the name of every index of ours.
func migrationWords() (map[string]bool, error) {
	files, err := migrations.FS(core.PostgreSQL)
	if err != nil {
		return nil, err
	}
	paths, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	words := map[string]bool{}
	for _, path := range paths {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		for word := range strings.FieldsFuncSeq(string(text), endsName) {
			words[word] = true
		}
	}
	return words, nil
}

// endsName reports whether the name of an index ends before the letter.
func endsName(letter rune) bool {
	return letter != '_' && !unicode.IsLetter(letter) && !unicode.IsDigit(letter)
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
