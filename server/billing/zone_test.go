package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/tenant"
)

// What a line says of a trial or of a period ends on the day that it is where the seller is.
func TestOrder_NamesDaysOfTheSellersZone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.Timezone = "Pacific/Auckland" })
		require.NoError(t, err)
		w.advance.Store(int64(time.Until(time.Date(2027, time.June, 1, 20, 0, 0, 0, time.UTC))))
		sub := w.subscribe(w.tried(), "pm_card_visa")
		detail := w.ordersOf(sub)[0]
		lines, err := w.Lines.ByID(t.Context(), w.account, detail.LineItemIDs.V)
		require.NoError(t, err)
		assert.Contains(t, *lines[detail.LineItemIDs.V[0]].Description, "trial until 2027-06-16")
		w.nextBill(sub)
		preview, err := w.PreviewSubscriptionChange(t.Context(), w.account, sub.ID, store.ChangeSubscription{PriceVariant: w.variant(recurring(2000, "month")).ID})
		require.NoError(t, err)
		assert.Contains(t, *preview.Items[0].Description, "until 2027-07-16")
	})
}
