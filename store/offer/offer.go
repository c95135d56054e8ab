package offer

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
)

// Offer is a price variant and its product, as they are now, for a line to be made of.
type Offer struct {
	Variant   *catalog.PriceVariant
	Product   *catalog.Product
	licensing *grant.Licensing // nil if that is not read
}

// Unsellable says in a sentence why so many pieces of the offer cannot be bought now, and returns nothing if they can.
func (o Offer) Unsellable(quantity int64) string {
	v := o.Variant
	switch {
	case o.Product.Status != catalog.ProductStatusActive:
		return fmt.Sprintf("Product %s is not active.", o.Product.ID)
	case v.Status != catalog.PriceVariantStatusActive:
		return fmt.Sprintf("Price variant %s is archived.", v.ID)
	case v.Stock != nil && v.SoldCount+v.ReservedCount+quantity > *v.Stock:
		return fmt.Sprintf("Price variant %s is out of stock.", v.ID)
	}
	return ""
}

// MayLicense reports whether the offer may come with a licence key. That costs nothing where there is neither a deliverable nor a licence.
func (o Offer) MayLicense() bool {
	return o.Product.Type != catalog.ProductTypeTip && (o.Product.Delivers || o.Variant.License.V != nil && o.Variant.License.V.Enabled)
}

// Allowed says in a sentence why the price variant is not sold in this quantity, and returns nothing if it is.
func (o Offer) Allowed(quantity int64) string {
	v := o.Variant
	if quantity < v.QuantityMin {
		return fmt.Sprintf("Price variant %s is sold from %d pieces on.", v.ID, v.QuantityMin)
	}
	if v.QuantityMax != nil && quantity > *v.QuantityMax {
		return fmt.Sprintf("Price variant %s is sold up to %d pieces.", v.ID, *v.QuantityMax)
	}
	return ""
}

// Foreign says in a sentence why the offer cannot be sold in the currency, and returns nothing if it can.
func (o Offer) Foreign(currency string) string {
	if _, _, ok := o.Variant.AmountsIn(currency); !ok {
		return fmt.Sprintf("Price variant %s has no price in %s.", o.Variant.ID, currency)
	}
	return ""
}

// UnitAmount returns the price of one unit, in a currency that the offer is sold in. Problem says why there is none, and is
// empty if there is. Custom is what the buyer chose to pay, nil for nothing.
func (o Offer) UnitAmount(currency string, custom *int64) (amount int64, problem string) {
	v := o.Variant
	if custom != nil && v.AmountType != catalog.PriceVariantAmountTypeCustom {
		return 0, fmt.Sprintf("Price variant %s has a fixed price: leave custom_amount out.", v.ID)
	}
	switch v.AmountType {
	case catalog.PriceVariantAmountTypeCustom:
		return o.customAmount(currency, custom)
	case catalog.PriceVariantAmountTypeFree:
		return 0, ""
	}
	amount, _, _ = v.AmountsIn(currency)
	return amount, ""
}

// customAmount returns the amount that the buyer chose, or the suggested one if they chose nothing. Problem says why that is not
// acceptable, and is empty if it is.
func (o Offer) customAmount(currency string, custom *int64) (amount int64, problem string) {
	v := o.Variant
	if custom == nil {
		custom = v.SuggestedAmount
	}
	switch {
	case custom == nil:
		return 0, fmt.Sprintf("Price variant %s lets the buyer choose: send custom_amount.", v.ID)
	case v.MinAmount != nil && *custom < *v.MinAmount:
		return 0, fmt.Sprintf("Price variant %s costs at least %d.", v.ID, *v.MinAmount)
	case v.MaxAmount != nil && *custom > *v.MaxAmount:
		return 0, fmt.Sprintf("Price variant %s costs at most %d.", v.ID, *v.MaxAmount)
	}
	if *custom > 0 {
		problem = core.CurrencyOf(currency).Refuses(currency, *custom)
	}
	return *custom, problem
}

// Of reads the price variants that are asked for, and their products. A price variant that does not exist is CodeMissing on the line that names
// it. So is one whose product was deleted after it was read.
func (s *Store) Of(ctx context.Context, r db.Reader, account string, wanted []NewLine) ([]Offer, error) {
	ids := make([]string, len(wanted))
	for i, line := range wanted {
		ids[i], _ = core.ParseID(core.KindPriceVariant, line.PriceVariant)
	}
	variants, err := s.rooms.Catalog.OfferedVariantsByID(ctx, r, account, ids)
	if err != nil {
		return nil, err
	}
	var productIDs []string
	for _, v := range variants {
		productIDs = append(productIDs, v.ProductID)
	}
	products, err := s.rooms.Catalog.OffersByIDIn(ctx, r, account, productIDs)
	if err != nil {
		return nil, err
	}
	offers := make([]Offer, len(wanted))
	for i, line := range wanted {
		var o Offer
		if v := variants[ids[i]]; v != nil {
			o = Offer{&v.PriceVariant, products[v.ProductID], licensingOf(v)}
		}
		if o.Product == nil {
			return nil, core.Missing("price_variant", fmt.Sprintf("line_items.%d.price_variant", i), line.PriceVariant)
		}
		offers[i] = o
	}
	return offers, nil
}

// License has the lines know what their offers ask for now of licence keys. There is an offer for each line that sells something, in their order.
func License(items []lineitem.Item, offers []Offer) {
	for i := range items {
		if items[i].Kind == lineitem.KindPrice {
			items[i].Licensing, offers = offers[0].licensing, offers[1:]
		}
	}
}

// Read reads the price variants of lines, has the lines know what these ask for now of licence keys, and returns them by id.
func (s *Store) Read(ctx context.Context, r db.Reader, account string, items []lineitem.Item) (map[string]*catalog.OfferedVariant, error) {
	var ids []string
	for _, item := range items {
		ids = append(ids, core.Deref(item.PriceVariantID))
	}
	variants, err := s.rooms.Catalog.OfferedVariantsByID(ctx, r, account, ids)
	for i := range items {
		if v := variants[core.Deref(items[i].PriceVariantID)]; v != nil {
			items[i].Licensing = licensingOf(v)
		}
	}
	return variants, err
}

// licensingOf returns what a price variant asks for now of licence keys.
func licensingOf(v *catalog.OfferedVariant) *grant.Licensing {
	return &grant.Licensing{Keys: v.LicenseKeys, Stock: v.ImportedKeys, Terms: core.JSONOf((*grant.LicenseTerms)(v.License.V))}
}
