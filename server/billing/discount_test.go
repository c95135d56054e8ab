package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/discount"
)

// A buyer who is sent to their bank holds the last use of a discount, until they are given up.
func TestReconcile_GivesARedemptionBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Code: new("LAST"), Type: discount.TypePercent, PercentBps: new(int64(1000)), MaxRedemptions: new(int64(1)),
		})
		require.NoError(t, err)
		reduced := func() *checkout.Checkout {
			c, err := w.Checkout.Update(t.Context(), w.account, w.checkout(one(w.handbook())).ID, func(draft *checkout.Draft) { draft.DiscountID = &d.ID })
			require.NoError(t, err)
			return c
		}
		redeemed := func() int64 {
			d, err := w.Discount.Get(t.Context(), w.account, d.ID)
			require.NoError(t, err)
			return d.RedemptionsCount
		}
		gone, next := reduced(), reduced()
		_, err = w.pay(gone.ID, "pm_card_authenticationRequired")
		require.NoError(t, err)
		assert.EqualValues(t, 1, redeemed())
		_, err = w.pay(next.ID, "pm_card_visa")
		require.Error(t, err, "the last use is held")

		w.advance.Store(int64(31 * time.Minute))
		w.due(gone.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.EqualValues(t, 0, redeemed())
		_, err = w.pay(next.ID, "pm_card_visa")
		require.NoError(t, err)
		assert.EqualValues(t, 1, redeemed())
	})
}
