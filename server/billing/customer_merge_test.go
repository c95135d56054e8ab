package billing_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

// addsUp wants a customer's counters to be those of their orders and refunds, and returns the orders.
func (w *world) addsUp(id string) []order.Order {
	w.t.Helper()
	c, err := w.Customer.Get(w.t.Context(), w.account, id)
	require.NoError(w.t, err)
	page := core.Page{Limit: 100}
	orders, _, err := w.Order.List(w.t.Context(), w.account, order.List{Page: page, Customer: id})
	require.NoError(w.t, err)
	refunds, _, err := w.ListRefunds(w.t.Context(), w.account, store.ListRefunds{Page: page, Customer: id, Status: store.RefundStatusSucceeded})
	require.NoError(w.t, err)
	spent := map[string]int64{}
	for _, o := range orders {
		spent[o.Currency] += o.PaidAmount
	}
	for _, r := range refunds {
		spent[r.Currency] -= r.Amount
	}
	assert.EqualValues(w.t, len(orders), c.OrdersCount, id)
	for currency, amount := range spent {
		assert.Equal(w.t, amount, c.TotalSpent.V[currency], "%s in %s", id, currency)
	}
	return orders
}

func (w *world) merge(into, from string) *customer.Customer {
	w.t.Helper()
	c, err := w.MergeCustomer(w.t.Context(), w.account, into, from)
	require.NoError(w.t, err)
	return c
}

// What is under way of the other customer goes on for the one that they were merged into.
func TestMergeCustomer_MovesWhatThereIsAndWhatIsUnderWay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada, grace := w.customer("ada@example.com", nil).ID, w.customer("grace@example.com", new("g1")).ID
		own := w.checkoutFor(checkout.Checkout{CustomerID: &ada}, w.handbook())
		_, err := w.pay(own.ID, "pm_card_visa")
		require.NoError(t, err)

		// All of this is Grace's, whose address the test's checkouts have.
		refunded := w.bought("pm_card_visa")
		_, err = w.refund(refunded.ID, 500)
		require.NoError(t, err)
		refunding := w.bought("pm_card_pendingRefund")
		waiting, err := w.refund(refunding.ID, 700)
		require.NoError(t, err)
		require.Equal(t, store.RefundStatusPending, waiting.Status)
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.change(sub, w.variant(recurring(100, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		inEuros := recurring(500, "month") // which no credit pays
		inEuros.Currency = "eur"
		failing := w.subscribe(w.variant(inEuros), "tok_fail_on_renewal")
		w.wait(32 * day)
		require.Equal(t, subscription.StatusPastDue, w.now(failing).Status)
		open := w.issued(invoice.CollectionMethodSendInvoice, grace)
		draft, err := w.Invoice.Create(t.Context(), w.account, invoice.Draft{
			Invoice: &invoice.Invoice{CollectionMethod: invoice.CollectionMethodChargeAutomatically}, Customer: grace,
			Lines: []invoice.NewLine{{Description: new("Advice"), UnitAmount: new(int64(700)), Quantity: 1}},
		})
		require.NoError(t, err)
		cart := w.checkoutFor(checkout.Checkout{CustomerID: &grace}, w.handbook())
		asked := w.checkoutFor(checkout.Checkout{CustomerID: &grace}, w.handbook())
		_, err = w.pay(asked.ID, "pm_card_authenticationRequired")
		require.NoError(t, err)
		before, err := w.Customer.Get(t.Context(), w.account, grace)
		require.NoError(t, err)
		require.Positive(t, before.Balance.V["usd"])

		merged := w.merge(ada, grace)
		assert.Equal(t, before.Balance.V, merged.Balance.V)
		assert.Equal(t, "g1", *merged.ExternalID)
		assert.Equal(t, "ada@example.com", *merged.Email)
		assert.Equal(t, before.DefaultPaymentMethodID, merged.DefaultPaymentMethodID)
		w.addsUp(ada)
		_, err = w.Customer.Get(t.Context(), w.account, grace)
		assert.ErrorContains(t, err, "customer")
		_, err = w.MergeCustomer(t.Context(), w.account, ada, grace)
		assert.Error(t, err, "there is nobody left to merge")
		db := harness.OpenDatabase(t, w.url)
		for _, table := range []string{"checkouts", "subscriptions", "payments", "invoices", "orders", "refunds", "discount_redemptions", "payment_methods"} {
			assert.Zero(t, db.Count(t, table+" WHERE customer_id = '"+grace+"'"), table)
		}

		// The refund was begun for Grace, and is settled for Ada.
		_, err = w.provider.Provider.(*testpay.Provider).SettleRefund(t.Context(), w.account, *waiting.ProviderRef, payments.RefundSucceeded)
		require.NoError(t, err)
		_, err = w.SettleRefund(t.Context(), waiting, store.RefundResult{Ref: *waiting.ProviderRef, Status: store.RefundStatusSucceeded}, time.Second)
		require.NoError(t, err)
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, asked.ID)
		require.NoError(t, err)
		_, err = w.provider.authenticate(t.Context(), payment)
		require.NoError(t, err)
		_, err = w.ResumePayment(t.Context(), w.account, payment.ID)
		require.NoError(t, err)
		_, err = w.pay(cart.ID, "pm_card_visa")
		require.NoError(t, err)
		_, err = w.PayInvoice(t.Context(), w.account, open.ID, payInvoice("pm_card_visa"))
		require.NoError(t, err)
		_, err = w.FinalizeInvoice(t.Context(), w.account, draft.ID)
		require.NoError(t, err)
		w.wait(31 * day)

		orders := w.addsUp(ada)
		assert.Len(t, orders, len(w.orders()), "all are hers")
		assert.Len(t, w.ordersOf(sub), 3, "a purchase and two renewals")
		assert.Equal(t, subscription.StatusCanceled, w.now(failing).Status, "nobody paid for it, with no attempt more or less than planned")
		assert.Equal(t, invoice.StatusPaid, w.invoice(draft.ID).Status, "charged to the method that came along")
		assert.NotEqual(t, grace, w.customer("grace@example.com", nil).ID, "the address is free")
	})
}

// The uses of a discount of both count together from then on, whoever the buyer says to be.
func TestMergeCustomer_CountsRedemptionsTogether(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada, grace := w.customer("ada@example.com", nil).ID, w.customer("grace@example.com", nil).ID
		d, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Code: new("ONCE"), Type: discount.TypePercent, PercentBps: new(int64(1000)), MaxRedemptionsPerCustomer: new(int64(1)),
		})
		require.NoError(t, err)
		_, err = w.pay(w.checkoutFor(checkout.Checkout{CustomerID: &grace, DiscountID: &d.ID}, w.handbook()).ID, "pm_card_visa")
		require.NoError(t, err)
		again := w.checkoutFor(checkout.Checkout{CustomerEmail: new("ada@example.com"), EmailVerified: true, DiscountID: &d.ID}, w.handbook())
		w.merge(ada, grace)
		_, err = w.pay(again.ID, "pm_card_visa")
		refused(t, err, "discount")
	})
}

// People buy, pay, get money back and are billed at three replicas while they are merged into each other. Nothing is counted
// twice, or for somebody who is gone. Nobody waits for each other for ever.
func TestMergeCustomer_WhileTheyBuy(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const people = 12
		var ids, invoices [people]string
		monthly, handbook := w.variant(recurring(900, "month")), w.handbook()
		for i := range people {
			ids[i] = w.customer(fmt.Sprintf("%d@example.com", i), nil).ID
			_, err := w.pay(w.checkoutFor(checkout.Checkout{CustomerID: &ids[i]}, monthly).ID, "pm_card_visa")
			require.NoError(t, err)
			invoices[i] = w.issued(invoice.CollectionMethodSendInvoice, ids[i]).ID
		}
		replicas := w.replicas()
		for _, r := range replicas {
			r.advance.Store(w.advance.Load() + int64(32*day))
		}
		var merged, bought atomic.Int64
		// allowed is what may be answered: what was asked for, or that it is not there any more.
		allowed := func(counted *atomic.Int64, err error) error {
			if _, ok := errors.AsType[*core.Error](err); ok {
				return nil
			}
			if err == nil && counted != nil {
				counted.Add(1)
			}
			return err
		}
		tasks := []func(r *world, i int) error{
			func(r *world, i int) error { // eleven of twelve go, each into the next
				if i == people-1 {
					return nil
				}
				_, err := r.MergeCustomer(t.Context(), w.account, ids[i+1], ids[i])
				return allowed(&merged, err)
			},
			func(r *world, i int) error {
				c, err := r.Checkout.Create(t.Context(), w.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerID: &ids[i]}, Lines: []offer.NewLine{one(handbook)}})
				if err == nil {
					_, err = r.ConfirmCheckout(t.Context(), w.account, c.ID, with("pm_card_visa"))
				}
				return allowed(&bought, err)
			},
			func(r *world, i int) error {
				_, err := r.PayInvoice(t.Context(), w.account, invoices[i], payInvoice("pm_card_visa"))
				return allowed(&bought, err)
			},
			func(r *world, i int) error {
				orders, _, err := r.Order.List(t.Context(), w.account, order.List{Page: core.Page{Limit: 100}, Status: order.StatusPaid})
				if err == nil && len(orders) > 0 {
					_, err = r.refund(orders[rand.IntN(len(orders))].ID, 100)
				}
				return allowed(nil, err)
			},
			func(r *world, _ int) error { return r.Work(t.Context()) },
			func(r *world, i int) error {
				_, err := r.UpdateCustomer(t.Context(), w.account, ids[i], func(c *customer.Customer) { c.Notes = new(fmt.Sprint(rand.Int())) })
				return allowed(nil, err)
			},
		}
		errs := parallel(len(tasks)*people, func(n int) error {
			task, i := n%len(tasks), n/len(tasks)
			return tasks[task](replicas[(task+i)%len(replicas)], i)
		})
		for n, err := range errs {
			assert.NoError(t, err, "task %d", n%len(tasks))
		}
		require.NoError(t, w.Work(t.Context()))
		require.Positive(t, merged.Load())
		require.Positive(t, bought.Load(), "who buys and who was merged before is up to chance, but the last of them stays")
		db := harness.OpenDatabase(t, w.url)
		for _, table := range []string{"subscriptions", "payments", "invoices", "orders", "refunds", "payment_methods"} {
			assert.Zero(t, db.Count(t, table+" WHERE customer_id IN (SELECT id FROM customers WHERE deleted_at IS NOT NULL)"), table)
		}
		left, _, err := w.Customer.List(t.Context(), w.account, customer.List{Page: core.Page{Limit: 100}})
		require.NoError(t, err)
		counted := 0
		for _, c := range left {
			counted += len(w.addsUp(c.ID))
		}
		assert.Len(t, w.orders(), counted)
	})
}
