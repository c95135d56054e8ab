package db

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
)

// isOdd is the condition that the key of an address may be another text than the address in lower case. Each %[1]s in it stands for the address.
const isOdd = `(octet_length(%[1]s) <> length(%[1]s) OR LOWER(%[1]s) LIKE '%%xn--%%')`

// emailKeySchema has checkouts and orders found by the key of their address, where that is not the address in lower case.
var emailKeySchema = []string{
	`CREATE INDEX IF NOT EXISTS checkouts_email_key ON checkouts (account_id, COALESCE(customer_email_key, LOWER(customer_email)), id)`,
	`DROP INDEX IF EXISTS checkouts_customer_email`,
	`CREATE INDEX IF NOT EXISTS orders_email_key ON orders (account_id, COALESCE(customer_email_key, LOWER(customer_email)), id)`,
	`DROP INDEX IF EXISTS orders_customer_email`,
}

// emailOwners are the statements that select who has an address as their own. They return the account, the id, within what the address is theirs
// alone, the address, its key, and since when.
var emailOwners = map[string]string{
	"customers": `SELECT account_id, id, '' AS within, email, email_key, created_at FROM customers WHERE email_key IS NOT NULL`,
	"leads":     `SELECT account_id, id, COALESCE(product_id, '') AS within, email, email_key, created_at FROM leads WHERE email_key IS NOT NULL`,
	"people":    `SELECT '' AS account_id, id, '' AS within, email, email_key, created_at FROM people WHERE email_key IS NOT NULL`,
}

// buyersByEmail returns the statement that selects the rows of a table that have the hash of an address, by their checkout or their customer.
func buyersByEmail(table string) string {
	return `
		SELECT r.account_id, r.id, r.buyer_key, c.customer_email AS email FROM ` + table + ` r JOIN checkouts c ON c.account_id = r.account_id AND c.id = r.checkout_id
		WHERE ` + fmt.Sprintf(isOdd, "c.customer_email") + `
		UNION SELECT r.account_id, r.id, r.buyer_key, c.email FROM ` + table + ` r JOIN customers c ON c.account_id = r.account_id AND c.id = r.customer_id
		WHERE ` + fmt.Sprintf(isOdd, "c.email")
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
// them.
func emailKeys(engine string) *goose.Migration {
	up := &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		return (&dataStep{engine: engine, conn: tx}).writeKeys(ctx)
	}}
	if engine == core.PostgreSQL {
		up = &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
			return (&dataStep{engine: engine, conn: db}).writeKeys(ctx)
		}}
	}
	return goose.NewGoMigration(migrations.EmailKeys, up, nil)
}

// writeKeys is the step.
func (s *dataStep) writeKeys(ctx context.Context) error {
	for _, table := range []string{"checkouts", "orders"} {
		column := `ALTER TABLE ` + table + ` ADD COLUMN IF NOT EXISTS customer_email_key TEXT`
		if s.engine == core.SQLite {
			column = strings.Replace(column, "IF NOT EXISTS ", "", 1)
		}
		if err := s.exec(ctx, column); err != nil {
			return err
		}
		if err := s.keySold(ctx, table); err != nil {
			return err
		}
	}
	for _, statement := range emailKeySchema {
		if err := s.exec(ctx, statement); err != nil {
			return err
		}
	}
	return s.keyPeople(ctx, "discount_redemptions")
}

// mendKeys writes the keys anew that are missing or wrong.
func (s *dataStep) mendKeys(ctx context.Context) error {
	for _, table := range []string{"checkouts", "orders"} {
		if err := s.keySold(ctx, table); err != nil {
			return err
		}
	}
	return s.keyPeople(ctx, "discount_redemptions", "trials")
}

// keyPeople gives the hashes of addresses in these tables, and the owners of addresses, their keys.
func (s *dataStep) keyPeople(ctx context.Context, hashed ...string) error {
	for _, table := range hashed {
		if err := s.keyBuyers(ctx, table); err != nil {
			return err
		}
	}
	for _, table := range []string{"customers", "leads", "people"} {
		if err := s.keyOwners(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// keySold gives the rows of a table of sales their keys.
func (s *dataStep) keySold(ctx context.Context, table string) error {
	var account, id string
	for {
		rows, err := selected[struct {
			Account string  `db:"account_id"`
			ID      string  `db:"id"`
			Email   *string `db:"customer_email"`
			Key     *string `db:"customer_email_key"`
		}](ctx, s, `
			SELECT account_id, id, customer_email, customer_email_key FROM `+table+`
			WHERE (customer_email_key IS NOT NULL OR `+fmt.Sprintf(isOdd, "customer_email")+`) AND (account_id, id) > (?, ?) ORDER BY account_id, id LIMIT ?`, account, id, stepBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			key := core.OddEmailKey(row.Email)
			if core.Deref(key) == core.Deref(row.Key) {
				continue
			}
			s.done.Addresses++
			if err := s.exec(ctx, `UPDATE `+table+` SET customer_email_key = ? WHERE account_id = ? AND id = ? AND COALESCE(customer_email, '') = ?`,
				key, row.Account, row.ID, core.Deref(row.Email)); err != nil {
				return err
			}
		}
		account, id = rows[len(rows)-1].Account, rows[len(rows)-1].ID
	}
}

// keysBefore are the keys that an address had in earlier versions: the address in lower case, and one in which ß was ss.
func keysBefore(email string) []string {
	key := core.EmailKey(email)
	local, domain := email, ""
	if at := strings.LastIndexByte(email, '@'); at >= 0 {
		local, domain = email[:at], key[strings.LastIndexByte(key, '@'):]
	}
	folded := norm.NFC.String(cases.Fold().String(strings.ToLower(norm.NFD.String(local))))
	return []string{strings.ToLower(email), folded + domain}
}

// keyBuyers gives the rows of a table that have the hash of one of keysBefore that of the key.
func (s *dataStep) keyBuyers(ctx context.Context, table string) error {
	hash := func(account, key string) string {
		sum := sha256.Sum256([]byte(account + "\x00" + key))
		return hex.EncodeToString(sum[:])
	}
	rows, err := selected[struct {
		Account  string `db:"account_id"`
		ID       string `db:"id"`
		BuyerKey string `db:"buyer_key"`
		Email    string `db:"email"`
	}](ctx, s, buyersByEmail(table))
	if err != nil {
		return err
	}
	for _, row := range rows {
		key := hash(row.Account, core.EmailKey(row.Email))
		isBefore := func(before string) bool { return hash(row.Account, before) == row.BuyerKey }
		if key == row.BuyerKey || !slices.ContainsFunc(keysBefore(row.Email), isBefore) {
			continue
		}
		update, args := `UPDATE `+table+` SET buyer_key = ? WHERE account_id = ? AND id = ?`, []any{key, row.Account, row.ID}
		if table == "trials" { // of a product the buyer has one
			update += ` AND NOT EXISTS (SELECT 1 FROM trials t WHERE t.account_id = trials.account_id AND t.product_id = trials.product_id AND t.buyer_key = ?)`
			args = append(args, key)
		}
		s.done.Addresses++
		if err := s.exec(ctx, update, args...); err != nil {
			return err
		}
	}
	return nil
}

// keyOwners gives the owners of addresses in a table their keys. Of several whose addresses are the same the oldest gets the key.
// Each of the others keeps one that no address has, because of its space: see core.KeptApart.
func (s *dataStep) keyOwners(ctx context.Context, table string) error {
	odd, err := selected[emailOwner](ctx, s, emailOwners[table]+` AND (`+fmt.Sprintf(isOdd, "email")+` OR email_key LIKE '% %')`)
	if err != nil {
		return err
	}
	rivals := map[[3]string][]emailOwner{}
	for _, owner := range odd {
		key := core.EmailKey(owner.Email)
		if apart := core.KeptApart(key, owner.ID); owner.Key != key && owner.Key != apart { // first, so that nobody has the key of another address
			if err := s.setKey(ctx, table, owner, apart); err != nil {
				return err
			}
			owner.Key = apart
			s.done.Addresses++
		}
		same := [3]string{owner.Account, owner.Within, key}
		rivals[same] = append(rivals[same], owner)
	}
	for same, owners := range rivals {
		holders, err := selected[emailOwner](ctx, s, `SELECT * FROM (`+emailOwners[table]+`) AS owners WHERE account_id = ? AND email_key = ? AND within = ?`, same[0], same[2], same[1])
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
			if err := s.setKey(ctx, table, owner, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// setKey stores the key of an owner.
func (s *dataStep) setKey(ctx context.Context, table string, owner emailOwner, key string) error {
	if owner.Key == key {
		return nil
	}
	if table == "people" { // who are of no account
		return s.exec(ctx, `UPDATE people SET email_key = ? WHERE id = ?`, key, owner.ID)
	}
	return s.exec(ctx, `UPDATE `+table+` SET email_key = ? WHERE account_id = ? AND id = ?`, key, owner.Account, owner.ID)
}
