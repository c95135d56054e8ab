package store

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/migrations"
)

// TestMigrate_TakesTypedAddressesFromWhomTheSellerNamed begins with customers who all own the address that they bear.
func TestMigrate_TakesTypedAddressesFromWhomTheSellerNamed(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree, Currency: "usd"})
		bought := func(c checkout.Checkout) string {
			made, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &c, Lines: pieceOf(v)})
			require.NoError(t, err)
			done := s.confirm(t, made).Checkout
			require.Equal(t, checkout.StatusCompleted, done.Status)
			return *done.CustomerID
		}
		seller := s.customer(t, "carol@example.com", ref("carol"))
		named := s.customer(t, "dan@example.com", ref("dan"))
		owns := map[string]bool{
			bought(checkout.Checkout{CustomerEmail: ref("Ada@example.com"), ExternalCustomerID: ref("ada")}):                           false,
			bought(checkout.Checkout{CustomerEmail: ref("bob@example.com"), ExternalCustomerID: ref("bob"), EmailVerified: true}):      true,
			bought(checkout.Checkout{CustomerEmail: ref("carol@example.com"), ExternalCustomerID: ref("carol")}):                       true,
			bought(checkout.Checkout{CustomerID: &named.ID}):                                                                           true,
			bought(checkout.Checkout{CustomerEmail: ref("eve@example.com")}):                                                           true,
			bought(checkout.Checkout{CustomerEmail: ref("typed@example.com"), ExternalCustomerID: ref("fay"), CustomerName: ref("F")}): true,
		}
		require.True(t, owns[seller.ID])
		fay, err := s.Customer.OfExternalID(t.Context(), s.account, "fay")
		require.NoError(t, err)
		_, err = s.UpdateCustomer(t.Context(), s.account, fay.ID, func(c *customer.Customer) { c.SetEmail("fay@example.com") }) // by the seller
		require.NoError(t, err)

		for _, statement := range []string{
			"ALTER TABLE checkouts ADD COLUMN verification_sent_at INTEGER", "ALTER TABLE checkouts ADD COLUMN verifications_sent INTEGER",
			"CREATE INDEX checkouts_verification ON checkouts (account_id, verification_sent_at)",
			"UPDATE customers SET email_key = LOWER(email)",
		} {
			_, err := s.db.Write.DB.Exec(statement)
			require.NoError(t, err, statement)
		}
		files, err := migrations.FS(s.Engine())
		require.NoError(t, err)
		step, err := fs.ReadFile(files, "00045_own_email.sql")
		require.NoError(t, err)
		_, err = s.db.Write.DB.Exec(string(step))
		require.NoError(t, err)
		for id, want := range owns {
			c, err := s.Customer.Get(t.Context(), s.account, id)
			require.NoError(t, err)
			require.Equal(t, want, c.EmailKey != nil, *c.Email)
		}
	})
}
