package store

import (
	"context"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/subscription"
)

// Ad networks are told of what somebody bought if they agreed to that at the checkout, and of nothing else that is bought. An order without a
// checkout, such as that of a renewal or of an invoice, has nobody who agreed to it.

// tellAds queues what ad networks are to be told of a locked checkout that is being completed, if its buyer agreed. They are told of its order,
// unless that costs nothing, and of the subscriptions that it begins. Each of these is from the line of the bill with its index in lines. Of a trial
// they are told when it begins. The visit is erased, because it is of no more use; the caller stores the checkout. It costs other purchases nothing.
func (s *Store) tellAds(ctx context.Context, u *db.Unit, c *checkout.Checkout, b *invoice.Bill, isKnown bool, subs []subscription.Subscription, lines []int) error {
	if !c.AdsConsent {
		return nil
	}
	who := happening(c, b, isKnown)
	c.AdsVisit.V = nil
	happened, onTrial := []advert.Happening{}, map[string]bool{}
	for i := range subs {
		item, kind := b.Items[lines[i]], advert.ConversionSubscriptionStarted
		if subs[i].Status == subscription.StatusTrialing {
			kind, onTrial[item.ID] = advert.ConversionTrialStarted, true
		}
		happened = append(happened, tell(who, kind, subs[i].ID, item.TotalAmount, []lineitem.Item{item}))
	}
	if b.Order.TotalAmount > 0 {
		var bought []lineitem.Item
		for _, item := range b.Items {
			if !onTrial[item.ID] {
				bought = append(bought, item)
			}
		}
		happened = append(happened, tell(who, advert.ConversionPurchase, b.Order.ID, b.Order.TotalAmount, bought))
	}
	for _, h := range happened {
		if err := s.Advert.QueueConversions(ctx, u, h); err != nil {
			return err
		}
	}
	return nil
}

// happening returns who completes a checkout and how they came, without what they did. What only the customer of the bill said, networks
// are told if the buyer is known to be that customer.
func happening(c *checkout.Checkout, b *invoice.Bill, isKnown bool) advert.Happening {
	h := advert.Happening{
		Account: c.AccountID, At: b.Order.CreatedAt, Currency: c.Currency, CustomerID: b.Customer.ID, Email: core.Deref(c.CustomerEmail),
	}
	h.FirstName, h.LastName, _ = strings.Cut(strings.TrimSpace(core.Deref(c.CustomerName)), " ")
	if isKnown {
		h.Phone = core.Deref(b.Customer.Phone)
	}
	if a := c.BillingAddress.V; a != nil {
		h.City, h.State, h.Zip, h.Country = core.Deref(a.City), core.Deref(a.State), core.Deref(a.PostalCode), core.Deref(a.Country)
	}
	c.AdsVisit.V.Tell(&h)
	return h
}

// tell returns what the buyer did: bought these lines, for an amount in minor units. Without an amount there is no currency either.
func tell(h advert.Happening, kind advert.ConversionKind, event string, amount int64, items []lineitem.Item) advert.Happening {
	unit := advert.AmountUnit // of the minor unit
	for range core.ExponentOf(h.Currency) {
		unit /= 10
	}
	h.Kind, h.EventID, h.Value = kind, event, advert.Amount(amount)*unit
	for _, item := range items {
		if item.ProductID == nil {
			continue
		}
		h.ProductIDs = append(h.ProductIDs, *item.ProductID)
		if item.Kind == lineitem.KindPrice { // a set-up fee is no other piece of the product
			h.Items = append(h.Items, advert.ConversionItem{ID: *item.ProductID, Quantity: int(item.Quantity), Price: advert.Amount(item.UnitAmount) * unit})
		}
	}
	if amount == 0 {
		h.Currency = ""
	}
	return h
}
