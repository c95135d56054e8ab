package store

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/tenant"
)

// TestMigrate_KnowsWhoHadATrial begins with trials of which nobody has written down whose they are.
func TestMigrate_KnowsWhoHadATrial(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 900, Interval: ref("month"), TrialDays: 14})
		ada, bob := s.customer(t, "ada@example.com", nil), s.customer(t, "bob@example.com", nil)
		of := func(c checkout.Checkout) *checkout.Checkout {
			made, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &c, Lines: []offer.NewLine{{PriceVariant: v.ID, Quantity: 1}}})
			require.NoError(t, err)
			return made
		}
		for range 2 {
			s.confirm(t, of(checkout.Checkout{CustomerID: &ada.ID}))
		}
		s.confirm(t, of(checkout.Checkout{CustomerEmail: ref("bob@example.com")})) // anybody may have typed it
		for _, change := range []string{"DROP TABLE trials", "ALTER TABLE accounts DROP COLUMN trial_once_per_customer", "ALTER TABLE line_items DROP COLUMN trial_used"} {
			_, err := s.db.Write.DB.Exec(change)
			require.NoError(t, err)
		}
		files, err := migrations.FS(s.Engine())
		require.NoError(t, err)
		step, err := fs.ReadFile(files, "00163_trial.sql")
		require.NoError(t, err)
		_, err = s.db.Write.DB.Exec(string(step))
		require.NoError(t, err)
		_, err = s.Tenant.UpdateAccount(t.Context(), s.account, func(a *tenant.AccountChange) { a.TrialOncePerCustomer = true })
		require.NoError(t, err)
		require.EqualValues(t, 900, of(checkout.Checkout{CustomerID: &ada.ID}).AmountDueNow)
		require.Zero(t, of(checkout.Checkout{CustomerID: &bob.ID}).AmountDueNow)
	})
}
