package store

import (
	"context"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/store/order"
)

// schemaBefore migrates an empty database up to a version, as an older program left it.
func schemaBefore(t *testing.T, s *Store, version int64) {
	t.Helper()
	files, err := migrations.FS(s.Engine())
	require.NoError(t, err)
	dialect := goose.DialectSQLite3
	if s.Engine() == core.PostgreSQL {
		dialect = goose.DialectPostgres
	}
	provider, err := goose.NewProvider(dialect, s.db.Write.DB.DB, files, goose.WithTableName(db.VersionTable), goose.WithDisableGlobalRegistry(true))
	require.NoError(t, err)
	_, err = provider.UpTo(t.Context(), version-1)
	require.NoError(t, err)
}

// The statements of two purchases of one guide as schema 16 stored them, and of a checkout that is still open.
var purchasesOfBefore = []string{
	`INSERT INTO accounts (id, name, handle, email, default_currency, timezone, locale, plan, remove_branding, checkout_requires_terms, created_at, updated_at)
	VALUES ('acct_a', 'Ada', 'ada', 'ada@example.com', 'usd', 'UTC', 'en', 'free', FALSE, FALSE, 1, 1)`,
	`INSERT INTO products (account_id, id, name, slug, description, status, type, visibility, images, custom_fields, deliverables, price_variant_ids,
		default_price_variant_id, price_min_amount, price_max_amount, price_currency, has_recurring, sales_count, metadata, event_seq, created_at, updated_at)
	VALUES ('acct_a', 'prod_a', 'Guide', 'guide', NULL, 'active', 'digital', 'public', '[]', '[]', '[]', '["price_a"]', 'price_a', 1900, 1900, 'usd', FALSE, 3, '{}', 1, 1, 1)`,
	`INSERT INTO price_variants (account_id, id, product_id, type, amount_type, amount, currency, currency_amounts, trial_days, setup_fee_amount, quantity_min,
		reserved_count, sold_count, position, status, metadata, created_at, updated_at)
	VALUES ('acct_a', 'price_a', 'prod_a', 'one_time', 'fixed', 1900, 'usd', '{}', 0, 0, 1, 0, 3, 0, 'active', '{}', 1, 1)`,
	`INSERT INTO customers (account_id, id, email, email_key, tax_exempt, type, orders_count, total_spent, tags, metadata, created_at, updated_at)
	VALUES ('acct_a', 'cus_a', 'bob@example.com', 'bob@example.com', FALSE, 'customer', 2, '{"usd":5700}', '[]', '{}', 1, 1)`,
	checkoutOfBefore + `('acct_a', 'chk_a1', '', '["li_a1"]', 'usd', 1900, 0, 1900, 0, 1900, 1900, 'completed', 'paid', TRUE, '{}', 'order_a1', 'cus_a', 9, '{}', 1, 1, 1)`,
	checkoutOfBefore + `('acct_a', 'chk_a2', '', '["li_a2"]', 'usd', 3800, 0, 3800, 0, 3800, 3800, 'completed', 'paid', TRUE, '{}', 'order_a2', 'cus_a', 9, '{}', 1, 1, 1)`,
	checkoutOfBefore + `('acct_a', 'chk_a3', '', '["li_a3"]', 'usd', 1900, 0, 1900, 0, 1900, 1900, 'open', 'unpaid', TRUE, '{}', NULL, NULL, 9, '{}', 1, 1, 1)`,
	lineOfBefore + `('acct_a', 'li_a1', 'chk_a1', 'order_a1', 'prod_a', 'price_a', 'Guide', 0, 1, 1900, 'usd', 1900, 0, 1900, 0, 1900, 1, 1)`,
	lineOfBefore + `('acct_a', 'li_a2', 'chk_a2', 'order_a2', 'prod_a', 'price_a', 'Guide', 0, 2, 1900, 'usd', 3800, 0, 3800, 0, 3800, 1, 1)`,
	lineOfBefore + `('acct_a', 'li_a3', 'chk_a3', NULL, 'prod_a', 'price_a', 'Guide', 0, 1, 1900, 'usd', 1900, 0, 1900, 0, 1900, 1, 1)`,
	orderOfBefore + `('acct_a', 'order_a1', 1, 'paid', 'purchase', 'cus_a', 'bob@example.com', '["li_a1"]', '["pay_a1"]', 'chk_a1', 'usd', 1900, 0, 1900, 0, 1900, 1900, 0, 0, '[]', 'Bob', '{}', 5, '{}', 2, 5, 5)`,
	orderOfBefore + `('acct_a', 'order_a2', 2, 'paid', 'purchase', 'cus_a', 'bob@example.com', '["li_a2"]', '["pay_a2"]', 'chk_a2', 'usd', 3800, 0, 3800, 0, 3800, 3800, 0, 0, '[]', 'Bob', '{}', 6, '{}', 2, 6, 6)`,
	paymentOfBefore + `('acct_a', 'pay_a1', 'chk_a1', 'order_a1', 'succeeded', 1900, 'usd', 'test', 'ch_1', 'pm_card_visa', '{}', 0, 5, 5)`,
	paymentOfBefore + `('acct_a', 'pay_a2', 'chk_a2', 'order_a2', 'succeeded', 3800, 'usd', 'test', 'ch_2', 'pm_card_visa', '{}', 0, 6, 6)`,
	paymentOfBefore + `('acct_a', 'pay_a3', 'chk_a3', NULL, 'failed', 1900, 'usd', 'test', 'ch_3', 'pm_card_visa', '{}', 0, 6, 6)`,
	`INSERT INTO counters (account_id, name, value) VALUES ('acct_a', 'order_number', 2)`,
}

const (
	checkoutOfBefore = `INSERT INTO checkouts (account_id, id, client_secret, line_item_ids, currency, subtotal_amount, discount_amount, net_amount, tax_amount,
		total_amount, amount_due_now, status, payment_status, payment_method_required, custom_field_data, order_id, customer_id, expires_at, metadata, event_seq, created_at, updated_at) VALUES `
	lineOfBefore = `INSERT INTO line_items (account_id, id, checkout_id, order_id, product_id, price_variant_id, product_name, position, quantity, unit_amount, currency,
		subtotal_amount, discount_amount, net_amount, tax_amount, total_amount, created_at, updated_at) VALUES `
	orderOfBefore = `INSERT INTO orders (account_id, id, number, status, billing_reason, customer_id, customer_email, line_item_ids, payment_ids, checkout_id, currency,
		subtotal_amount, discount_amount, net_amount, tax_amount, total_amount, paid_amount, refunded_amount, refunded_tax_amount, tax_breakdown, billing_name,
		custom_field_data, paid_at, metadata, event_seq, created_at, updated_at) VALUES `
	paymentOfBefore = `INSERT INTO payments (account_id, id, checkout_id, order_id, status, amount, currency, provider, provider_ref, method_ref, payment_method,
		lease_until, created_at, updated_at) VALUES `
)

// The statements of a refund as schema 26 stored it.
var refundOfBefore = []string{
	`INSERT INTO refunds (account_id, id, order_id, payment_id, customer_id, amount, tax_amount, currency, status, reason, revoke_access, provider, lease_until, metadata,
		created_at, updated_at) VALUES ('acct_a', 're_a1', 'order_a1', 'pay_a1', 'cus_a', 1900, 0, 'usd', 'succeeded', 'customer_request', TRUE, 'test', 0, '{}', 7, 7)`,
	`UPDATE orders SET status = 'refunded', refunded_amount = 1900, refund_ids = '["re_a1"]' WHERE id = 'order_a1'`,
}

func TestMigrate_GivesOrdersOfBeforeTheirInvoices(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		schemaBefore(t, s, 17)
		for _, statement := range purchasesOfBefore {
			if s.Engine() == core.SQLite { // the secret is a blob
				statement = sqliteBlob(statement)
			}
			_, err := s.db.Write.DB.Exec(statement)
			require.NoError(t, err, statement)
		}

		schemaBefore(t, s, 27)
		for _, statement := range refundOfBefore {
			_, err := s.db.Write.DB.Exec(statement)
			require.NoError(t, err, statement)
		}
		require.NoError(t, s.db.Migrate(t.Context()))

		broken, err := s.Audit.Check(t.Context(), aDay)
		require.NoError(t, err)
		require.Empty(t, broken)
		invoices, err := db.Select[invoice.Invoice](t.Context(), s.db, invoice.Columns.SelectSQL+` WHERE account_id = ? ORDER BY sequence`, "acct_a")
		require.NoError(t, err)
		require.Len(t, invoices, 2)
		for n, i := range invoices {
			require.Equal(t, []string{"INV-000001", "INV-000002"}[n], *i.Number)
			require.Equal(t, []string{"inv_a1", "inv_a2"}[n], i.ID)
			require.Equal(t, invoice.StatusPaid, i.Status)
			require.Equal(t, []int64{1900, 3800}[n], i.AmountPaid)
			require.Equal(t, "Bob", *i.CustomerName)
			require.Equal(t, []int64{1900, 0}[n], i.CreditNotes)
			require.Equal(t, []string{[]string{"pay_a1", "pay_a2"}[n]}, i.PaymentIDs.V)
			require.Equal(t, [][]string{{"re_a1"}, nil}[n], i.RefundIDs.V)
			lines, err := s.Invoice.Lines(t.Context(), "acct_a", i.ID)
			require.NoError(t, err)
			require.Len(t, lines, 1)
			require.Equal(t, lineitem.KindPrice, lines[0].Kind)
		}
		events, err := db.Get[int](t.Context(), s.db, `SELECT count(*) FROM events`)
		require.NoError(t, err)
		require.Zero(t, *events, "what happened before is no news")

		b, err := invoice.NewBill(invoice.Placement{
			Order: &order.Order{AccountID: "acct_a", BillingReason: order.BillingReasonManual, Currency: "usd"}, Customer: &customer.Customer{ID: "cus_a"},
		}, s.Now())
		require.NoError(t, err)
		_, err = db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, s.Invoice.NumberBill(ctx, u, b) })
		require.NoError(t, err)
		require.EqualValues(t, 3, b.Order.Number)
		require.Equal(t, "INV-000003", *b.Invoice.Number, "the numbers go on")
	})
}

func sqliteBlob(statement string) string {
	return strings.NewReplacer(`'chk_a1', ''`, `'chk_a1', X''`, `'chk_a2', ''`, `'chk_a2', X''`, `'chk_a3', ''`, `'chk_a3', X''`).Replace(statement)
}
