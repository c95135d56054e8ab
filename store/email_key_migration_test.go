package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
)

// sharers are rows of an address each, as an older program stored them, the oldest first.
var sharers = []struct{ id, email string }{
	{"1", "Ada@Example.com"},
	{"2", "σίσυφος@example.com"},
	{"3", "ΣΊΣΥΦΟΣ@EXAMPLE.COM"},
	{"4", "jose\u0301@example.com"}, // older than whom has the key already
	{"5", "jos\u00e9@example.com"},
	{"6", "ada@münchen.example"},
	{"7", "ADA@XN--MNCHEN-3YA.example"},
	{"8", "straße@example.com"}, // is another than ss
	{"9", "Strasse@example.com"},
	{"10", "strasse@example.org"},
	{"11", "straße@example.org"},
	{"12", "a\u200bb@example.com"},
}

// ofBefore returns the statements that make the sharers in a table, with keys in lower case.
func ofBefore(table string) (statements []string) {
	for i, s := range sharers {
		at := strings.Repeat("1", i+1)
		key := strings.ToLower(s.email)
		switch table {
		case "customers":
			statements = append(statements, `INSERT INTO customers (account_id, id, email, email_key, tax_exempt, type, orders_count, total_spent, tags, metadata, created_at, updated_at)
				VALUES ('acct_a', 'cus_`+s.id+`', '`+s.email+`', '`+key+`', FALSE, 'lead', 0, '{}', '[]', '{}', `+at+`, 1)`)
		case "leads":
			statements = append(statements, `INSERT INTO leads (account_id, id, email, email_key, source, customer_id, status, consent, custom_field_data, tags, metadata, created_at, updated_at)
				VALUES ('acct_a', 'lead_`+s.id+`', '`+s.email+`', '`+key+`', 'api', 'cus_`+s.id+`', 'new', '{}', '{}', '[]', '{}', `+at+`, 1)`)
		case "people":
			statements = append(statements, `INSERT INTO people (id, email, email_key, password, is_operator, created_at, updated_at)
				VALUES ('person_`+s.id+`', '`+s.email+`', '`+key+`', '', FALSE, `+at+`, 1)`)
		}
	}
	return statements
}

func TestMigrate_WritesTheKeysOfAddresses(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		schemaBefore(t, s, 17)
		must := func(statements ...string) {
			for _, statement := range statements {
				_, err := s.db.Write.DB.Exec(statement)
				require.NoError(t, err, statement)
			}
		}
		for _, statement := range purchasesOfBefore {
			if s.Engine() == core.SQLite {
				statement = sqliteBlob(statement)
			}
			must(statement)
		}
		schemaBefore(t, s, 158)
		must(ofBefore("customers")...)
		must(ofBefore("leads")...)
		must(ofBefore("people")...)
		must(`UPDATE checkouts SET customer_email = 'ΣΊΣΥΦΟΣ@example.com' WHERE id = 'chk_a3'`, `UPDATE checkouts SET customer_email = 'Bob@example.com' WHERE id <> 'chk_a3'`,
			`UPDATE orders SET customer_email = 'ada@MÜNCHEN.example' WHERE id = 'order_a2'`)
		hash := core.HashOf("acct_a\x00" + strings.ToLower("ΣΊΣΥΦΟΣ@example.com"))
		must(`INSERT INTO discounts (account_id, id, name, type, percent_bps, amounts, duration, product_ids, price_variant_ids, rules, covered_product_ids, min_subtotal_amounts,
			first_purchase_only, redemptions_count, metadata, created_at, updated_at)
			VALUES ('acct_a', 'disc_a', 'Spring', 'percent', 1000, '{}', 'once', '[]', '[]', '[]', '[]', '{}', FALSE, 2, '{}', 1, 1)`)
		must(`INSERT INTO discount_redemptions (account_id, id, discount_id, checkout_id, buyer_key, currency, discount_amount, created_at, updated_at)
			VALUES ('acct_a', 'red_a', 'disc_a', 'chk_a3', '` + hash + `', 'usd', 0, 1, 1), ('acct_a', 'red_b', 'disc_a', 'chk_a1', 'other', 'usd', 0, 1, 1)`)
		require.NoError(t, s.db.Migrate(t.Context()))
		require.NoError(t, s.db.Migrate(t.Context()), "again changes nothing")

		for table, prefix := range map[string]string{"customers": "cus_", "leads": "lead_", "people": "person_"} {
			apart := func(key, id string) string { return core.KeptApart(key, prefix+id) }
			for id, want := range map[string]string{
				"1": "ada@example.com", "2": "σίσυφος@example.com", "3": apart("σίσυφος@example.com", "3"), "4": "josé@example.com", "5": apart("josé@example.com", "5"),
				"6": "ada@xn--mnchen-3ya.example", "7": apart("ada@xn--mnchen-3ya.example", "7"), "8": "straße@example.com", "9": "strasse@example.com",
				"10": "strasse@example.org", "11": "straße@example.org", "12": "a\u200bb@example.com",
			} {
				key, err := db.Get[string](t.Context(), s.db, `SELECT email_key FROM `+table+` WHERE id = ?`, prefix+id)
				require.NoError(t, err)
				require.Equal(t, want, *key, "%s %s", table, id)
			}
		}
		for _, found := range []struct {
			query, want string
		}{
			{`SELECT id FROM checkouts WHERE account_id = 'acct_a' AND ` + checkout.KeyOfEmail + ` = 'σίσυφος@example.com'`, "chk_a3"},
			{`SELECT id FROM orders WHERE account_id = 'acct_a' AND ` + checkout.KeyOfEmail + ` = 'ada@xn--mnchen-3ya.example'`, "order_a2"},
			{`SELECT id FROM orders WHERE account_id = 'acct_a' AND ` + checkout.KeyOfEmail + ` = 'bob@example.com'`, "order_a1"},
			{`SELECT id FROM discount_redemptions WHERE account_id = 'acct_a' AND buyer_key = '` + discount.BuyerKey("acct_a", "σίσυφος@example.com") + `'`, "red_a"},
			{`SELECT id FROM discount_redemptions WHERE account_id = 'acct_a' AND buyer_key = 'other'`, "red_b"},
		} {
			ids, err := db.Select[string](t.Context(), s.db, found.query)
			require.NoError(t, err)
			require.Equal(t, []string{found.want}, ids, found.query)
		}

		named := map[string]bool{}
		broken, err := s.Audit.Check(t.Context(), aDay)
		require.NoError(t, err)
		for _, v := range broken {
			if strings.Contains(v.Promise, "address") {
				named[v.Object] = true
			}
		}
		want := map[string]bool{}
		for _, prefix := range []string{"cus_", "lead_", "person_"} {
			for _, id := range []string{"2", "3", "4", "5", "6", "7"} {
				want[prefix+id] = true
			}
		}
		require.Equal(t, want, named)
	})
}

// A server of an older version writes keys in its own way, in which ß is ss. They are written anew, and what is right stays.
func TestRepair_WritesWrongKeysAnew(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		must := func(query string, args ...any) {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(query), args...)
			require.NoError(t, err)
		}
		hash := func(key string) string { return core.HashOf(s.account + "\x00" + key) }
		older, younger := s.customer(t, "straße@example.com", nil), s.customer(t, "strasse@example.com", nil)
		bought := s.confirm(t, s.checkout(t, s.onSale(t, fixedPrice(1900)))).Checkout
		s.coded(t, "HALF", func(*discount.Discount) {})
		require.Zero(t, s.mended(t), "nothing is wrong")

		must(`UPDATE customers SET email_key = ? WHERE id = ?`, core.KeptApart("strasse@example.com", younger.ID), younger.ID)
		must(`UPDATE customers SET email_key = 'strasse@example.com', created_at = 1 WHERE id = ?`, older.ID)
		must(`UPDATE checkouts SET customer_email = 'Straße@Example.com', customer_email_key = 'strasse@example.com' WHERE id = ?`, bought.ID)
		must(`UPDATE orders SET customer_email = 'straße@example.com', customer_email_key = NULL WHERE id = ?`, *bought.OrderID)
		must(`INSERT INTO discount_redemptions (account_id, id, discount_id, checkout_id, buyer_key, currency, discount_amount, created_at, updated_at)
			VALUES (?, 'red_a', (SELECT id FROM discounts), ?, ?, 'usd', 0, 1, 1)`, s.account, bought.ID, hash("strasse@example.com"))
		must(`INSERT INTO trials (account_id, id, product_id, buyer_key, checkout_id, created_at, updated_at) VALUES (?, 'trial_a', 'prod_a', ?, ?, 1, 1)`,
			s.account, hash("strasse@example.com"), bought.ID)
		wrong, err := s.WrongKeys(t.Context())
		require.NoError(t, err)
		require.Equal(t, 6-1, wrong, "of the younger nothing is wrong but that it is kept apart")
		require.Equal(t, wrong, s.mended(t))
		for query, want := range map[string]string{
			`SELECT email_key FROM customers WHERE id = '` + older.ID + `'`:              "straße@example.com",
			`SELECT email_key FROM customers WHERE id = '` + younger.ID + `'`:            "strasse@example.com",
			`SELECT customer_email_key FROM checkouts WHERE id = '` + bought.ID + `'`:    "straße@example.com",
			`SELECT customer_email_key FROM orders WHERE id = '` + *bought.OrderID + `'`: "straße@example.com",
			`SELECT buyer_key FROM discount_redemptions WHERE id = 'red_a'`:              discount.BuyerKey(s.account, "straße@example.com"),
			`SELECT buyer_key FROM trials WHERE id = 'trial_a'`:                          discount.BuyerKey(s.account, "straße@example.com"),
		} {
			got, err := db.Get[string](t.Context(), s.db, query)
			require.NoError(t, err)
			require.Equal(t, want, *got, query)
		}
		must(`UPDATE checkouts SET customer_email = 'ada@example.com' WHERE id = ?`, bought.ID)
		require.Equal(t, 1, s.mended(t), "the key of an address that it had")
		require.Equal(t, 1, s.count(t, `SELECT COUNT(*) FROM checkouts WHERE account_id = ? AND `+checkout.KeyOfEmail+` = 'ada@example.com'`, s.account))
		require.Zero(t, s.mended(t))
	})
}

// mended is how many keys a repair writes.
func (s *shop) mended(t *testing.T) int {
	t.Helper()
	done, err := s.Repair(t.Context())
	require.NoError(t, err)
	return done.Addresses
}

// The one who is younger can be merged into the older, and the other way round. Who is left has the address.
func TestMergeCustomer_EndsWhatTwoShare(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for _, intoYounger := range []bool{false, true} {
			older := s.customer(t, "σίσυφος@example.com", nil)
			younger := s.customer(t, "sisyphos@example.com", nil)
			_, err := s.db.Write.DB.Exec(s.db.Rebind(`UPDATE customers SET email = ?, email_key = ? WHERE id = ?`), "ΣΊΣΥΦΟΣ@example.com", core.KeptApart(*older.EmailKey, younger.ID), younger.ID)
			require.NoError(t, err)
			kept, from := older, younger
			if intoYounger {
				kept, from = younger, older
			}
			_, err = s.MergeCustomer(t.Context(), s.account, kept.ID, from.ID)
			require.NoError(t, err)
			found, _, err := s.Customer.List(t.Context(), s.account, customer.List{Page: core.Page{Limit: 10}, Email: "Σίσυφος@example.com"})
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Equal(t, kept.ID, found[0].ID)
			_, err = s.DeleteCustomer(t.Context(), s.account, kept.ID, false)
			require.NoError(t, err)
		}
	})
}
