package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestDoctor_SaysWhichRowBreaksWhichPromise(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		shop := newShop(t, url)
		product := shop.sell(t)

		out, err := tillwright(t, t.TempDir(), "doctor", "--database-url", url)
		require.NoError(t, err, "while the server is at work")
		require.Regexp(t, `^All \d\d+ promises hold\.\n$`, out)

		db := database.Behind(t, url)
		_, err = db.Exec(`UPDATE products SET status = 'active'`)
		require.NoError(t, err)

		out, err = tillwright(t, t.TempDir(), "doctor", "--database-url", url)
		require.ErrorIs(t, err, errUnsound)
		require.Contains(t, out, product.ID+" of account "+shop.account.Account+": an active product has an active price variant")
		require.Equal(t, 1, strings.Count(out, "\n"), out)
		out, err = tillwright(t, t.TempDir(), "doctor", "--database-url", url, "--json")
		require.ErrorIs(t, err, errUnsound)
		require.Contains(t, out, `"id": "`+product.ID+`"`)
		_, err = db.Exec(`UPDATE products SET status = 'draft'`)
		require.NoError(t, err)
	})
}

// What a server of an older version did beside this one is set right when that is asked for, and the doctor says when.
func TestDoctor_RepairsWhatAnOldServerLeftBehind(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		shop := newShop(t, url)
		customer, err := shop.Customers.Create(t.Context(), &sdk.CustomerCreate{Email: "straße@example.com"})
		require.NoError(t, err)
		db := database.Behind(t, url)
		_, err = db.Exec(`UPDATE customers SET balance = '{"usd":-500}', email_key = 'strasse@example.com'`)
		require.NoError(t, err)

		out, err := tillwright(t, t.TempDir(), "doctor", "--database-url", url)
		require.ErrorIs(t, err, errUnsound)
		require.Contains(t, out, customer.ID+" of account "+shop.account.Account+": a balance is the sum of what changed it")
		require.Contains(t, out, "has changed balances, orders, products, pictures or letters of news. Stop it, and run `tillwright doctor --repair`.")
		require.Contains(t, out, "wrote keys of addresses, 1 in all")
		out, err = tillwright(t, t.TempDir(), "doctor", "--repair", "--database-url", url)
		require.NoError(t, err, out)
		require.Contains(t, out, "Repaired: orders 0, balances 1, keys of addresses 1, products 0, pictures 0, news 0.")
		out, err = tillwright(t, t.TempDir(), "doctor", "--repair", "--json", "--database-url", url)
		require.NoError(t, err)
		require.Contains(t, out, "Repaired: orders 0, balances 0, keys of addresses 0, products 0, pictures 0, news 0.")
		found, err := shop.Customers.List(t.Context(), &sdk.ListCustomersParams{Email: new("Straße@example.com")})
		require.NoError(t, err)
		require.Len(t, found.Data, 1)

		product, err := shop.Products.Create(t.Context(), &sdk.ProductCreate{
			Name: "Guide", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1900)), Currency: new("usd")}},
		}, sdk.Expand("price_variants"))
		require.NoError(t, err)
		checkout, err := shop.Checkouts.Create(t.Context(), &sdk.CheckoutCreate{Customer: &customer.ID, LineItems: []sdk.CheckoutLine{{PriceVariant: product.PriceVariants[0].Object.ID}}})
		require.NoError(t, err)
		_, err = shop.Checkouts.Confirm(t.Context(), checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}})
		require.NoError(t, err)
		_, err = db.Exec(`UPDATE orders SET refund_provider = NULL`)
		require.NoError(t, err)
		_, err = db.Exec(`UPDATE products SET delivered_files = 1`)
		require.NoError(t, err)
		out, err = tillwright(t, t.TempDir(), "doctor", "--database-url", url)
		require.ErrorIs(t, err, errUnsound)
		require.Contains(t, out, ": an order knows who can give back what was paid for it")
		require.Contains(t, out, product.ID+" of account "+shop.account.Account+": a product says how many things of each kind it delivers")
		require.Contains(t, out, "run `tillwright doctor --repair`.")
		out, err = tillwright(t, t.TempDir(), "doctor", "--repair", "--database-url", url)
		require.NoError(t, err, out)
		require.Contains(t, out, "Repaired: orders 1, balances 0, keys of addresses 0, products 1, pictures 0, news 0.")
	})
}

// The server has one secret key, and the doctor makes another in a directory of its own.
func TestDoctor_SaysWhatItsKeyDoesNotOpen(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		shop := newShop(t, url)
		endpoint, err := shop.WebhookEndpoints.Create(t.Context(), &sdk.WebhookEndpointCreate{URL: "http://127.0.0.1:9/", EnabledEvents: []string{"*"}})
		require.NoError(t, err)
		out, err := tillwright(t, t.TempDir(), "doctor", "--database-url", url)
		require.ErrorIs(t, err, errUnsound)
		require.Equal(t, endpoint.ID+" of account "+shop.account.Account+": what is sealed opens with the secret keys\n", out)
	})
}

func TestDoctor_NeedsTheSchemaOfTheProgram(t *testing.T) {
	t.Parallel()
	_, err := tillwright(t, t.TempDir(), "doctor", "--database-url", database.Empty(t, "postgres"))
	require.ErrorContains(t, err, "run `tillwright migrate`")
}

// A role that does not own the tables cannot have them analysed: their owner is told to.
func TestDoctor_SaysWhichTablesToAnalyse(t *testing.T) {
	t.Parallel()
	address := database.URL(t, "postgres")
	harness.Boot(t, address, harness.WithoutStatistics()) // which would do what the owner is told to
	db := database.Behind(t, address)
	const role = "doctor_test_guest"
	for _, statement := range []string{
		`ALTER TABLE idempotency_keys SET (autovacuum_enabled = false)`,
		`INSERT INTO idempotency_keys (account_id, key, fingerprint, token, effect, lease_until, expires_at)
			SELECT '', 'key ' || n, '', repeat('token', 20), '', 0, 0 FROM generate_series(1, 3000) AS numbers(n)`,
		`CREATE ROLE ` + role + ` LOGIN PASSWORD 'guest'`,
		`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ` + role,
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	defer func() {
		_, err := db.Exec(`DROP OWNED BY ` + role + `; DROP ROLE ` + role)
		assert.NoError(t, err)
	}()
	guest, err := url.Parse(address)
	require.NoError(t, err)
	guest.User = url.UserPassword(role, "guest")
	out, err := tillwright(t, t.TempDir(), "doctor", "--database-url", guest.String())
	require.NoError(t, err)
	assert.Contains(t, out, "Run `ANALYZE idempotency_keys` as its owner")
	assert.Contains(t, out, "promises hold")
	out, err = tillwright(t, t.TempDir(), "doctor", "--database-url", guest.String(), "--json")
	require.NoError(t, err)
	assert.Contains(t, out, "`ANALYZE idempotency_keys`")
	out, err = tillwright(t, t.TempDir(), "doctor", "--database-url", address)
	require.NoError(t, err)
	assert.NotContains(t, out, "ANALYZE", "the owner's server does it by itself")
}

// An index whose building was interrupted is there, and is not used. Nor is what an interrupted REINDEX leaves beside it.
func TestDoctor_SaysWhichIndexesAreNotUsed(t *testing.T) {
	t.Parallel()
	address := database.URL(t, "postgres")
	db := database.Behind(t, address)
	interruptIndex(t, db)
	_, err := db.Exec(`CREATE INDEX customers_typed_ccnew1 ON customers (id); UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = CAST('customers_typed_ccnew1' AS regclass)`)
	require.NoError(t, err)
	out, err := tillwright(t, t.TempDir(), "doctor", "--database-url", address)
	require.NoError(t, err)
	assert.Contains(t, out, "does not use the index customers_typed:")
	assert.Contains(t, out, "does not use the index customers_typed_ccnew1:")
	_, err = tillwright(t, t.TempDir(), "migrate", "--database-url", address)
	require.NoError(t, err)
	assert.Equal(t, "customers_typed valid", indexesLike(t, db, "customers_typed%"))
	out, err = tillwright(t, t.TempDir(), "doctor", "--database-url", address)
	require.NoError(t, err)
	assert.NotContains(t, out, "index")
}
