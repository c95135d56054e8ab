package main

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/database"
)

// Who builds an index meanwhile ends it: a statement that waited for their lock would be a deadlock with them.
func TestMigrate_LetsWhoBuildsAnIndexEndIt(t *testing.T) {
	t.Parallel()
	address := database.URL(t, "postgres")
	db := database.Behind(t, address)
	writer, built := beginIndex(t, db)
	migrated := make(chan error, 1)
	go func() {
		_, err := tillwright(t, t.TempDir(), "migrate", "--database-url", address)
		migrated <- err
	}()
	require.Eventually(t, func() bool {
		var waits bool
		err := db.QueryRow(`SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE $1)`, "%pg_locks%").Scan(&waits)
		return err == nil && waits
	}, time.Minute, 10*time.Millisecond, "it looks whether somebody builds one")
	require.NoError(t, writer.Rollback())
	require.NoError(t, <-built)
	require.NoError(t, <-migrated)
	assert.Equal(t, "customers_typed valid", indexesLike(t, db, "customers_typed%"))
}

// An index that cannot be built fails each run, which leaves no more behind than the first. One of whoever shares the schema is no concern of ours.
func TestMigrate_LeavesOneIndexOfManyAttempts(t *testing.T) {
	t.Parallel()
	address := database.URL(t, "postgres")
	db := database.Behind(t, address)
	_, err := db.Exec(`CREATE TABLE twins (n INT); INSERT INTO twins VALUES (1), (1); DROP INDEX customers_typed`)
	require.NoError(t, err)
	for _, name := range []string{"customers_typ", "customers_typed"} {
		_, err = db.Exec(`CREATE UNIQUE INDEX CONCURRENTLY ` + name + ` ON twins (n)`)
		require.ErrorContains(t, err, "could not create unique index")
	}
	for range 3 {
		_, err = tillwright(t, t.TempDir(), "migrate", "--database-url", address)
		require.ErrorContains(t, err, "build the index customers_typed anew")
	}
	assert.Equal(t, "customers_typed, customers_typed_ccnew", indexesLike(t, db, "customers_typed%"))
	_, err = db.Exec(`DELETE FROM twins WHERE ctid = (SELECT max(ctid) FROM twins)`)
	require.NoError(t, err)
	_, err = tillwright(t, t.TempDir(), "migrate", "--database-url", address)
	require.NoError(t, err)
	assert.Equal(t, "customers_typed valid", indexesLike(t, db, "customers_typed%"))
	assert.Equal(t, "customers_typ", indexesLike(t, db, "customers_typ"), "whose name begins as one of ours does")
}

// A schema may have capitals and dashes in its name.
func TestMigrate_IsAtHomeInASchemaOfAnyName(t *testing.T) {
	t.Parallel()
	address := database.URL(t, "postgres")
	_, err := database.Behind(t, address).Exec(`ALTER SCHEMA public RENAME TO "My-Shop"`)
	require.NoError(t, err)
	at, err := url.Parse(address)
	require.NoError(t, err)
	query := at.Query()
	query.Set("search_path", `"My-Shop"`)
	at.RawQuery = query.Encode()
	_, err = tillwright(t, t.TempDir(), "migrate", "--database-url", at.String())
	require.NoError(t, err)
	_, err = tillwright(t, t.TempDir(), "doctor", "--database-url", at.String())
	require.NoError(t, err)
}

// indexesLike returns the names of indexes, and which of them are valid.
func indexesLike(t *testing.T, db *sql.DB, pattern string) (names string) {
	t.Helper()
	require.NoError(t, db.QueryRow(`
		SELECT string_agg(c.relname || CASE WHEN i.indisvalid THEN ' valid' ELSE '' END, ', ' ORDER BY c.relname)
		FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid WHERE c.relname LIKE $1`, pattern).Scan(&names))
	return names
}

// interruptIndex interrupts the building of an index, as the end of a server that migrates does.
func interruptIndex(t *testing.T, db *sql.DB) {
	t.Helper()
	writer, built := beginIndex(t, db)
	_, err := db.Exec(`SELECT pg_cancel_backend(pid) FROM pg_stat_progress_create_index WHERE datname = current_database()`)
	require.NoError(t, err)
	require.ErrorContains(t, <-built, "canceling statement")
	require.NoError(t, writer.Rollback())
}

// beginIndex has somebody build an index who waits for a writer, and returns the writer, and what becomes of the index.
func beginIndex(t *testing.T, db *sql.DB) (writer *sql.Tx, built <-chan error) {
	t.Helper()
	var definition string
	require.NoError(t, db.QueryRow(`SELECT pg_get_indexdef(CAST('customers_typed' AS regclass))`).Scan(&definition))
	_, err := db.Exec(`DROP INDEX customers_typed`)
	require.NoError(t, err)
	writer, err = db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = writer.Exec(`LOCK TABLE customers IN ROW EXCLUSIVE MODE`)
	require.NoError(t, err)
	end := make(chan error, 1)
	go func() {
		_, err := db.Exec(strings.Replace(definition, "CREATE INDEX", "CREATE INDEX CONCURRENTLY", 1))
		end <- err
	}()
	require.Eventually(t, func() bool {
		var waits bool
		err := db.QueryRow(`
			SELECT EXISTS (SELECT 1 FROM pg_stat_progress_create_index WHERE datname = current_database() AND phase = 'waiting for writers before build')`).Scan(&waits)
		return err == nil && waits
	}, time.Minute, 10*time.Millisecond, "it waits for the writer")
	return writer, end
}
