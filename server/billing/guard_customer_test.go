package billing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/offer"
)

// TestSaveMethod_WaitsAfterTenRefusals also tries many at once.
func TestSaveMethod_WaitsAfterTenRefusals(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		g := w.giver()
		for i := range 12 {
			_, err := g.save("pm_card_visa", fmt.Sprint("good", i))
			require.NoError(t, err, "what is saved is no decline")
		}
		w.provider.refuses.Store(true)
		w.provider.attaches.Store(0)
		for _, err := range parallel(30, func(i int) error {
			_, err := g.save("pm_card_visa", fmt.Sprint("bad", i))
			return err
		}) {
			require.Error(t, err)
		}
		assert.EqualValues(t, 10, w.provider.attaches.Load())
		w.provider.refuses.Store(false)
		_, err := g.save("pm_card_visa", "again")
		slowed(t, err, 30*time.Second, time.Minute)
		w.advance.Add(int64(time.Minute))
		_, err = g.save("pm_card_visa", "again")
		require.NoError(t, err)
	})
}

// TestCreateSubscription_WaitsAfterTenDeclines makes a checkout each time.
func TestCreateSubscription_WaitsAfterTenDeclines(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		g, price := w.giver(), w.variant(recurring(900, "month"))
		for i := range 14 {
			_, err := w.CreateSubscription(t.Context(), w.account, billing.CreateSubscription{
				Draft:  checkout.Draft{Checkout: &checkout.Checkout{CustomerID: &g.customer}, Lines: []offer.NewLine{one(price)}},
				Method: &payments.MethodInput{Ref: declined},
			})
			require.Equal(t, i >= 10, isSlowed(t, err), "try %d: %s", i, err)
		}
		assert.EqualValues(t, 10, w.provider.confirms.Load())
	})
}
