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
