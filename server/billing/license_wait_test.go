package billing_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
)

// TestWork_ServesWhoWaitsForALicenceKey has the only key disabled while somebody gets the product. No import and no sale follows.
func TestWork_ServesWhoWaitsForALicenceKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		product := w.variant(recurring(900, "month")).ProductID
		_, err := w.Catalog.UpdateProduct(t.Context(), w.account, product, func(p *catalog.Product) {
			p.Deliverables = []catalog.Deliverable{{Type: catalog.DeliverableTypeLicenseKey, Ref: new("imported"), Name: new("Your key")}}
		})
		require.NoError(t, err)
		stock, err := w.ImportLicenseKeys(t.Context(), w.account, product, []grant.ImportedLicense{{Key: "STOCK-1"}})
		require.NoError(t, err)
		_, err = w.Grant.DisableLicenseKey(t.Context(), w.account, stock[0].ID)
		require.NoError(t, err)
		ada, err := w.Customer.Create(t.Context(), w.account, customer.Customer{Email: new("ada@example.com")})
		require.NoError(t, err)
		g, err := w.CreateGrant(t.Context(), w.account, store.NewGrant{Customer: ada.ID, Product: product})
		require.NoError(t, err)
		require.NoError(t, w.Work(t.Context()))
		require.True(t, opened(t, w, g.ID).Waits)
		_, err = w.Grant.EnableLicenseKey(t.Context(), w.account, stock[0].ID)
		require.NoError(t, err)
		require.NoError(t, w.Work(t.Context()))
		k, err := w.Grant.GetLicenseKey(t.Context(), w.account, stock[0].ID)
		require.NoError(t, err)
		require.NotNil(t, k.GrantID)
		require.Equal(t, g.ID, *k.GrantID)
		got := opened(t, w, g.ID)
		require.False(t, got.Waits)
		require.Equal(t, k.ID, *got.LicenseKey)
	})
}

// opened returns what a grant opens, which is one thing.
func opened(t *testing.T, w *world, id string) grant.Deliverable {
	t.Helper()
	g, err := w.Grant.GetGrant(t.Context(), w.account, id)
	require.NoError(t, err)
	require.Len(t, g.Deliverables, 1)
	return g.Deliverables[0]
}
