package db

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
)

// isOdd is the condition that the key of an address, for which it has a %[1]s, may be another text than the address in lower case.
const isOdd = `(octet_length(%[1]s) <> length(%[1]s) OR LOWER(%[1]s) LIKE '%%xn--%%')`

// emailKeySchema has checkouts and orders found by the key of their address, where that is not the address in lower case.
var emailKeySchema = []string{
	`CREATE INDEX IF NOT EXISTS checkouts_email_key ON checkouts (account_id, COALESCE(customer_email_key, LOWER(customer_email)), id)`,
	`DROP INDEX IF EXISTS checkouts_customer_email`,
	`CREATE INDEX IF NOT EXISTS orders_email_key ON orders (account_id, COALESCE(customer_email_key, LOWER(customer_email)), id)`,
	`DROP INDEX IF EXISTS orders_customer_email`,
}

// emailOwners are the statements that select who has an address as their own: the account, the id, within what the address is theirs alone,
// the address, its key, and since when.
var emailOwners = map[string]string{
	"customers": `SELECT account_id, id, '' AS within, email, email_key, created_at FROM customers WHERE email_key IS NOT NULL`,
	"leads":     `SELECT account_id, id, COALESCE(product_id, '') AS within, email, email_key, created_at FROM leads WHERE email_key IS NOT NULL`,
	"people":    `SELECT '' AS account_id, id, '' AS within, email, email_key, created_at FROM people WHERE email_key IS NOT NULL`,
}

// emailRedemptions are the statements that select uses of discounts by their buyer's address.
var emailRedemptions = []string{
	`SELECT r.account_id, r.id, r.buyer_key, c.customer_email AS email FROM discount_redemptions r JOIN checkouts c ON c.account_id = r.account_id AND c.id = r.checkout_id
	WHERE ` + fmt.Sprintf(isOdd, "c.customer_email"),
	`SELECT r.account_id, r.id, r.buyer_key, c.email FROM discount_redemptions r JOIN customers c ON c.account_id = r.account_id AND c.id = r.customer_id
	WHERE ` + fmt.Sprintf(isOdd, "c.email"),
}

// emailOwner is a row of emailOwners.
type emailOwner struct {
	Account string `db:"account_id"`
	ID      string `db:"id"`
	Within  string `db:"within"`
	Email   string `db:"email"`
	Key     string `db:"email_key"`
	Created int64  `db:"created_at"`
}

// emailKeys is the step migrations.EmailKeys, which SQL alone cannot do: it writes the keys of the addresses that there are as core.EmailKey makes
// them. On SQLite it is one transaction. On PostgreSQL each statement stands alone, and the step may be repeated.
func emailKeys(engine string) *goose.Migration {
	up := &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		return (&emailKeyStep{engine, tx}).run(ctx)
	}}
	if engine == core.PostgreSQL {
		up = &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error { return (&emailKeyStep{engine, db}).run(ctx) }}
	}
	return goose.NewGoMigration(migrations.EmailKeys, up, nil)
}

// emailKeyStep runs the step on a connection.
type emailKeyStep struct {
	engine string
	conn   interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (e *emailKeyStep) run(ctx context.Context) error {
	for _, table := range []string{"checkouts", "orders"} {
		if err := e.keySold(ctx, table); err != nil {
			return err
		}
	}
	for _, statement := range emailKeySchema {
		if err := e.exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := e.keyRedemptions(ctx); err != nil {
		return err
	}
	for _, table := range []string{"customers", "leads", "people"} {
		if err := e.keyOwners(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// keySold gives a table of sales the column of the key, and its rows theirs.
func (e *emailKeyStep) keySold(ctx context.Context, table string) error {
	column := `ALTER TABLE ` + table + ` ADD COLUMN IF NOT EXISTS customer_email_key TEXT`
	if e.engine == core.SQLite {
		column = strings.Replace(column, "IF NOT EXISTS ", "", 1)
	}
	if err := e.exec(ctx, column); err != nil {
		return err
	}
	rows, err := selected[struct {
		Account string `db:"account_id"`
		ID      string `db:"id"`
		Email   string `db:"customer_email"`
	}](ctx, e, `SELECT account_id, id, customer_email FROM `+table+` WHERE `+fmt.Sprintf(isOdd, "customer_email"))
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := e.exec(ctx, `UPDATE `+table+` SET customer_email_key = ? WHERE account_id = ? AND id = ?`, core.OddEmailKey(&row.Email), row.Account, row.ID); err != nil {
			return err
		}
	}
	return nil
}

// keyRedemptions gives the uses of discounts the hash of their buyer's new key, if they have that of the old one. The old key was the
// address in lower case.
func (e *emailKeyStep) keyRedemptions(ctx context.Context) error {
	hash := func(account, key string) string {
		sum := sha256.Sum256([]byte(account + "\x00" + key))
		return hex.EncodeToString(sum[:])
	}
	for _, query := range emailRedemptions {
		rows, err := selected[struct {
			Account  string `db:"account_id"`
			ID       string `db:"id"`
			BuyerKey string `db:"buyer_key"`
			Email    string `db:"email"`
		}](ctx, e, query)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.BuyerKey != hash(row.Account, strings.ToLower(row.Email)) {
				continue
			}
			key := hash(row.Account, core.EmailKey(row.Email))
			if err := e.exec(ctx, `UPDATE discount_redemptions SET buyer_key = ? WHERE account_id = ? AND id = ?`, key, row.Account, row.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyOwners gives the owners of addresses in a table their new keys. Of several whose addresses are the same the oldest gets the key.
// Each of the others keeps one that no address has, because of its space: see core.KeptApart.
func (e *emailKeyStep) keyOwners(ctx context.Context, table string) error {
	odd, err := selected[emailOwner](ctx, e, emailOwners[table]+` AND `+fmt.Sprintf(isOdd, "email"))
	if err != nil {
		return err
	}
	rivals := map[[3]string][]emailOwner{}
	for _, owner := range odd {
		same := [3]string{owner.Account, owner.Within, core.EmailKey(owner.Email)}
		rivals[same] = append(rivals[same], owner)
	}
	for same, owners := range rivals {
		holders, err := selected[emailOwner](ctx, e, `SELECT * FROM (`+emailOwners[table]+`) AS owners WHERE account_id = ? AND email_key = ? AND within = ?`, same[0], same[2], same[1])
		if err != nil {
			return err
		}
		for _, holder := range holders { // the address of one is not odd, if it is none of the owners
			if !slices.ContainsFunc(owners, func(o emailOwner) bool { return o.ID == holder.ID }) {
				owners = append(owners, holder)
			}
		}
		slices.SortFunc(owners, func(a, b emailOwner) int { return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID)) })
		for i, owner := range slices.Backward(owners) { // the oldest last, when nobody else has the key
			key := same[2]
			if i > 0 {
				key = core.KeptApart(key, owner.ID)
			}
			if err := e.setKey(ctx, table, owner, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// setKey stores the key of an owner.
func (e *emailKeyStep) setKey(ctx context.Context, table string, owner emailOwner, key string) error {
	if owner.Key == key {
		return nil
	}
	if table == "people" { // who are of no account
		return e.exec(ctx, `UPDATE people SET email_key = ? WHERE id = ?`, key, owner.ID)
	}
	return e.exec(ctx, `UPDATE `+table+` SET email_key = ? WHERE account_id = ? AND id = ?`, key, owner.Account, owner.ID)
}

func (e *emailKeyStep) exec(ctx context.Context, query string, args ...any) error {
	_, err := e.conn.ExecContext(ctx, e.rebind(query), args...)
	return err
}

func (e *emailKeyStep) rebind(query string) string { return (&DB{Engine: e.engine}).Rebind(query) }

// selected returns the rows of a query.
func selected[T any](ctx context.Context, e *emailKeyStep, query string, args ...any) ([]T, error) {
	rows, err := e.conn.QueryContext(ctx, e.rebind(query), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []T
	err = sqlx.StructScan(rows, &found)
	return found, errors.Join(err, rows.Err())
}
