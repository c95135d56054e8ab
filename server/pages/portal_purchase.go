package pages

import "github.com/tillwright/tillwright/store/checkout"

// portalPurchase is a purchase that somebody made who typed the customer's address, which was never confirmed for it. Nothing
// is shown of whoever made it.
type portalPurchase struct {
	checkout.Checkout
	Summary   string
	IsCharged bool // a subscription of it has no card of its own, and would be charged to the customer's
}

// portalPurchases is how many of these purchases are shown at a time.
const portalPurchases = 5

// purchases returns the purchases that somebody made with the customer's address, and that nobody has confirmed.
func (p *Pages) purchases(v *visit) ([]portalPurchase, error) {
	ctx, account := v.ctx(), v.Session.AccountID
	checkouts, err := p.store.Checkout.UnverifiedPurchases(ctx, account, v.Customer.ID, portalPurchases)
	if err != nil {
		return nil, err
	}
	all := make([]portalPurchase, len(checkouts))
	for i, c := range checkouts {
		items, err := p.store.Lines.OfCheckout(ctx, account, c.ID)
		if err != nil {
			return nil, err
		}
		all[i] = portalPurchase{Checkout: c, Summary: bought(v.l, items)}
		if c.SubscriptionID == nil {
			continue
		}
		sub, err := p.store.Subscription.Get(ctx, account, *c.SubscriptionID)
		if err != nil {
			return nil, err
		}
		all[i].IsCharged = sub.Method.V == nil && sub.Amount() > 0
	}
	return all, nil
}

// acceptPurchase serves the button with which the customer says that such a purchase is theirs.
func (p *Pages) acceptPurchase(v *visit) error {
	if _, err := p.store.Checkout.AcceptPurchase(v.ctx(), v.Session.AccountID, v.Customer.ID, v.Param("checkout")); err != nil {
		return p.refuse(v, err)
	}
	return v.done("", "accepted")
}
