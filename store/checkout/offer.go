package checkout

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/tenant"
)

// Offer is what a buyer is shown beside the checkout itself: who sells, what, which questions the products ask, and what is to be
// accepted.
type Offer struct {
	Seller       *tenant.Account
	Items        []lineitem.Item
	CustomFields []catalog.CustomField
	LegalPages   []content.LegalPage         // to be accepted, without their bodies
	Products     map[string]*catalog.Product // by id, those that were not deleted
}

// TermsRequired reports whether the buyer has to accept terms to confirm.
func (o *Offer) TermsRequired() bool {
	return o.Seller.CheckoutRequiresTerms || len(o.LegalPages) > 0
}

// GetOffer returns what a buyer is shown beside the checkout itself.
func (s *Store) GetOffer(ctx context.Context, c *Checkout) (*Offer, error) {
	return s.GetOfferIn(ctx, s.db, c)
}

// GetOfferIn does what GetOffer does, where r says.
func (s *Store) GetOfferIn(ctx context.Context, r db.Reader, c *Checkout) (*Offer, error) {
	items, err := s.rooms.Lines.OfCheckoutIn(ctx, r, c.AccountID, c.ID)
	if err != nil {
		return nil, err
	}
	return s.offerOf(ctx, r, c, items)
}

// offerOf returns the offer of a checkout whose lines are these.
func (s *Store) offerOf(ctx context.Context, r db.Reader, c *Checkout, items []lineitem.Item) (*Offer, error) {
	seller, err := s.rooms.Tenant.Seller(ctx, r, c.AccountID)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, item := range items {
		ids = append(ids, *item.ProductID)
	}
	products, err := s.rooms.Catalog.OffersByIDIn(ctx, r, c.AccountID, ids)
	if err != nil {
		return nil, err
	}
	pages, err := s.pagesToAccept(ctx, r, c, seller)
	if err != nil {
		return nil, err
	}
	return &Offer{Seller: seller, Items: items, CustomFields: questions(ids, products), LegalPages: pages, Products: products}, nil
}

// PreviewTax prices an open checkout of which the tax is not known for a buyer in a country, and reports whether it can. Nothing is
// stored, or read: one whose customer is known, or that has a discount, stays as it is. So does one in a country where the tax depends on the state.
func (o *Offer) PreviewTax(c *Checkout, country string) (bool, error) {
	if c.Status != StatusOpen || c.TaxAmount != nil || c.DiscountID != nil || !c.isTyped() {
		return false, nil
	}
	rate, known := o.Seller.Tax.V.Source().RateAt(&core.Address{Country: &country})
	if !known {
		return true, nil
	}
	items := slices.Clone(o.Items)
	for i := range items {
		if rate != nil {
			items[i].TaxRateBps, items[i].TaxName = rate.RateBps, &rate.Name
		}
	}
	shown, err := lineitem.Price(items)
	if err != nil {
		return false, err
	}
	o.Items = items
	return true, c.setAmounts(items, quote{shown, dueNow(items), true, c.PaymentMethodRequired})
}

// questions returns the custom fields of the products that ids name, in their order and of each product once. One that was
// deleted is not among them.
func questions(ids []string, products map[string]*catalog.Product) []catalog.CustomField {
	var fields []catalog.CustomField
	for i, id := range ids {
		if p := products[id]; p != nil && !slices.Contains(ids[:i], id) {
			fields = append(fields, p.CustomFields.V...)
		}
	}
	return fields
}
