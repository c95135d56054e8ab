package billing_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// A merchant subscribes a customer whose bank wants to see them: nobody is there.
func TestCreateSubscription_NobodyIsThereToAuthenticate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		price := recurring(900, "month")
		price.Stock = new(int64(1))
		v, customer := w.variant(price), w.customer("grace@example.com", nil)
		create := func(key, method string) (*store.Subscription, error) {
			var made *store.Subscription
			var refusal error
			_, _, err := w.Request(t.Context(), &store.Key{Account: w.account, Key: key, External: true}, func(ctx context.Context) (*store.Answer, error) {
				made, refusal = w.CreateSubscription(ctx, w.account, billing.CreateSubscription{
					Method: &payments.MethodInput{Ref: method},
					Draft:  store.CheckoutDraft{Checkout: &store.Checkout{CustomerID: &customer.ID}, Lines: []store.NewLineItem{one(v)}},
				})
				return &store.Answer{Status: 200}, refusal
			})
			require.NoError(t, err)
			return made, refusal
		}
		_, err := create("k1", "pm_card_authenticationRequired")
		refused(t, err, "payment_method")
		assert.Equal(t, store.Recorded, store.OutcomeOf(err))
		made, err := create("k2", "pm_card_visa")
		require.NoError(t, err, "the piece is free again")
		assert.Equal(t, store.SubscriptionStatusActive, made.Status)
	})
}
