package db

import (
	"context"
	"fmt"
)

// DeliveredBy returns the id of an active product that delivers what an id of a type names, "" if there is none. The caller has locked that: a
// product that becomes active meanwhile, or names it, locks it too.
func (u *Unit) DeliveredBy(ctx context.Context, account, kind, id string) (string, error) {
	product, err := Get[string](ctx, u, `
		SELECT p.id FROM product_deliverables d JOIN products p ON p.account_id = d.account_id AND p.id = d.product_id
		WHERE d.account_id = ? AND d.type = ? AND d.ref = ? AND d.removed IS NULL AND p.status || '' = 'active' LIMIT 1`, account, kind, id)
	if err != nil {
		return "", fmt.Errorf("look for a product that delivers %s: %w", id, err)
	}
	if product == nil {
		return "", nil
	}
	return *product, nil
}

// OnListSQL is the condition that a row d of product_deliverables is on the list of a product p. If additions are for new buyers it
// counts what was on the list when the grant g was given, which the ids tell.
const OnListSQL = `CASE p.delivery_updates WHEN 'all_buyers' THEN d.removed IS NULL
	ELSE d.id < substr(g.id, 7) AND (d.removed IS NULL OR d.removed > substr(g.id, 7)) END`

// ActiveGrantSQL is the condition that a row g of grants opens something now. Its argument is the account's time. It hides the status from the
// planner: the grants of a customer are few, those that are active are not.
const ActiveGrantSQL = `g.status || '' = 'active' AND (g.expires_at IS NULL OR g.expires_at > ?)`
