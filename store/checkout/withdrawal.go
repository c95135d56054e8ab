package checkout

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
)

// canWithdraw reports whether the law of a country lets a consumer withdraw from what they bought at a distance. They lose that right if they
// asked for digital content at once and know that. These are the countries of the European Economic Area, with those of their parts that have a
// code of their own, and the United Kingdom.
func canWithdraw(country string) bool {
	return slices.Contains(strings.Fields("AT AX BE BG CY CZ DE DK EE ES FI FR GB GF GP GR HR HU IE IS IT LI LT LU LV MF MQ MT NL NO PL PT RE RO SE SI SK YT"), country)
}

// AsksWaiver reports whether a buyer in a country has to say that they give up their right to withdraw. They have to if the law there asks for it
// and something is delivered at once. A buyer whose country is not known is taken for one of the seller's.
func (o *Offer) AsksWaiver(country string) bool {
	return canWithdraw(cmp.Or(country, core.Deref(o.Seller.Country))) && slices.ContainsFunc(o.Items, func(item lineitem.Item) bool {
		p := o.Products[core.Deref(item.ProductID)]
		return p != nil && item.Gives && (item.Licensed || p.Delivers)
	})
}

// waive notes in a locked checkout that its buyer gives up their right to withdraw. It is a problem with withdrawal_waived if they do not, but have to
// on our page: see AsksWaiver. Whom our page does not ask gives up nothing there. Who confirms elsewhere is asked by the seller. The offers are those of
// the lines.
func (s *Store) waive(ctx context.Context, r db.Reader, p *core.Problems, c *Checkout, in *Confirm, items []lineitem.Item, offers []offer.Offer, now core.Time) error {
	if in.WithdrawalWaived {
		c.WithdrawalWaivedAt = &now
	}
	if !in.OnPage {
		return nil
	}
	seller, err := s.rooms.Tenant.Seller(ctx, r, c.AccountID)
	if err != nil {
		return err
	}
	asks := &Offer{Seller: seller, Items: items, Products: map[string]*catalog.Product{}}
	for _, o := range offers {
		asks.Products[o.Product.ID] = o.Product
	}
	country := ""
	if a := c.BillingAddress.V; a != nil {
		country = core.Deref(a.Country)
	}
	needed := asks.AsksWaiver(country)
	if !needed || !in.WithdrawalWaived { // they may have ticked it for a payment that was declined
		c.WithdrawalWaivedAt = nil
	}
	p.Check(!needed || in.WithdrawalWaived, "withdrawal_waived", "The buyer has to say that they give up their right to withdraw.")
	return nil
}
