package billing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
)

// led is the test provider, which remembers where it was told to lead a buyer back to.
type led struct {
	payments.Provider
	back string
}

func (l *led) ConfirmCharge(ctx context.Context, account, ref, back string) (payments.Charge, error) {
	l.back = back
	return l.Provider.ConfirmCharge(ctx, account, ref, back)
}

// withAnotherKey is a server that has lost the secret key of the world's.
func (w *world) withAnotherKey() (*store.Store, *billing.Billing, *led) {
	w.t.Helper()
	sealer, err := core.NewSealer(bytes.Repeat([]byte{7}, 32))
	require.NoError(w.t, err)
	s, err := store.Open(w.t.Context(), store.Options{
		CloseTime: time.Minute,
		URL:       w.url, Sealer: sealer, Synchronous: "normal", PublicURL: "http://shop.test", Now: func() time.Time { return w.Now().Time() },
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
	})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { assert.NoError(w.t, s.Close()) })
	provider := &led{Provider: testpay.New(s.TestBank)}
	return s, billing.New(s, payments.NewRegistry(provider)), provider
}

// isLedToThePage holds that the buyer of a checkout with their bank can be led to it.
func isLedToThePage(t *testing.T, c *checkout.Checkout, provider *led) {
	t.Helper()
	assert.Equal(t, checkout.StatusProcessing, c.Status)
	assert.NotEmpty(t, c.ClientSecret)
	assert.Equal(t, "http://shop.test/checkout/"+c.ClientSecret, c.URL)
	require.NotNil(t, c.NextAction.V)
	assert.Equal(t, c.URL, c.NextAction.V.URL)
	assert.Equal(t, c.URL, provider.back)
}

func TestConfirmCheckout_WhoseSecretIsClosedHasAPageForItsBuyer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		checkout := w.checkout(one(w.handbook()))
		s, b, provider := w.withAnotherKey()
		c, err := b.ConfirmCheckout(t.Context(), w.account, checkout.ID, with("pm_card_authenticationRequired"))
		require.NoError(t, err)
		isLedToThePage(t, c, provider)
		for _, secret := range []string{checkout.ClientSecret, c.ClientSecret} {
			_, id, err := s.Checkout.OfSecret(t.Context(), secret)
			require.NoError(t, err)
			assert.Equal(t, checkout.ID, id)
		}
	})
}

// The key is lost between the intent to charge and the charge.
func TestResumePayment_OfACheckoutWhoseSecretIsClosedHasAPageForItsBuyer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		checkout := w.checkout(one(w.handbook()))
		w.provider.down.Store(true)
		_, err := w.pay(checkout.ID, "pm_card_authenticationRequired")
		require.Error(t, err)
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, checkout.ID)
		require.NoError(t, err)
		_, b, provider := w.withAnotherKey()
		settled, err := b.ResumePayment(t.Context(), w.account, payment.ID)
		require.NoError(t, err)
		isLedToThePage(t, settled.Checkout, provider)
	})
}
