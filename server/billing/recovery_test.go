package billing_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestConfirmCheckout_LastUnitSellsOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(1))})
		checkouts := make([]*checkout.Checkout, 20)
		for i := range checkouts {
			checkouts[i] = w.checkout(one(v))
		}
		errs := parallel(len(checkouts), func(i int) error {
			_, err := w.pay(checkouts[i].ID, "pm_card_visa")
			return err
		})
		sold := 0
		for _, err := range errs {
			if err == nil {
				sold++
				continue
			}
			refused(t, err, "line_items")
		}
		assert.Equal(t, 1, sold)
		assert.Len(t, w.orders(), 1)
		assert.EqualValues(t, 1, w.provider.confirms.Load())
	})
}

func TestConfirmCheckout_TwoAtOnceMakeOneOrder(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for range 10 {
			c := w.checkout(one(w.handbook()))
			errs := parallel(2, func(int) error {
				_, err := w.pay(c.ID, "pm_card_visa")
				return err
			})
			for _, err := range errs {
				if err != nil {
					refused(t, err, "status")
				}
			}
			assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
		}
		assert.Len(t, w.orders(), 10)
		assert.EqualValues(t, 10, w.provider.confirms.Load())
	})
}

func TestConfirmCheckout_ParallelBuyersGetNumbersWithoutGaps(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		errs := parallel(20, func(i int) error {
			method := "pm_card_visa"
			if i%4 == 0 {
				method = "pm_card_chargeDeclined"
			}
			_, err := w.pay(w.checkout(one(v)).ID, method)
			return err
		})
		for i, err := range errs {
			assert.Equal(t, i%4 == 0, err != nil, "buyer %d: %v", i, err)
		}
		orders := w.orders()
		require.Len(t, orders, 15)
		customer, err := w.Customer.Get(t.Context(), w.account, orders[0].CustomerID)
		require.NoError(t, err)
		assert.EqualValues(t, 15, customer.OrdersCount)
		assert.EqualValues(t, 15*1900, customer.TotalSpent.V["usd"])
	})
}

// The provider charges and its answer is lost: the reconciler finds the charge and makes the order, once.
func TestReconcile_FindsALostAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.checkout(one(w.handbook()))
		w.provider.lost.Store(true)
		_, err := w.pay(c.ID, "pm_card_visa")
		require.Error(t, err)
		assert.Equal(t, core.Unknown, core.OutcomeOf(err))
		assert.Equal(t, checkout.StatusProcessing, w.get(c.ID).Status)
		_, err = w.pay(c.ID, "pm_card_visa")
		refused(t, err, "status")

		w.provider.lost.Store(false)
		w.due(c.ID)
		errs := parallel(4, func(int) error { return w.Reconcile(t.Context()) })
		for _, err := range errs {
			require.NoError(t, err)
		}
		assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
		assert.Len(t, w.orders(), 1)
		assert.EqualValues(t, 1, w.provider.confirms.Load())
	})
}

// Two that go on with one payment at the same time, one of them after its lease, make one order.
func TestResumePayment_AtTheSameTimeSettlesOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, method := range []string{"pm_card_visa", "pm_card_chargeDeclined"} {
			checkout := w.checkout(one(w.handbook()))
			w.provider.lost.Store(true)
			_, err := w.pay(checkout.ID, method)
			require.Error(t, err)
			w.provider.lost.Store(false)
			payment, err := w.Payment.OfCheckout(t.Context(), w.account, checkout.ID)
			require.NoError(t, err)
			parallel(4, func(int) error {
				_, err := w.ResumePayment(t.Context(), w.account, payment.ID)
				return err
			})
		}
		assert.Len(t, w.orders(), 1)
	})
}

// The provider cannot be reached: nothing is charged until it can, and what comes of it is settled then.
func TestReconcile_AsksAgainWhenTheProviderIsBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.provider.down.Store(true)
		paid, declined := w.checkout(one(w.handbook())), w.checkout(one(w.handbook()))
		_, err := w.pay(paid.ID, "pm_card_visa")
		require.Error(t, err)
		_, err = w.pay(declined.ID, "pm_card_chargeDeclined")
		require.Error(t, err)
		w.due(paid.ID)
		require.Error(t, w.Reconcile(t.Context()), "still down")

		w.provider.down.Store(false)
		w.due(paid.ID)
		w.due(declined.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, checkout.StatusCompleted, w.get(paid.ID).Status)
		assert.Equal(t, checkout.StatusOpen, w.get(declined.ID).Status)
		assert.NotNil(t, w.get(declined.ID).LastPaymentError.V)
	})
}

// Whoever is charging is left alone.
func TestReconcile_LeavesALeasedPaymentAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.checkout(one(w.handbook()))
		w.provider.lost.Store(true)
		_, err := w.pay(c.ID, "pm_card_visa")
		require.Error(t, err)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, checkout.StatusProcessing, w.get(c.ID).Status)
	})
}

// TestReconcile_LetsNoAccountWaitForAnother has one account of which more payments wait than are looked up at once, and whose provider does not answer.
// All of them wait longer than that of another account.
func TestReconcile_LetsNoAccountWaitForAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.provider.down.Store(true)
		busy, v := w.account, w.handbook()
		for range 101 {
			_, err := w.pay(w.checkout(one(v)).ID, "pm_card_visa")
			require.Error(t, err)
		}
		w.behind(`UPDATE payments SET lease_until = 1`)
		account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Bob's shop", Email: "bob@example.com"})
		require.NoError(t, err)
		w.account = account.ID
		c := w.checkout(one(w.handbook()))
		_, err = w.pay(c.ID, "pm_card_visa")
		require.Error(t, err)
		w.due(c.ID)

		w.provider.down.Store(false)
		goOn := make(chan struct{})
		hang := func(in payments.ChargeInput) {
			if in.Account == busy {
				<-goOn
			}
		}
		w.provider.charging.Store(&hang)
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, w.Reconcile(t.Context())) })
		assert.Eventually(t, func() bool { return w.get(c.ID).Status == checkout.StatusCompleted }, harness.Patience, 20*time.Millisecond)
		close(goOn)
		group.Wait()
	})
}

// Renewals wait for Reconcile. So it begins nothing more once its time is over, however many payments wait for a provider that does not answer.
func TestReconcile_EndsInTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.provider.down.Store(true)
		v := w.handbook()
		for range 24 {
			_, err := w.pay(w.checkout(one(v)).ID, "pm_card_visa")
			require.Error(t, err)
		}
		w.behind(`UPDATE payments SET lease_until = 1`)

		w.provider.down.Store(false)
		const turn = 500 * time.Millisecond
		w.Within(turn)
		var asked atomic.Int64
		answers, cancel := context.WithTimeout(t.Context(), 2*turn)
		defer cancel()
		late := func(payments.ChargeInput) {
			asked.Add(1)
			<-answers.Done()
		}
		w.provider.charging.Store(&late)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.LessOrEqual(t, asked.Load(), int64(8))

		w.Patient()
		w.provider.charging.Store(nil)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Len(t, w.orders(), 24, "the others are for the next time")
	})
}

func TestReconcile_GivesUpABuyerWhoDoesNotComeBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(1))})
		bought := w.checkout(one(v))
		_, err := w.pay(bought.ID, "pm_card_authenticationRequired")
		require.NoError(t, err)
		w.due(bought.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, checkout.StatusProcessing, w.get(bought.ID).Status, "there is time yet")

		w.advance.Store(int64(31 * time.Minute))
		w.due(bought.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		c := w.get(bought.ID)
		assert.Equal(t, checkout.StatusOpen, c.Status)
		assert.Equal(t, "payment_canceled", c.LastPaymentError.V.Code)
		_, err = w.pay(bought.ID, "pm_card_visa")
		require.NoError(t, err, "the stock is free again")
	})
}

// A request whose process died outside is sent again: it goes on with the same payment.
func TestConfirmCheckout_SentAgainUnderItsKeyResumes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		checkout := w.checkout(one(w.handbook()))
		key := &core.Key{Account: w.account, Key: "confirm-1", External: true}
		w.provider.lost.Store(true)
		_, _, err := w.request(w, key, checkout.ID, "pm_card_visa")
		require.Error(t, err)
		assert.Equal(t, core.Unknown, core.OutcomeOf(err))

		again := open(t, w.url) // another process on the same database
		first, replayed, err := w.request(again, key, checkout.ID, "pm_card_visa")
		require.NoError(t, err)
		assert.False(t, replayed)
		second, replayed, err := w.request(w, key, checkout.ID, "pm_card_visa")
		require.NoError(t, err)
		assert.True(t, replayed)
		assert.Equal(t, first.Body, second.Body)
		assert.Len(t, w.orders(), 1)
	})
}

func TestConfirmCheckout_ADeclineIsReplayed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		checkout := w.checkout(one(w.handbook()))
		key := &core.Key{Account: w.account, Key: "confirm-1", External: true}
		for i := range 3 {
			answer, replayed, err := w.request(w, key, checkout.ID, "pm_card_chargeDeclined")
			require.NoError(t, err)
			assert.Equal(t, i > 0, replayed)
			assert.Equal(t, 422, answer.Status)
		}
		assert.EqualValues(t, 1, w.provider.confirms.Load())
	})
}

// request confirms as the server does: inside a write request, the answer made from what comes back.
func (w *world) request(through *world, key *core.Key, checkout, method string) (*core.Answer, bool, error) {
	return through.Request(w.t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
		c, err := through.ConfirmCheckout(ctx, w.account, checkout, with(method))
		if core.OutcomeOf(err) == core.Recorded {
			return &core.Answer{Status: 422, Body: []byte(err.Error())}, err
		}
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(c.OrderID)
		return &core.Answer{Status: 200, Body: body}, err
	})
}

// due ends the lease on a checkout's payment, as time does.
func (w *world) due(checkout string) {
	w.t.Helper()
	payment, err := w.Payment.OfCheckout(w.t.Context(), w.account, checkout)
	require.NoError(w.t, err)
	require.NoError(w.t, w.Payment.Yield(w.t.Context(), w.account, payment.ID, -time.Second))
}

// parallel runs n calls at once, patiently, and returns their errors.
func parallel(n int, call func(i int) error) []error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { errs[i] = patiently(func() error { return call(i) }) })
	}
	wait.Wait()
	return errs
}

// patiently asks again what was not done because the database was too busy, as a client does.
func patiently(call func() error) (err error) {
	for range 20 {
		if err = call(); err == nil {
			return nil
		}
		if _, away := errors.AsType[*core.UnavailableError](err); !away {
			return err
		}
	}
	return err
}

// billingWithout confirms without a payment method.
var billingWithout = billing.CheckoutConfirm{}
