package store

import (
	"context"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
)

// LetterLine is a line of an order, as a letter tells of it. Next is what its subscription charges after the period of the line, and Interval and
// IntervalCount say how often. Next is nil if nothing follows, or the plan has changed since.
type LetterLine struct {
	lineitem.Item
	Next          *checkout.NextPayment
	Interval      string
	IntervalCount int64
	IsDiscounted  bool // a discount that goes on makes Next cheaper
}

// lineOfPlan is a line with those columns of its subscription that say what follows, nil if there is no subscription.
type lineOfPlan struct {
	lineitem.Item
	PlanStart      *core.Time `db:"plan_start"`
	PlanVariant    *string    `db:"plan_variant"`
	PlanQuantity   *int64     `db:"plan_quantity"`
	PlanUnit       *int64     `db:"plan_unit"` // nil if nothing follows, too
	PlanInterval   *string    `db:"plan_interval"`
	PlanCount      *int64     `db:"plan_count"`
	PlanCyclesLeft *int64     `db:"plan_cycles_left"`
	PlanDiscount   *string    `db:"plan_discount"`
}

// OrderLines returns the lines of an order in their order, with what follows each, in one statement.
func (s *Store) OrderLines(ctx context.Context, o *order.Order) ([]LetterLine, error) {
	rows, err := db.Select[lineOfPlan](ctx, s.db, lineitem.Columns.SelectWith("plan_start", "plan_variant", "plan_quantity", "plan_unit", "plan_interval", "plan_count", "plan_cycles_left", "plan_discount")+`
		LEFT JOIN (
			SELECT account_id AS plan_account, id AS plan_id, current_period_start AS plan_start, price_variant_id AS plan_variant, quantity AS plan_quantity,
				CASE WHEN status IN ('trialing', 'active') AND NOT cancel_at_period_end AND NOT pause_at_period_end AND pending_change IS NULL THEN unit_amount END AS plan_unit,
				interval AS plan_interval, interval_count AS plan_count, billing_cycles - cycles_billed + restarts AS plan_cycles_left,
				CASE WHEN discount IS NOT NULL AND (discount_ends_at IS NULL OR discount_ends_at > current_period_end) THEN discount_id END AS plan_discount
			FROM subscriptions
		) AS plans ON plan_account = account_id AND plan_id = subscription_id
		WHERE account_id = ? AND order_id = ? ORDER BY position`, o.AccountID, o.ID)
	if err != nil {
		return nil, err
	}
	lines := make([]LetterLine, len(rows))
	for i := range rows {
		if lines[i], err = rows[i].line(); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// line returns the line with what follows it. That has its tax, and no discount, as on the page of its checkout.
func (r *lineOfPlan) line() (LetterLine, error) {
	line := LetterLine{Item: r.Item, Interval: core.Deref(r.PlanInterval), IntervalCount: core.Deref(r.PlanCount), IsDiscounted: r.PlanDiscount != nil}
	isCurrent := r.PlanStart != nil && r.PeriodStart != nil && *r.PlanStart == *r.PeriodStart && *r.PlanQuantity == r.Quantity && *r.PlanVariant == core.Deref(r.PriceVariantID)
	if r.Kind != lineitem.KindPrice || !isCurrent || core.Deref(r.PlanUnit) == 0 || r.PlanCyclesLeft != nil && *r.PlanCyclesLeft < 1 {
		return line, nil
	}
	usual := []lineitem.Item{r.Item}
	usual[0].UnitAmount = *r.PlanUnit
	_, err := lineitem.Price(usual)
	line.Next = &checkout.NextPayment{At: *r.PeriodEnd, Amount: usual[0].TotalAmount, Times: r.PlanCyclesLeft}
	return line, err
}
