package store

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
	"github.com/tillwright/tillwright/store/tenant"
)

// TestMigrate_CountsThePurchasesOfLinks begins with a link that three have opened, of whom one has bought.
func TestMigrate_CountsThePurchasesOfLinks(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string) {
		s := openStore(t, url)
		require.NoError(t, s.db.Migrate(t.Context()))
		account, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada", Email: "ada@example.com"})
		require.NoError(t, err)
		p, err := s.Catalog.CreateProduct(t.Context(), account.ID, catalog.NewProduct{
			Product: catalog.Product{Name: "Handbook", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{{Amount: 1900}},
		})
		require.NoError(t, err)
		made := func() *checkout.Link {
			l, err := s.Checkout.CreateLink(t.Context(), account.ID, checkout.Link{
				Active: true, PriceVariantIDs: core.JSONOf([]string{p.PriceVariantIDs.V[0]}), MaxUses: new(int64(3)),
			})
			require.NoError(t, err)
			return l
		}
		used, unused := made(), made()
		for i := range 3 {
			c, err := s.Checkout.FollowLink(t.Context(), used.ID, checkout.FollowLink{})
			require.NoError(t, err)
			if i == 0 {
				_, err = s.db.Write.DB.Exec(s.db.Rebind(`UPDATE checkouts SET status = 'completed' WHERE id = ?`), c.ID)
				require.NoError(t, err)
			}
		}
		_, err = s.db.Write.DB.Exec(`UPDATE checkout_links SET uses = 3`)
		require.NoError(t, err)
		files, err := migrations.FS(s.Engine())
		require.NoError(t, err)
		step, err := fs.ReadFile(files, "00040_checkout_link_use.sql")
		require.NoError(t, err)
		_, err = s.db.Write.DB.Exec(string(step))
		require.NoError(t, err)
		for link, uses := range map[string]int64{used.ID: 1, unused.ID: 0} {
			l, err := s.Checkout.GetLink(t.Context(), account.ID, link)
			require.NoError(t, err)
			require.Equal(t, uses, l.Uses)
		}
	})
}
