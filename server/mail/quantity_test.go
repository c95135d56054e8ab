package mail

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// Who goes back to one piece is told so. A newsletter has no pieces.
func TestPlanChanged_CountsOnePieceWhereThereWereMore(t *testing.T) {
	t.Parallel()
	says := func(before, now int64, later bool) content {
		sub := &subscription.Subscription{ProductName: "Seats", PriceVariantID: "price_1", Quantity: before, Currency: "usd", Interval: "month", IntervalCount: 1}
		told := &store.LetterContent{Seller: &tenant.Account{Name: "Kestrel"}, Subscription: sub}
		plan := sub.CurrentPlan()
		plan.Quantity = now
		if !later {
			sub.Follow(plan)
			return planChanged(locale.English, told)
		}
		next := *sub
		next.Follow(plan)
		sub.PendingChange = core.JSONOf(&subscription.PendingChange{Plan: plan})
		told.Renewal = &subscription.Renewal{Subscription: &next, Items: []lineitem.Item{{}}}
		return planChanged(locale.English, told)
	}
	for _, later := range []bool{false, true} {
		assert.Contains(t, says(3, 1, later).facts, "Quantity: 1")
		assert.Contains(t, says(1, 3, later).facts, "Quantity: 3")
		assert.NotContains(t, says(1, 1, later).facts, "Quantity: 1")
	}
}

// A plan that comes after one of its name is told apart by what a period costs, as the letter says below.
func TestPlanChanged_TellsPlansOfOneNameByTheirPrices(t *testing.T) {
	t.Parallel()
	sub := &subscription.Subscription{ProductName: "Club", PriceVariantID: "price_1", Quantity: 1, Currency: "usd", Interval: "month", IntervalCount: 1, Status: subscription.StatusActive}
	says := func(l *locale.Locale, change func(*subscription.Plan)) string {
		next, now := *sub, *sub
		plan := sub.CurrentPlan()
		change(&plan)
		next.Follow(plan)
		now.PendingChange = core.JSONOf(&subscription.PendingChange{Plan: plan})
		renewal := &subscription.Renewal{Subscription: &next, Items: []lineitem.Item{{SubtotalAmount: 9000, TotalAmount: 9900}}}
		return planChanged(l, &store.LetterContent{Seller: &tenant.Account{Name: "Kestrel", Timezone: "UTC"}, Subscription: &now, Renewal: renewal}).opening[0]
	}
	yearly := func(p *subscription.Plan) { p.PriceVariantID, p.Interval = "price_2", "year" }
	assert.Contains(t, says(locale.English, yearly), "Your subscription changes to Club, $99.00 every year on ")
	assert.Contains(t, says(locale.Find("de"), yearly), "Club, 99,00 $ pro Jahr")
	assert.Contains(t, says(locale.English, func(p *subscription.Plan) { p.PriceVariantID, p.PriceVariantName = "price_2", new("Gold") }), "changes to Club (Gold) on ")
	assert.Contains(t, says(locale.English, func(p *subscription.Plan) { p.Quantity = 5 }), "changes to Club on ", "the plan is the same")
}
