// Package outbox fills the outbox of a database with webhooks that wait to be sent, faster than any API could. It writes to the
// tables directly.
package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Numbers returns SQL for the numbers from one to another, as rows named n, on either engine.
func Numbers(engine string, from, to int) string {
	if engine == "sqlite" {
		return fmt.Sprintf("(WITH RECURSIVE c(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c) AS numbers", from, to)
	}
	return fmt.Sprintf("generate_series(%d, %d) AS numbers(n)", from, to)
}

// ID returns SQL for the id of the object with a number. It looks like any id, and sorts like the number.
func ID(engine, prefix, number string) string {
	if engine == "sqlite" {
		return fmt.Sprintf("'%s01zz' || printf('%%022d', %s)", prefix, number)
	}
	return fmt.Sprintf("'%s01zz' || lpad(CAST(%s AS text), 22, '0')", prefix, number)
}

// IDAt returns SQL for the id of an object that was created at a time. Created is SQL for Unix microseconds, which become the
// first ten characters of the id.
func IDAt(engine, prefix, created, number string) string {
	var id strings.Builder
	fmt.Fprintf(&id, "'%s'", prefix)
	for shift := 45; shift >= 0; shift -= 5 {
		fmt.Fprintf(&id, " || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(((%s) / 1000 >> %d) & 31 AS INTEGER) + 1, 1)", created, shift)
	}
	return id.String() + " || substr(" + ID(engine, "", number) + ", 11)"
}

// Fill copies the last event of each account, once for each number from one to another. Each copy is about an object of its
// own, and has one pending delivery; the endpoints that the event went to take turns. All is done in one transaction, so that
// the server sees them all at once.
func Fill(ctx context.Context, db *sql.DB, engine string, from, to int, accounts ...string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, account := range accounts {
		if err := fill(ctx, tx, engine, from, to, account); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// fill does that for one account.
func fill(ctx context.Context, tx *sql.Tx, engine string, from, to int, account string) error {
	const last = `(SELECT max(id) FROM events WHERE account_id = $1 AND id < 'whev_01zz')`
	numbers, event, object := Numbers(engine, from, to), ID(engine, "whev_", "n"), ID(engine, "prod_", "n")
	for _, statement := range []string{
		`INSERT INTO events (account_id, id, type, ordering_key, key_seq, body, created_at)
		SELECT account_id, ` + event + `, type, ` + object + `, key_seq, replace(body, id, ` + event + `), created_at
		FROM events, ` + numbers + ` WHERE account_id = $1 AND id = ` + last,
		`INSERT INTO webhook_deliveries (account_id, id, endpoint_id, event_id, type, ordering_key, key_seq, state, attempts, created_at, updated_at)
		SELECT account_id, ` + ID(engine, "whd_", "n") + `, endpoint_id, ` + event + `, type, ` + object + `, key_seq, 'pending', 0, created_at, created_at
		FROM (
			SELECT *, row_number() OVER (ORDER BY endpoint_id) AS place, count(*) OVER () AS places
			FROM webhook_deliveries WHERE account_id = $1 AND event_id = ` + last + `) AS sent, ` + numbers + `
		WHERE n % places = place - 1`,
	} {
		if _, err := tx.ExecContext(ctx, statement, account); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
