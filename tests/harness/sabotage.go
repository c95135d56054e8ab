package harness

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/lib/pq"  // the harness reaches into the databases
	_ "modernc.org/sqlite" // behind the back of the program

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// Database gives a test direct access to the database of the program under test.
type Database struct {
	*sql.DB
	Engine string // sqlite or postgres
}

// OpenDatabase opens the database at an address, which is written as for the program, until the test ends.
func OpenDatabase(t testing.TB, address string) *Database {
	t.Helper()
	engine := "postgres"
	if strings.HasPrefix(address, "sqlite://") {
		engine = "sqlite"
	}
	if err := store.RegisterFunctions(); err != nil {
		t.Fatal(err)
	}
	return &Database{DB: database.Behind(t, address), Engine: engine}
}

// Must runs a statement.
func (d *Database) Must(t testing.TB, statement string) {
	t.Helper()
	if _, err := d.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Strings returns the first column of a query's rows.
func (d *Database) Strings(t testing.TB, query string, args ...any) []string {
	t.Helper()
	rows, err := d.Query(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// Count returns the number of rows of a table.
func (d *Database) Count(t testing.TB, table string) (n int) {
	t.Helper()
	if err := d.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Tables returns the names of all tables.
func (d *Database) Tables(t testing.TB) []string {
	t.Helper()
	if d.Engine == "sqlite" {
		return d.Strings(t, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	}
	return d.Strings(t, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
}

// HoldWrites makes every write with an Idempotency-Key wait until release is called. That has to be within the seconds that a
// server waits for a lock. Reads go on.
func (d *Database) HoldWrites(t testing.TB) (release func()) {
	t.Helper()
	conn, err := d.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	hold := []string{"BEGIN", "LOCK TABLE idempotency_keys IN SHARE MODE"}
	if d.Engine == "sqlite" {
		hold = []string{"BEGIN IMMEDIATE"}
	}
	for _, statement := range hold {
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	release = sync.OnceFunc(func() {
		_, _ = conn.ExecContext(context.Background(), "ROLLBACK")
		_ = conn.Close()
	})
	t.Cleanup(release)
	return release
}

// BreakTables takes every table away except those named, so that each statement on them fails until restore is called.
func (d *Database) BreakTables(t testing.TB, except ...string) (restore func()) {
	t.Helper()
	var broken, again []string
	for _, table := range d.Tables(t) {
		if !slices.Contains(except, table) {
			broken = append(broken, fmt.Sprintf("ALTER TABLE %s RENAME TO broken_%s", table, table))
			again = append(again, fmt.Sprintf("ALTER TABLE broken_%s RENAME TO %s", table, table))
		}
	}
	if d.Engine == "sqlite" {
		broken, again = []string{unlisted(except)}, []string{listed}
	}
	for _, statement := range broken {
		d.Must(t, statement)
	}
	restore = sync.OnceFunc(func() {
		for _, statement := range again {
			d.Must(t, statement)
		}
	})
	t.Cleanup(restore)
	return restore
}

// unlisted returns what takes all tables but some from SQLite's list of them. To rename one reads the definitions of all, and to rename all does so
// for each. To make and to drop a table tells every connection that there is another list.
func unlisted(except []string) string {
	others := "tbl_name NOT LIKE 'sqlite_%' AND tbl_name NOT IN ('unlisted', '" + strings.Join(except, "', '") + "')"
	return `
		BEGIN IMMEDIATE; PRAGMA writable_schema = on;
		CREATE TABLE unlisted AS SELECT rowid AS place, * FROM sqlite_master WHERE ` + others + `;
		DELETE FROM sqlite_master WHERE ` + others + `;
		COMMIT; PRAGMA writable_schema = reset`
}

// listed puts back what unlisted has taken.
const listed = `
	BEGIN IMMEDIATE; PRAGMA writable_schema = on;
	INSERT INTO sqlite_master (rowid, type, name, tbl_name, rootpage, sql) SELECT place, type, name, tbl_name, rootpage, sql FROM unlisted;
	DROP TABLE unlisted;
	COMMIT; PRAGMA writable_schema = reset`
