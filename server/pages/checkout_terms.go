package pages

import (
	"context"
	"html/template"

	"github.com/tillwright/tillwright/store/checkout"
)

// term is a legal page that the buyer accepts with the box below it.
type term struct {
	Title string
	HTML  template.HTML // what the policy of markdown lets through
}

// askTerms has the page of an open checkout show what its buyer has to accept.
func (p *Pages) askTerms(ctx context.Context, page *checkoutPage, offer *checkout.Offer) error {
	if page.State != string(checkout.StatusOpen) {
		return nil
	}
	if err := p.store.Content.ReadPublished(ctx, page.Seller.ID, offer.LegalPages); err != nil {
		return err
	}
	page.TermsShown = checkout.TextsOf(offer.LegalPages)
	for _, l := range offer.LegalPages {
		if l.Text != nil { // nil = it was deleted meanwhile
			page.Terms = append(page.Terms, term{l.Text.Title, template.HTML(l.Text.HTML)})
		}
	}
	return nil
}

// dropOldTick takes the tick out of a form whose page did not show all that its buyer has to accept now. A page of an older version of the
// server did not say what it showed.
func dropOldTick(form map[string]string, offer *checkout.Offer) {
	if !offer.WereShown(form[termsShown]) {
		delete(form, "terms")
	}
}

// askWaiver has the page ask its buyer for what the law of the country that is chosen on it wants of them.
func (p *checkoutPage) askWaiver(offer *checkout.Offer) {
	country := p.Country
	if a := p.Checkout.BillingAddress.V; a != nil && country == "" {
		country = text(a.Country)
	}
	p.AsksWaiver = offer.AsksWaiver(country)
}
