package pages

import (
	"github.com/tillwright/tillwright/store"
)

// portalPurchase is one of which only a typed address says that it is the customer's. Of whoever made it nothing is shown.
type portalPurchase struct {
	store.Checkout
	Summary   string
	IsCharged bool // a subscription of it has no card of its own, and would be charged to the customer's
}

// portalPurchases is how many of them are shown at a time.
const portalPurchases = 5

// purchases are what somebody bought who typed the customer's address.
func (p *Pages) purchases(v *visit) ([]portalPurchase, error) {
	ctx, account := v.ctx(), v.Session.AccountID
	checkouts, err := p.store.UnverifiedPurchases(ctx, account, v.Customer.ID, portalPurchases)
	if err != nil {
		return nil, err
	}
	all := make([]portalPurchase, len(checkouts))
	for i, c := range checkouts {
		items, err := p.store.CheckoutLines(ctx, account, c.ID)
		if err != nil {
			return nil, err
		}
		all[i] = portalPurchase{Checkout: c, Summary: bought(items)}
		if c.SubscriptionID == nil {
			continue
		}
		sub, err := p.store.GetSubscription(ctx, account, *c.SubscriptionID)
		if err != nil {
			return nil, err
		}
		all[i].IsCharged = sub.Method.V == nil && sub.Amount() > 0
	}
	return all, nil
}

// acceptPurchase is the customer's word that a purchase is theirs.
func (p *Pages) acceptPurchase(v *visit) error {
	if _, err := p.store.AcceptPurchase(v.ctx(), v.Session.AccountID, v.Customer.ID, v.Param("checkout")); err != nil {
		return p.refuse(v, err)
	}
	return v.done("", "accepted")
}
