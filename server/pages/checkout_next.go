package pages

import (
	"context"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
)

// sayNext has the lines of a checkout that are paid again say when and what. It counts from the day on which the checkout was bought, or else from
// today on. Variants are their price variants by id.
func (p *Pages) sayNext(ctx context.Context, page *checkoutPage, variants map[string]*catalog.PriceVariant) error {
	if !page.recurs() || page.State == string(checkout.StatusExpired) {
		return nil
	}
	at := core.Deref(page.Checkout.CompletedAt)
	if page.Checkout.CompletedAt == nil {
		var err error
		if at, err = p.store.ClockOf(ctx, page.Checkout.AccountID); err != nil {
			return err
		}
	}
	for i := range page.Items {
		line := &page.Items[i]
		variant := variants[core.Deref(line.PriceVariantID)]
		next, err := checkout.NextPaymentOf(&line.Item, variant, at)
		if err != nil {
			return err
		}
		if next != nil {
			line.Next = page.nextOf(line, variant, next)
		}
	}
	return nil
}

// nextOf says when and what is paid for a line again. A discount may end before, so the price is the one without it.
func (p checkoutPage) nextOf(line *shownLine, v *catalog.PriceVariant, next *checkout.NextPayment) string {
	each := p.l.Times(p.l.Every(*v.Interval, max(core.Deref(v.IntervalCount), 1)), next.Times)
	isTaxedLater := p.Checkout.TaxAmount == nil && !line.TaxInclusive
	return p.l.Next(each, p.l.Money(next.Amount, line.Currency), p.l.Day(p.Seller.Local(next.At)), line.DiscountAmount > 0, isTaxedLater)
}
