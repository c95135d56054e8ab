package checkout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/subscription"
)

// NextPayment is what is paid for a recurring line of a checkout after what is paid with the checkout.
type NextPayment struct {
	At     core.Time // of the first of them
	Amount int64     // of each of them without discounts, with its tax as far as that is known
	Times  *int64    // how often, nil until it is cancelled
}

// NextPaymentOf returns what follows if a line of this price variant is bought at a moment, nil if nothing does. With a trial the first
// payment of all is what follows.
func NextPaymentOf(l *lineitem.Item, v *catalog.PriceVariant, at core.Time) (*NextPayment, error) {
	if v == nil || v.Type != catalog.PriceVariantTypeRecurring || l.Kind != lineitem.KindPrice || l.UnitAmount == 0 {
		return nil, nil
	}
	next := &NextPayment{Times: v.BillingCycles}
	if end := l.TrialEndsAt(at); end != nil {
		next.At = *end
	} else {
		plan := subscription.Plan{Interval: *v.Interval, IntervalCount: max(core.Deref(v.IntervalCount), 1)}
		end, err := plan.PeriodEnd(at, int64(at.Time().Day()))
		if err != nil {
			return nil, err
		}
		next.At = end
		if v.BillingCycles != nil {
			next.Times = new(*v.BillingCycles - 1)
		}
	}
	if next.Times != nil && *next.Times < 1 {
		return nil, nil
	}
	usual := []lineitem.Item{*l}
	_, err := lineitem.Price(usual)
	next.Amount = usual[0].TotalAmount
	return next, err
}

// Shown returns the amounts that a buyer of these lines is shown, as one text. They are what is due now, the total, and what each line costs
// without discounts. The last is what is paid later for a line that recurs. If they are all the same it is that amount alone. Another text says
// that the buyer has to look again.
func (c *Checkout) Shown(items []lineitem.Item) (string, error) {
	usual := slices.Clone(items)
	if _, err := lineitem.Price(usual); err != nil {
		return "", err
	}
	amounts := []int64{c.AmountDueNow, c.TotalAmount}
	for i := range usual {
		amounts = append(amounts, usual[i].TotalAmount)
	}
	if slices.Min(amounts) == slices.Max(amounts) {
		amounts = amounts[:1]
	}
	texts := make([]string, len(amounts))
	for i, amount := range amounts {
		texts[i] = strconv.FormatInt(amount, 10)
	}
	return strings.Join(texts, " "), nil
}
