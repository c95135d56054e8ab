package subscription

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/tenant"
)

// Granted is what a subscription's grant says, so that whoever saves the subscription sees what has changed without reading the grant.
type Granted struct {
	GrantID        string       `json:"grant"`            // empty: the product is a tip
	Before         string       `json:"before,omitempty"` // the product that it was for before the tip
	ProductID      string       `json:"product"`
	PriceVariantID string       `json:"price_variant"`
	Quantity       int64        `json:"quantity"`
	Status         Status       `json:"status"`    // of the subscription
	Suspended      grant.Reason `json:"suspended"` // why it is suspended, empty if it is not
}

// IDs returns the id of the grant, none if there is none.
func (g *Granted) IDs() []string {
	if g == nil || g.GrantID == "" {
		return []string{}
	}
	return []string{g.GrantID}
}

// item is what of its source the subscription gave last, empty if it never gave anything.
func (g *Granted) item() string {
	if g.GrantID == "" {
		return g.Before
	}
	return g.ProductID
}

// source is the subscription as the source of its grants. Each product that it was for is an item.
func (s *Subscription) source() grant.Source {
	return grant.Source{Type: grant.SourceTypeSubscription, ID: s.ID}
}

// giving is what the subscription gives by a plan. A period that has begun is not paid for before isPaid says so. But a trial is, and so is one
// that nobody has to pay: see IsCovered.
func (s *Subscription) giving(p Plan) grant.Giving {
	paid, isPaid := s.CurrentPeriodStart, s.IsPaid || s.IsCovered || s.Status == StatusTrialing
	if isPaid {
		paid = s.CurrentPeriodEnd
	}
	return grant.Giving{
		Account: s.AccountID, Customer: s.CustomerID, Product: p.ProductID, Variant: &p.PriceVariantID, Quantity: p.Quantity,
		Source: s.source(), Item: p.ProductID, PaidUntil: &paid, PaysNone: !isPaid,
	}
}

// give notes that a grant of the subscription says what a plan does.
func (s *Subscription) give(id string, p Plan) {
	g := Granted{Status: s.Status}
	if s.Granted.V != nil {
		g = *s.Granted.V
	}
	g.GrantID, g.ProductID, g.PriceVariantID, g.Quantity = id, p.ProductID, p.PriceVariantID, p.Quantity
	s.Granted = core.JSONOf(&g)
}

// GiveNew gives what the new subscriptions of a checkout are for. Lines are the indexes of their lines.
func (s *Store) GiveNew(ctx context.Context, u *db.Unit, subs []Subscription, lines []int, items []lineitem.Item) error {
	var givings []grant.Giving
	for i := range subs {
		subs[i].IsPaid = true
		if items[lines[i]].Gives {
			giving := subs[i].giving(subs[i].CurrentPlan())
			giving.Licensing = items[lines[i]].Licensing
			givings = append(givings, giving)
		}
	}
	given, err := s.rooms.Grant.GiveNew(ctx, u, givings)
	if err != nil {
		return err
	}
	for i := range subs {
		id := ""
		if items[lines[i]].Gives {
			id, given = given[0].ID, given[1:]
		}
		subs[i].give(id, subs[i].CurrentPlan())
	}
	return nil
}

// Deliver has the customer of a locked subscription have what follows from its state. Without a change that costs nothing. What it gives lasts to
// the end of a period that IsCovered. A change of plan began that without a bill, it is a longer trial, or its bill was given up. The caller stores
// the subscription.
func (s *Store) Deliver(ctx context.Context, u *db.Unit, sub *Subscription) error {
	if sub.Granted.V == nil && sub.HasEnded() {
		return nil // it ended without ever giving anything
	}
	if err := s.SwitchProduct(ctx, u, sub, sub.CurrentPlan()); err != nil {
		return err
	}
	was, now := *sub.Granted.V, *sub.Granted.V
	now.Status = sub.Status
	if now.GrantID == "" {
		return s.payTip(ctx, u, sub)
	}
	if sub.IsCovered {
		sub.IsCovered = false
		if err := s.rooms.Grant.Cover(ctx, u, sub.AccountID, sub.source(), sub.CurrentPeriodEnd); err != nil {
			return err
		}
	}
	if owed := sub.Owes || sub.IsSettled && was.Suspended != ""; was.Status == sub.Status && !sub.IsPaid && !owed {
		return nil
	}
	var err error
	if now.Suspended, err = s.suspension(ctx, u, sub, was); err != nil {
		return err
	}
	sub.Granted = core.JSONOf(&now)
	grants, account, source := s.rooms.Grant, sub.AccountID, sub.source()
	switch {
	case sub.Status == StatusCanceled:
		return grants.Revoke(ctx, u, account, source, grant.ReasonSubscriptionEnded)
	case now.Suspended != "" && now.Suspended != was.Suspended:
		return grants.Suspend(ctx, u, account, source, now.Suspended)
	case now.Suspended == "" && was.Suspended != "":
		if err := grants.Resume(ctx, u, account, source); err != nil {
			return err
		}
	}
	switch {
	case sub.Status == StatusCompleted: // all is paid, or the account waits for the last bill: theirs for good
		return grants.Extend(ctx, u, account, source, nil)
	case sub.IsPaid:
		sub.IsPaid = false
		return grants.Extend(ctx, u, account, source, &sub.CurrentPeriodEnd)
	}
	return nil
}

// payTip has the payment of a tip end what a refund took away, as any payment does. What the subscription gave before the tip comes back with a
// change of plan alone.
func (s *Store) payTip(ctx context.Context, u *db.Unit, sub *Subscription) error {
	if !sub.IsPaid || sub.Granted.V.Before == "" {
		return nil
	}
	sub.IsPaid = false
	return s.rooms.Grant.Extend(ctx, u, sub.AccountID, sub.source(), &sub.CurrentPeriodEnd)
}

// suspension returns why what a subscription gives is suspended in its state, empty if it is not. Whether it is while a payment is past due is
// decided when that begins. So is it of one that is complete and owes its last bill.
func (s *Store) suspension(ctx context.Context, r db.Reader, sub *Subscription, was Granted) (grant.Reason, error) {
	switch sub.Status {
	case StatusPaused:
		return grant.ReasonPaused, nil
	case StatusPastDue:
		if was.Status == StatusPastDue {
			return was.Suspended, nil
		}
		return s.lateAccess(ctx, r, sub)
	case StatusCompleted:
		if sub.Owes {
			return s.lateAccess(ctx, r, sub)
		}
	case StatusTrialing, StatusActive, StatusCanceled:
	}
	return "", nil
}

// lateAccess returns why what a subscription gives is suspended while a payment is late, empty if the account leaves it to its customer.
func (s *Store) lateAccess(ctx context.Context, r db.Reader, sub *Subscription) (grant.Reason, error) {
	account, err := s.rooms.Tenant.Seller(ctx, r, sub.AccountID)
	if err != nil || account.PastDueAccess == tenant.PastDueAccessKeep {
		return "", err
	}
	return grant.ReasonPastDue, nil
}

// SwitchProduct gives what a locked subscription is for by a plan, if its grant says something else. That is another product in the place of the
// one before, or another variant or quantity of the same. The caller stores the subscription.
func (s *Store) SwitchProduct(ctx context.Context, u *db.Unit, sub *Subscription, plan Plan) error {
	was := sub.Granted.V
	if was != nil && was.ProductID == plan.ProductID && was.PriceVariantID == plan.PriceVariantID && was.Quantity == plan.Quantity {
		return nil
	}
	isTip, err := s.isTip(ctx, u, sub.AccountID, plan.ProductID)
	if err != nil {
		return err
	}
	giving, id := sub.giving(plan), ""
	if was != nil {
		giving.InsteadOf = was.item()
	}
	switch {
	case !isTip:
		if id, err = s.giveProduct(ctx, u, sub, giving); err != nil {
			return err
		}
	case was != nil && was.GrantID != "":
		if err := s.rooms.Grant.RevokeItem(ctx, u, sub.AccountID, sub.source(), giving.InsteadOf, grant.ReasonPlanChange); err != nil {
			return err
		}
	}
	sub.give(id, plan)
	switch {
	case id == "":
		sub.Granted.V.Before = giving.InsteadOf
	case was == nil || was.GrantID == "": // older than grants, or after a tip: what its state means is found out now
		sub.Granted.V.Status, sub.Granted.V.Suspended, sub.Granted.V.Before = "", "", ""
	}
	return nil
}

// giveProduct gives what a locked subscription is for, and returns the id of the grant. What comes in the place of nothing has no former grant to say that a
// refund ended access: the refunds themselves do.
func (s *Store) giveProduct(ctx context.Context, u *db.Unit, sub *Subscription, giving grant.Giving) (string, error) {
	given, err := s.rooms.Grant.Give(ctx, u, giving)
	if err != nil {
		return "", err
	}
	if giving.InsteadOf == "" && !sub.IsPaid {
		refunded, err := s.isRefunded(ctx, u, sub)
		if err != nil {
			return "", err
		}
		if refunded {
			err = s.rooms.Grant.Revoke(ctx, u, sub.AccountID, sub.source(), grant.ReasonRefund)
		}
		if err != nil {
			return "", err
		}
	}
	return given.ID, nil
}

// isRefunded reports whether a refund that ends access stands for a subscription: no payment of it has come after.
func (s *Store) isRefunded(ctx context.Context, u *db.Unit, sub *Subscription) (bool, error) {
	found, err := db.Get[int](ctx, u, `
		SELECT 1 FROM line_items l JOIN refunds r ON r.account_id = l.account_id AND r.order_id = l.order_id
		WHERE l.account_id = ? AND l.subscription_id = ? AND r.status = 'succeeded' AND r.revoke_access
			AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.account_id = r.account_id AND o.subscription_id = ? AND o.paid_at > r.succeeded_at) LIMIT 1`,
		sub.AccountID, sub.ID, sub.ID)
	if err != nil {
		return false, fmt.Errorf("look for refunds of a subscription: %w", err)
	}
	return found != nil, nil
}

// isTip reports whether a product gives nothing.
func (s *Store) isTip(ctx context.Context, u *db.Unit, account, product string) (bool, error) {
	kind, err := db.Get[catalog.ProductType](ctx, u, `SELECT type FROM products WHERE account_id = ? AND id = ?`, account, product)
	if err != nil {
		return false, fmt.Errorf("read the type of a product: %w", err)
	}
	return kind != nil && *kind == catalog.ProductTypeTip, nil
}
