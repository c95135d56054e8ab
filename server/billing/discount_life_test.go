package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/subscription"
)

// at sets the clock of a test to noon of a day of 2027, in which February has 28 days.
func (w *world) at(month time.Month, day int) {
	w.advance.Store(int64(time.Until(time.Date(2027, month, day, 12, 0, 0, 0, time.UTC))))
}

// create makes a discount.
func (w *world) create(d discount.Discount) *discount.Discount {
	w.t.Helper()
	d.Name = "Thanks"
	made, err := w.Discount.Create(w.t.Context(), w.account, d)
	require.NoError(w.t, err)
	return made
}

// half is half of the price for some months.
func (w *world) half(months int64) *discount.Discount {
	return w.create(discount.Discount{Type: discount.TypePercent, PercentBps: new(int64(5000)), Duration: discount.DurationRepeating, DurationInMonths: &months})
}

// offAll is an amount off all lines together.
func (w *world) offAll(amount int64, d discount.Discount) *discount.Discount {
	d.Type, d.Amount, d.Currency = discount.TypeFixed, &amount, new("usd")
	return w.create(d)
}

// buy pays a checkout with a discount, and returns it with the subscriptions that it made in the order of its lines.
func (w *world) buy(d *discount.Discount, lines ...offer.NewLine) (*checkout.Checkout, []*subscription.Subscription) {
	w.t.Helper()
	c, err := w.Checkout.Create(w.t.Context(), w.account, checkout.Draft{
		Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true, DiscountID: &d.ID}, Lines: lines,
	})
	require.NoError(w.t, err)
	c, err = w.pay(c.ID, "pm_card_visa")
	require.NoError(w.t, err)
	all, _, err := w.Subscription.List(w.t.Context(), w.account, subscription.List{Page: core.Page{Limit: 100}})
	require.NoError(w.t, err)
	var made []*subscription.Subscription
	for i := range all {
		if sub := &all[len(all)-1-i]; *sub.CheckoutID == c.ID {
			made = append(made, sub)
		}
	}
	return c, made
}

// nextBill lets the next period of a subscription begin, and returns what it cost, which is what its preview said.
func (w *world) nextBill(sub *subscription.Subscription) int64 {
	w.t.Helper()
	preview, err := w.Subscription.PreviewRenewal(w.t.Context(), w.account, sub.ID)
	require.NoError(w.t, err)
	w.advance.Store(int64(time.Until(w.now(sub).CurrentPeriodEnd.Time().Add(time.Second))))
	require.NoError(w.t, w.Work(w.t.Context()))
	orders := w.ordersOf(sub)
	order := orders[len(orders)-1]
	require.Equal(w.t, *order.PeriodStart, w.now(sub).CurrentPeriodStart)
	assert.Equal(w.t, preview.Amounts.Total, order.TotalAmount, "the preview says what is charged")
	assert.Equal(w.t, order.TotalAmount, order.PaidAmount+order.BalanceApplied)
	return order.TotalAmount
}

// bills are what the next periods of a subscription cost.
func (w *world) bills(sub *subscription.Subscription, periods int) (amounts []int64) {
	w.t.Helper()
	for range periods {
		amounts = append(amounts, w.nextBill(sub))
	}
	return amounts
}

func TestDiscount_CountsAsManyPeriodsAsMonths(t *testing.T) {
	for name, c := range map[string]struct {
		day, givenMonth, givenDay int
		months                    int64
		want                      []int64
	}{
		"for one month":                {31, 2, 28, 1, []int64{500, 1000, 1000}},
		"for two months":               {31, 2, 28, 2, []int64{500, 500, 1000}},
		"from a short month":           {31, 2, 10, 2, []int64{500, 500, 1000}}, // 28 February and 31 March
		"with another day":             {30, 2, 28, 1, []int64{500, 1000, 1000}},
		"in the middle of the month":   {15, 2, 1, 1, []int64{500, 1000, 1000}},
		"just before the period ends":  {15, 2, 15, 3, []int64{500, 500, 500, 1000}},
		"just after the period begins": {29, 1, 29, 1, []int64{500, 1000, 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.at(time.January, c.day)
				sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
				w.at(time.Month(c.givenMonth), c.givenDay)
				require.NoError(t, w.Work(t.Context()))
				_, err := w.discounted(sub, w.half(c.months).ID)
				require.NoError(t, err)
				assert.Equal(t, c.want, w.bills(sub, len(c.want)))
			})
		})
	}
}

// The months of a discount that was shown at a checkout begin when the trial is over, and move with its end.
func TestDiscount_BeginsAfterTheTrial(t *testing.T) {
	for name, c := range map[string]struct {
		extended int
		months   int64
		want     []int64
	}{
		"of a trial longer than the discount": {0, 1, []int64{500, 1000, 1000}},
		"for more months":                     {0, 2, []int64{500, 500, 1000}},
		"of a trial that was extended":        {90, 1, []int64{500, 1000, 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.at(time.January, 31)
				v := recurring(1000, "month")
				v.TrialDays = 45
				checkout, subs := w.buy(w.half(c.months), one(w.variant(v)))
				require.EqualValues(t, 500, checkout.TotalAmount, "what the buyer was shown")
				if c.extended > 0 {
					end := subs[0].TrialEnd.Add(time.Duration(c.extended) * day)
					_, err := w.UpdateSubscription(t.Context(), w.account, subs[0].ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, TrialEnd: &end})
					require.NoError(t, err)
				}
				foreseen := w.now(subs[0]).DiscountEnd()
				assert.Equal(t, c.want, w.bills(subs[0], len(c.want)))
				assert.Equal(t, foreseen, w.now(subs[0]).DiscountEnd(), "it was known when it would end")
			})
		})
	}
}

// At other intervals a period has the discount if it begins before the months are over, which are counted on the anchor day.
func TestDiscount_CountsMonthsOfOtherIntervals(t *testing.T) {
	for name, c := range map[string]struct {
		interval string
		count    int64
		months   int64
		want     []int64
	}{
		"a quarter":          {"month", 3, 3, []int64{500, 1000, 1000}},
		"more than one":      {"month", 3, 4, []int64{500, 500, 1000}},
		"weeks":              {"week", 1, 1, []int64{500, 500, 500, 500, 1000}}, // 7, 14, 21 and 28 February, until 7 March
		"a year":             {"year", 1, 12, []int64{500, 1000}},
		"longer than a year": {"year", 1, 13, []int64{500, 500, 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.at(time.January, 31)
				v := recurring(1000, c.interval)
				v.IntervalCount = &c.count
				sub := w.subscribe(w.variant(v), "pm_card_visa")
				_, err := w.discounted(sub, w.half(c.months).ID)
				require.NoError(t, err)
				assert.Equal(t, c.want, w.bills(sub, len(c.want)))
			})
		})
	}
}

// A month that is not billed, because the subscription was paused or its account disabled, is none of the discount's.
func TestDiscount_CountsNoMonthThatIsNotBilled(t *testing.T) {
	for name, leave := range map[string]func(*world, *subscription.Subscription){
		"paused": func(w *world, sub *subscription.Subscription) {
			_, err := w.PauseSubscription(w.t.Context(), w.account, sub.ID, store.PauseSubscription{})
			require.NoError(w.t, err)
			w.at(time.June, 10)
			require.NoError(w.t, w.Work(w.t.Context()))
			_, err = w.ResumeSubscription(w.t.Context(), w.account, sub.ID)
			require.NoError(w.t, err)
		},
		"disabled": func(w *world, _ *subscription.Subscription) {
			w.disable()
			w.at(time.June, 10)
			w.enable()
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.at(time.January, 31)
				_, subs := w.buy(w.half(3), one(w.variant(recurring(1000, "month"))))
				require.EqualValues(t, 500, w.last(subs[0]))
				leave(w, subs[0])
				before := len(w.ordersOf(subs[0]))
				for range 4 {
					require.NoError(t, w.Work(t.Context()))
					w.advance.Add(int64(31 * day))
				}
				var paid []int64
				for _, o := range w.ordersOf(subs[0])[before:] {
					paid = append(paid, o.PaidAmount)
				}
				assert.Equal(t, []int64{500, 500, 1000, 1000}, paid[:4])
			})
		})
	}
}
