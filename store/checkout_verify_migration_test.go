package store

import (
	"database/sql"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/store/offer"
)

// TestMigrate_TellsWhomTheSellerNamed begins with subscriptions of which it was never asked who bought them.
func TestMigrate_TellsWhomTheSellerNamed(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 900, Interval: ref("month"), TrialDays: 14})
		ada := s.customer(t, "ada@example.com", nil)
		link, err := s.Checkout.CreateLink(t.Context(), s.account, checkout.Link{Active: true, PriceVariantIDs: core.JSONOf([]string{v.ID})})
		require.NoError(t, err)
		type old struct {
			checkout *checkout.Checkout
			method   string // as it was stored
			status   string
			named    bool
		}
		begun := func(c checkout.Checkout) *checkout.Checkout {
			made, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &c, Lines: []offer.NewLine{{PriceVariant: v.ID, Quantity: 1}}})
			require.NoError(t, err)
			return made
		}
		visited := func() *checkout.Checkout {
			c, err := s.Checkout.FollowLink(t.Context(), link.ID, checkout.FollowLink{})
			require.NoError(t, err)
			return s.change(t, c, func(d *checkout.Draft) { d.EnterEmail(ref("ada@example.com")) })
		}
		saved := `{"id":"pm_a","provider":"test","ref":"pm_card_visa","customer_ref":"ref","card":{"type":"card"}}`
		olds := map[string]old{
			"the customer was named":       {begun(checkout.Checkout{CustomerID: &ada.ID}), saved, "active", true},
			"and has no method":            {begun(checkout.Checkout{CustomerID: &ada.ID}), "null", "active", true},
			"an id of the seller's":        {begun(checkout.Checkout{CustomerEmail: ref("bob@example.com"), ExternalCustomerID: ref("bob")}), "null", "active", true},
			"a new customer typed":         {begun(checkout.Checkout{CustomerEmail: ref("eve@example.com")}), saved, "active", false},
			"through a link":               {visited(), saved, "trialing", false},
			"through a link, on the house": {visited(), "null", "trialing", false},
			"nobody asks any more":         {visited(), saved, "canceled", true},
		}
		for _, o := range olds {
			s.confirm(t, o.checkout)
			_, err := s.db.Write.DB.Exec(s.db.Rebind(`UPDATE subscriptions SET status = ?, payment_method = ? WHERE checkout_id = ?`), o.status, o.method, o.checkout.ID)
			require.NoError(t, err)
		}
		for _, table := range []string{"checkouts DROP COLUMN email_verified", "orders DROP COLUMN customer_verified", "subscriptions DROP COLUMN customer_verified"} {
			_, err := s.db.Write.DB.Exec("ALTER TABLE " + table)
			require.NoError(t, err)
		}
		files, err := migrations.FS(s.Engine())
		require.NoError(t, err)
		step, err := fs.ReadFile(files, "00037_proven_buyer.sql")
		require.NoError(t, err)
		_, err = s.db.Write.DB.Exec(string(step))
		require.NoError(t, err)
		for name, o := range olds {
			var verified bool
			var method sql.NullString
			row := s.db.Write.DB.QueryRow(s.db.Rebind(`SELECT customer_verified, payment_method FROM subscriptions WHERE checkout_id = ?`), o.checkout.ID)
			require.NoError(t, row.Scan(&verified, &method))
			require.Equal(t, o.named, verified, name)
			if o.method == "null" || o.named {
				require.Equal(t, o.method, method.String, name)
			} else {
				require.Equal(t, strings.Replace(saved, `"pm_a"`, "null", 1), method.String, name)
			}
		}
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM orders WHERE NOT customer_verified`), "it has been paid for")
	})
}
