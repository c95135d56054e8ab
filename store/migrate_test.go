package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// sharedOnly are the tables that an embedded database has no use for.
var sharedOnly = map[string]bool{"rate_windows": true, "schema_lock": true}

func TestMigrations_AreTwins(t *testing.T) {
	t.Parallel()
	columns := map[string]map[string][]string{}
	for _, engine := range []string{core.SQLite, core.PostgreSQL} {
		s := newShop(t, database.URL(t, engine))
		columns[engine] = tableColumns(t, s)
		files, err := filepath.Glob(filepath.Join("migrations", engine, "*.sql"))
		require.NoError(t, err)
		for _, file := range files {
			twin := filepath.Join("migrations", core.SQLite, filepath.Base(file))
			_, err := os.Stat(twin)
			require.NoError(t, err)
		}
	}
	require.NotEmpty(t, columns[core.SQLite])
	require.Equal(t, columns[core.SQLite], columns[core.PostgreSQL])
}

func tableColumns(t *testing.T, s *shop) map[string][]string {
	t.Helper()
	query := `
		SELECT t.name AS table_name, c.name AS column_name, CASE c."notnull" WHEN 1 THEN 'NO' ELSE 'YES' END AS nullable
		FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.name`
	if s.Engine() == core.PostgreSQL {
		query = `SELECT table_name, column_name, is_nullable AS nullable FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, column_name COLLATE "C"`
	}
	rows, err := db.Select[struct {
		Table    string `db:"table_name"`
		Column   string `db:"column_name"`
		Nullable string `db:"nullable"`
	}](t.Context(), s.Store.db, query)
	require.NoError(t, err)
	tables := map[string][]string{}
	for _, row := range rows {
		if row.Table != db.VersionTable && !sharedOnly[row.Table] {
			tables[row.Table] = append(tables[row.Table], row.Column+" nullable "+row.Nullable)
		}
	}
	return tables
}

func TestMigrations_KeysBeginWithTheAccount(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.PostgreSQL))
	global := []string{"accounts", "api_keys_token_hash", "global_names", "people", "people_email", "people_letters_pkey", "person_links", "person_sessions", "rate_windows", "schema_lock", "secret_key_canary", "sign_in_failures", "site_certificate_files", "site_certificate_locks", db.VersionTable}
	keys, err := db.Select[struct {
		Table string `db:"table_name"`
		Index string `db:"index_name"`
		First string `db:"first_column"`
	}](t.Context(), s.Store.db, `
		SELECT t.relname AS table_name, i.relname AS index_name, a.attname AS first_column
		FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
		JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
		WHERE x.indisunique AND n.nspname = 'public'`)
	require.NoError(t, err)
	require.NotEmpty(t, keys)
	for _, key := range keys {
		if key.First != "account_id" {
			require.True(t, slices.Contains(global, key.Table) || slices.Contains(global, key.Index), "%s begins with %s", key.Index, key.First)
		}
	}
}

func TestMigrate_SeveralReplicasAtOnce(t *testing.T) {
	t.Parallel()
	url := database.Empty(t, core.PostgreSQL)
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		s := openStore(t, url)
		all.Go(func() { errs[i] = s.db.Migrate(t.Context()) })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, openStore(t, url).db.CheckSchema(t.Context()))
}

// eachEmpty runs a test on databases that nothing has migrated.
func eachEmpty(t *testing.T, test func(t *testing.T, url string)) {
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, database.Empty(t, engine))
		})
	}
}

func TestCheckSchema_RefusesOlderAndNewer(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		want, err := migrations.Latest(s.Engine())
		require.NoError(t, err)
		var e *db.SchemaError
		require.ErrorAs(t, s.db.CheckSchema(t.Context()), &e)
		require.Equal(t, db.SchemaError{Have: 0, Want: want}, *e)
		require.ErrorContains(t, e, "run `tillwright migrate`")

		require.NoError(t, s.db.Migrate(t.Context()))
		require.NoError(t, s.db.Migrate(t.Context()), "again changes nothing")
		require.NoError(t, s.db.CheckSchema(t.Context()))

		_, err = s.db.Write.DB.Exec(s.db.Rebind(`INSERT INTO schema_migrations (version_id, is_applied) VALUES (?, ?)`), want+1, true)
		require.NoError(t, err)
		require.ErrorAs(t, s.db.CheckSchema(t.Context()), &e)
		require.ErrorContains(t, e, "newer")
		e = nil
		require.ErrorAs(t, s.db.Migrate(t.Context()), &e, "what is newer cannot be migrated")
		require.Equal(t, db.SchemaError{Have: want + 1, Want: want}, *e)
	})
}

// Who is told to stop while it migrates lets the others go on at once, and not when its lease ends.
func TestMigrate_UnlocksAfterItWasToldToStop(t *testing.T) {
	t.Parallel()
	s := openStore(t, database.Empty(t, core.PostgreSQL))
	ctx, stop := context.WithCancel(t.Context())
	unlock, err := db.LockSchema(ctx, s.db.Write.DB)
	require.NoError(t, err)
	stop()
	require.NoError(t, unlock())
	holders, err := db.Select[string](t.Context(), s.db, `SELECT holder FROM schema_lock`)
	require.NoError(t, err)
	require.Empty(t, holders)
}

// PostgreSQL would take an account for as narrow as an id in a table that had one row when it was analysed.
func TestMigrations_SayThatAnAccountHasManyRows(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.PostgreSQL))
	untold, err := db.Select[string](t.Context(), s.Store.db, `
		SELECT c.relname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
		WHERE c.relkind = 'r' AND c.relnamespace = CAST(current_schema() AS regnamespace) AND a.attname = 'account_id' AND NOT a.attisdropped
			AND NOT COALESCE('n_distinct=20' = ANY(a.attoptions), FALSE)`)
	require.NoError(t, err)
	require.Empty(t, untold, "their migration lacks ALTER TABLE ... ALTER COLUMN account_id SET (n_distinct = 20)")
}
