package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/lineitem"
)

// offer is a price variant and its product, as they are now, for a line to be made of.
type offer struct {
	variant   *catalog.PriceVariant
	product   *catalog.Product
	licensing *grant.Licensing // nil if that is not read
}

// unsellable says in a sentence why so many pieces of the offer cannot be bought now, and returns nothing if they can.
func (o offer) unsellable(quantity int64) string {
	v := o.variant
	switch {
	case o.product.Status != catalog.ProductStatusActive:
		return fmt.Sprintf("Product %s is not active.", o.product.ID)
	case v.Status != catalog.PriceVariantStatusActive:
		return fmt.Sprintf("Price variant %s is archived.", v.ID)
	case v.Stock != nil && v.SoldCount+v.ReservedCount+quantity > *v.Stock:
		return fmt.Sprintf("Price variant %s is out of stock.", v.ID)
	}
	return ""
}

// mayLicense reports whether the offer may come with a licence key. That costs nothing where there is neither a deliverable nor a licence.
func (o offer) mayLicense() bool {
	return o.product.Type != catalog.ProductTypeTip && (o.product.Delivers || o.variant.License.V != nil && o.variant.License.V.Enabled)
}

// allowed says in a sentence why the price variant is not sold in this quantity, and returns nothing if it is.
func (o offer) allowed(quantity int64) string {
	v := o.variant
	if quantity < v.QuantityMin {
		return fmt.Sprintf("Price variant %s is sold from %d pieces on.", v.ID, v.QuantityMin)
	}
	if v.QuantityMax != nil && quantity > *v.QuantityMax {
		return fmt.Sprintf("Price variant %s is sold up to %d pieces.", v.ID, *v.QuantityMax)
	}
	return ""
}

// foreign says in a sentence why the offer cannot be sold in the currency, and returns nothing if it can.
func (o offer) foreign(currency string) string {
	if _, _, ok := o.variant.AmountsIn(currency); !ok {
		return fmt.Sprintf("Price variant %s has no price in %s.", o.variant.ID, currency)
	}
	return ""
}

// unitAmount returns the price of one unit, in a currency that the offer is sold in. Problem says why there is none, and is
// empty if there is. Custom is what the buyer chose to pay, nil for nothing.
func (o offer) unitAmount(currency string, custom *int64) (amount int64, problem string) {
	v := o.variant
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
func (o offer) customAmount(currency string, custom *int64) (amount int64, problem string) {
	v := o.variant
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

// offers reads the price variants that are asked for, and their products. A price variant that does not exist is CodeMissing on
// the line that names it, and so is one whose product was deleted after it was read.
func (s *Store) offers(ctx context.Context, account string, wanted []NewLineItem) ([]offer, error) {
	ids := make([]string, len(wanted))
	for i, line := range wanted {
		ids[i], _ = core.ParseID(core.KindPriceVariant, line.PriceVariant)
	}
	variants, err := s.Catalog.OfferedVariantsByID(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	var productIDs []string
	for _, v := range variants {
		productIDs = append(productIDs, v.ProductID)
	}
	products, err := s.Catalog.OffersByID(ctx, account, productIDs)
	if err != nil {
		return nil, err
	}
	offers := make([]offer, len(wanted))
	for i, line := range wanted {
		var o offer
		if v := variants[ids[i]]; v != nil {
			o = offer{&v.PriceVariant, products[v.ProductID], licensingOf(v)}
		}
		if o.product == nil {
			return nil, core.Missing("price_variant", fmt.Sprintf("line_items.%d.price_variant", i), line.PriceVariant)
		}
		offers[i] = o
	}
	return offers, nil
}

// offered has the lines know what their offers ask for now of licence keys. There is an offer for each line that sells something, in their order.
func offered(items []lineitem.Item, offers []offer) {
	for i := range items {
		if items[i].Kind == lineitem.KindPrice {
			items[i].Licensing, offers = offers[0].licensing, offers[1:]
		}
	}
}

// readOffered reads the price variants of lines, has the lines know what these ask for now of licence keys, and returns them by id.
func (s *Store) readOffered(ctx context.Context, account string, items []lineitem.Item) (map[string]*catalog.OfferedVariant, error) {
	var ids []string
	for _, item := range items {
		ids = append(ids, core.Deref(item.PriceVariantID))
	}
	variants, err := s.Catalog.OfferedVariantsByID(ctx, account, ids)
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
