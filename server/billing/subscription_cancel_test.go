package billing_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// atOnce ends a subscription now, with what is left of its period given back.
var atOnce = store.CancelSubscription{Now: true, Refund: store.CancellationRefundProrated}

// monthOf30 begins the time of a test with a month of 30 days.
func (w *world) monthOf30() {
	w.advance.Store(int64(time.Until(time.Date(2027, time.June, 1, 12, 0, 0, 0, time.UTC))))
}

// rewound makes the clock say what it said when the subscription's period began, and so much later.
func (w *world) rewound(sub *subscription.Subscription, later time.Duration) {
	w.advance.Store(int64(time.Until(sub.CurrentPeriodStart.Time().Add(later))))
}

// dropped cancels a subscription at once, and returns what its customer gets back by order.
func (w *world) dropped(sub *subscription.Subscription) map[string]int64 {
	w.t.Helper()
	ended, err := w.Billing.CancelSubscription(w.t.Context(), w.account, sub.ID, atOnce)
	require.NoError(w.t, err)
	require.Equal(w.t, subscription.StatusCanceled, ended.Status)
	back := map[string]int64{}
	for _, id := range ended.Cancellation.V.RefundIDs {
		r, err := w.GetRefund(w.t.Context(), w.account, id)
		require.NoError(w.t, err)
		assert.Equal(w.t, store.RefundStatusSucceeded, r.Status)
		assert.Equal(w.t, store.RefundReasonCustomerRequest, r.Reason)
		assert.Equal(w.t, sub.ID, *r.SubscriptionID)
		back[r.OrderID] = r.Amount
	}
	return back
}

func (w *world) change(sub *subscription.Subscription, to *catalog.PriceVariant, behavior tenant.ProrationBehavior) *subscription.Subscription {
	w.t.Helper()
	changed, err := w.Billing.ChangeSubscription(w.t.Context(), w.account, sub.ID, store.ChangeSubscription{PriceVariant: to.ID, Behavior: behavior})
	require.NoError(w.t, err)
	return changed
}

func TestCancelSubscription_GivesBackWhatIsLeftOfThePeriod(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.rewound(sub, 10*day)
		first := w.ordersOf(sub)[0]
		assert.Equal(t, map[string]int64{first.ID: 600}, w.dropped(sub), "20 days of 30")
		assert.EqualValues(t, 300, w.spent(&first))
		assert.Equal(t, order.StatusPartiallyRefunded, w.order(first.ID).Status)
		_, err := w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, atOnce)
		refused(t, err, "status")
	})
}

func TestCancelSubscription_GivesBackNoMoreThanCanBe(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.rewound(sub, 10*day)
		o := w.ordersOf(sub)[0]
		_, err := w.refund(o.ID, 700)
		require.NoError(t, err)
		assert.Equal(t, map[string]int64{o.ID: 200}, w.dropped(sub))
		assert.Equal(t, order.StatusRefunded, w.order(o.ID).Status)

		all := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		_, err = w.refund(w.ordersOf(all)[0].ID, 0)
		require.NoError(t, err)
		assert.Empty(t, w.dropped(all))

		trial := recurring(900, "month")
		trial.TrialDays = 14
		assert.Empty(t, w.dropped(w.subscribe(w.variant(trial), "pm_card_visa")), "a trial costs nothing")

		late := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.provider.declines.Store(true)
		w.wait(late.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		require.Equal(t, subscription.StatusPastDue, w.now(late).Status)
		assert.Empty(t, w.dropped(late), "the period is not paid")
	})
}

// What is bought together with a subscription, and its set-up fee, were not for the time that is left.
func TestCancelSubscription_KeepsWhatElseWasBought(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		small, large := recurring(900, "month"), recurring(3000, "month")
		large.SetupFeeAmount = 500
		c := w.checkout(one(w.handbook()), one(w.variant(small)), one(w.variant(large)))
		_, err := w.pay(c.ID, "pm_card_visa")
		require.NoError(t, err)
		subs, _, err := w.Subscription.List(t.Context(), w.account, subscription.List{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, subs, 2)
		order := *w.get(c.ID).OrderID
		w.rewound(&subs[0], 15*day)
		for _, sub := range subs {
			w.change(&sub, w.variant(recurring(sub.UnitAmount, "month")), "") // the line is found, whatever it is called now
			assert.Equal(t, map[string]int64{order: sub.UnitAmount / 2}, w.dropped(&sub))
		}
		assert.EqualValues(t, 1900+500+1950, w.order(order).RefundableAmount())
	})
}

// The tax goes back in proportion, by the rule of every refund.
func TestCancelSubscription_GivesTaxBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
			a.Tax = core.JSONOf(tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{RateBps: 1000, Name: "VAT"}}})
		})
		require.NoError(t, err)
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.rewound(sub, 10*day)
		order := w.ordersOf(sub)[0]
		require.EqualValues(t, 990, order.PaidAmount)
		assert.Equal(t, map[string]int64{order.ID: 660}, w.dropped(sub))
		assert.EqualValues(t, 60, w.order(order.ID).RefundedTaxAmount)
	})
}

// Of a currency with three decimals Stripe gives back two.
func TestStripe_ACancellationGivesBackWhatStripeCan(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		w.monthOf30()
		v, _ := w.dinars(recurring(5000, "month"))
		middle := w.subscribe(v, "pm_card_visa")
		w.rewound(middle, 10*day)
		o := w.ordersOf(middle)[0]
		assert.Equal(t, map[string]int64{o.ID: 3330}, w.dropped(middle), "of 3333")
		assert.EqualValues(t, 1670, fake.Taken())
		assert.Equal(t, order.StatusPartiallyRefunded, w.order(o.ID).Status)

		end := w.subscribe(v, "pm_card_visa")
		w.rewound(end, 30*day-time.Hour)
		assert.Empty(t, w.dropped(end), "6 are left")
		assert.EqualValues(t, 6670, fake.Taken())
	})
}

func TestCancelSubscription_GivesBackWhatAChangeOfPlanLeft(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		cheap, dear := w.variant(recurring(1000, "month")), w.variant(recurring(3000, "month"))

		up := w.subscribe(cheap, "pm_card_visa")
		w.rewound(up, 15*day)
		up = w.change(up, dear, tenant.ProrationBehaviorInvoiceImmediately)
		w.rewound(up, 20*day)
		orders := w.ordersOf(up)
		require.EqualValues(t, 1000, orders[1].PaidAmount)
		assert.Equal(t, map[string]int64{orders[0].ID: 333, orders[1].ID: 667}, w.dropped(up), "10 days of 30 and of 15: a third of 3000 in all")

		down := w.subscribe(dear, "pm_card_visa")
		w.rewound(down, 15*day)
		down = w.change(down, cheap, tenant.ProrationBehaviorInvoiceImmediately)
		customer, err := w.Customer.Get(t.Context(), w.account, down.CustomerID)
		require.NoError(t, err)
		require.EqualValues(t, 1000, customer.Balance.V["usd"])
		w.rewound(down, 20*day)
		assert.Equal(t, map[string]int64{w.ordersOf(down)[0].ID: 333}, w.dropped(down), "the rest is in the balance already")
	})
}

// The rest of a period that a change of plan cut short pays for the one that the change began.
func TestCancelSubscription_GivesBackWhatWasCarriedIntoAnotherInterval(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		longer := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.rewound(longer, 15*day)
		longer = w.change(longer, w.variant(recurring(9000, "year")), tenant.ProrationBehaviorInvoiceImmediately)
		orders := w.ordersOf(longer)
		require.EqualValues(t, 8550, orders[1].PaidAmount)
		assert.Equal(t, map[string]int64{orders[0].ID: 450, orders[1].ID: 8550}, w.dropped(longer))

		shorter := w.subscribe(w.variant(recurring(3000, "month")), "pm_card_visa")
		w.rewound(shorter, 15*day)
		shorter = w.change(shorter, w.variant(recurring(700, "week")), tenant.ProrationBehaviorInvoiceImmediately)
		w.rewound(shorter, 2*day)
		assert.Equal(t, map[string]int64{w.ordersOf(shorter)[0].ID: 500}, w.dropped(shorter), "5 days of 7; the rest of the month is in the balance")
	})
}

// Whatever changes of interval came one after the other, what every order has left in the end is given back.
func TestCancelSubscription_GivesBackWhatWasCarriedOnTwice(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.rewound(sub, 15*day)
		sub = w.change(sub, w.variant(recurring(9000, "year")), tenant.ProrationBehaviorInvoiceImmediately) // 450 carried, 8550 paid
		w.rewound(sub, 183*day)                                                                             // half of a leap year
		twoYears := recurring(20_000, "year")
		twoYears.IntervalCount = new(int64(2))
		sub = w.change(sub, w.variant(twoYears), tenant.ProrationBehaviorInvoiceImmediately) // 225 and 4275 carried, 15500 paid
		w.rewound(sub, 73*day)                                                               // of 731
		o := w.ordersOf(sub)
		require.EqualValues(t, 15_500, o[2].PaidAmount)
		assert.Equal(t, map[string]int64{o[0].ID: 203, o[1].ID: 3848, o[2].ID: 13_952}, w.dropped(sub), "658 days of 731: 18003 of 20000")
	})
}

// What a shorter period does not cost is in the balance, and is not given back besides. What is paid after it is, to where it came from.
func TestCancelSubscription_GivesBackWhatAShorterPeriodLeft(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(3000, "month")), "pm_card_visa")
		w.rewound(sub, 15*day)
		sub = w.change(sub, w.variant(recurring(700, "week")), tenant.ProrationBehaviorInvoiceImmediately) // 700 of 1500 carried, 800 in the balance
		w.rewound(sub, 2*day)
		sub = w.change(sub, w.variant(recurring(9000, "year")), tenant.ProrationBehaviorInvoiceImmediately) // 500 carried, 800 of 8500 from the balance
		o := w.ordersOf(sub)
		require.EqualValues(t, 7700, o[1].PaidAmount)
		assert.Equal(t, map[string]int64{o[0].ID: 500, o[1].ID: 8500}, w.dropped(sub))
		customer, err := w.Customer.Get(t.Context(), w.account, sub.CustomerID)
		require.NoError(t, err)
		assert.EqualValues(t, 800, customer.Balance.V["usd"], "what it has paid of the year")
	})
}

// A pause in the middle of a period does not make it longer, and one beyond its end begins another.
func TestCancelSubscription_GivesBackWhatIsLeftAfterAPause(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		pause := func(sub *subscription.Subscription) {
			_, err := w.PauseSubscription(t.Context(), w.account, sub.ID, store.PauseSubscription{Now: true})
			require.NoError(t, err)
		}
		resume := func(sub *subscription.Subscription) *subscription.Subscription {
			_, err := w.ResumeSubscription(t.Context(), w.account, sub.ID)
			require.NoError(t, err)
			require.NoError(t, w.Work(t.Context()))
			return w.now(sub)
		}
		w.monthOf30()
		within := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		for _, days := range []time.Duration{5, 10} {
			w.rewound(within, days*day)
			pause(within)
			w.rewound(within, (days+3)*day)
			resume(within)
		}
		w.rewound(within, 20*day)
		assert.Equal(t, map[string]int64{w.ordersOf(within)[0].ID: 300}, w.dropped(within))

		w.monthOf30()
		beyond := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		pause(beyond)
		w.rewound(beyond, 45*day) // 16 July
		beyond = resume(beyond)
		require.Len(t, w.ordersOf(beyond), 2)
		w.rewound(beyond, 31*day/2)
		assert.Equal(t, map[string]int64{w.ordersOf(beyond)[1].ID: 450}, w.dropped(beyond))

		w.monthOf30()
		paused := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		pause(paused)
		w.rewound(paused, 10*day)
		assert.Equal(t, map[string]int64{w.ordersOf(paused)[0].ID: 600}, w.dropped(paused))
	})
}

func TestCancelSubscription_TenAtOnceGiveBackOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		done := 0
		for _, err := range parallel(10, func(int) error {
			_, err := w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, atOnce)
			return err
		}) {
			if err == nil {
				done++
				continue
			}
			refused(t, err, "status")
		}
		assert.Equal(t, 1, done)
		assert.Len(t, w.refunds(w.ordersOf(sub)[0].ID), 1)
	})
}

// A change of plan whose charge has no outcome yet would be paid for nothing.
func TestCancelSubscription_WaitsForAChangeOfPlan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		w.provider.lost.Store(true)
		_, err := w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, store.ChangeSubscription{PriceVariant: w.variant(recurring(3000, "month")).ID})
		require.Error(t, err)
		_, err = w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, atOnce)
		refused(t, err, "status")
		w.provider.lost.Store(false)
		require.Eventually(t, func() bool {
			require.NoError(t, w.Reconcile(t.Context()))
			return w.now(sub).UnitAmount == 3000
		}, time.Minute, 500*time.Millisecond, "the reconciler finds the charge")
		back := w.dropped(sub)
		assert.EqualValues(t, 3000, back[w.ordersOf(sub)[0].ID]+back[w.ordersOf(sub)[1].ID])
	})
}

// One request asks the provider about several payments, each outside of the transaction that the one before has opened.
func TestCancelSubscription_GivesSeveralPaymentsBackInOneRequest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.rewound(sub, 10*day)
		sub = w.change(sub, w.variant(recurring(3000, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		ended, err := asked(w, "cancel-1", func(ctx context.Context) (*subscription.Subscription, error) {
			return w.Billing.CancelSubscription(ctx, w.account, sub.ID, atOnce)
		})
		require.NoError(t, err)
		require.Len(t, ended.Cancellation.V.RefundIDs, 2)
		for _, id := range ended.Cancellation.V.RefundIDs {
			r, err := w.GetRefund(t.Context(), w.account, id)
			require.NoError(t, err)
			assert.Equal(t, store.RefundStatusSucceeded, r.Status)
		}
	})
}

// The lines of a database that is older than their subscriptions' ids get the ids that they would have been given.
func TestMigrate_FindsTheSubscriptionOfEveryLine(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		fee := recurring(900, "month")
		fee.SetupFeeAmount = 500
		_, err := w.pay(w.checkout(one(w.variant(recurring(100, "month"))), one(w.handbook()), one(w.variant(fee))).ID, "pm_card_visa")
		require.NoError(t, err)
		sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		w.rewound(sub, 15*day)
		w.change(sub, w.variant(recurring(3000, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		w.rewound(sub, 31*day)
		require.NoError(t, w.Work(t.Context()))
		db := harness.OpenDatabase(t, w.url)
		lines := func() []string {
			return db.Strings(t, `SELECT id || ' ' || COALESCE(subscription_id, '') FROM line_items ORDER BY id`)
		}
		before := lines()
		require.Equal(t, 7, db.Count(t, "line_items WHERE subscription_id IS NOT NULL"))
		db.Must(t, `UPDATE line_items SET subscription_id = NULL`)
		steps, err := os.ReadFile("../../store/migrations/" + db.Engine + "/00035_line_subscription.sql")
		require.NoError(t, err)
		for _, statement := range strings.Split(string(steps), ";") {
			if statement = strings.TrimSpace(statement); strings.HasPrefix(statement, "UPDATE") {
				db.Must(t, statement)
			}
		}
		assert.Equal(t, before, lines())
	})
}
