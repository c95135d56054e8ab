package billing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// asked does something as the server does that is asked to under a key, and returns what it answers.
func asked[T any](w *world, key string, do func(context.Context) (T, error)) (made T, refusal error) {
	w.t.Helper()
	_, _, err := w.Request(w.t.Context(), &core.Key{Account: w.account, Key: key, External: true}, func(ctx context.Context) (*core.Answer, error) {
		made, refusal = do(ctx)
		return &core.Answer{Status: 200}, refusal
	})
	require.NoError(w.t, err)
	return made, refusal
}

// A merchant subscribes a customer whose bank wants to see them: nobody is there.
func TestCreateSubscription_NobodyIsThereToAuthenticate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		price := recurring(900, "month")
		price.Stock = new(int64(1))
		v, customer := w.variant(price), w.customer("grace@example.com", nil)
		create := func(key, method string) (*subscription.Subscription, error) {
			return asked(w, key, func(ctx context.Context) (*subscription.Subscription, error) {
				return w.CreateSubscription(ctx, w.account, billing.CreateSubscription{
					Method: &payments.MethodInput{Ref: method},
					Draft:  checkout.Draft{Checkout: &checkout.Checkout{CustomerID: &customer.ID}, Lines: []offer.NewLine{one(v)}},
				})
			})
		}
		_, err := create("k1", "pm_card_authenticationRequired")
		refused(t, err, "payment_method")
		assert.Equal(t, core.Recorded, core.OutcomeOf(err))
		made, err := create("k2", "pm_card_visa")
		require.NoError(t, err, "the piece is free again")
		assert.Equal(t, subscription.StatusActive, made.Status)
	})
}

// The answer to a purchase is lost, and the card that paid for it is removed before the request is sent again.
func TestCreateSubscription_IsDoneOnceItsDefaultCardIsGone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v, customer := w.variant(recurring(900, "month")), w.customer("grace@example.com", nil)
		saved, err := w.SavePaymentMethod(t.Context(), payment.SavedMethod{
			AccountID: w.account, CustomerID: customer.ID, Provider: "test", ProviderRef: "pm_card_visa",
		}, true)
		require.NoError(t, err)
		create := func(ctx context.Context) (*subscription.Subscription, error) {
			return w.CreateSubscription(ctx, w.account, billing.CreateSubscription{
				Draft: checkout.Draft{Checkout: &checkout.Checkout{CustomerID: &customer.ID}, Lines: []offer.NewLine{one(v)}},
			})
		}
		var made *subscription.Subscription
		_, _, err = w.Request(t.Context(), &core.Key{Account: w.account, Key: "k", External: true}, func(ctx context.Context) (*core.Answer, error) {
			made, err = create(ctx)
			require.NoError(t, err)
			require.NoError(t, w.Leave(ctx))
			return nil, errors.New("the answer is lost")
		})
		require.Error(t, err)
		_, err = w.DeletePaymentMethod(t.Context(), w.account, customer.ID, saved.ID)
		require.NoError(t, err)
		again, err := asked(w, "k", create)
		require.NoError(t, err)
		assert.Equal(t, made.ID, again.ID)
	})
}
