package pages

import (
	"fmt"
	"strconv"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
)

// pieces is the field in which a buyer says how many pieces of a line they want.
type pieces struct {
	ui.Field
	l     *locale.Locale
	now   int64 // how many there are before the buyer chooses
	least int64
	most  int64
}

// letCount gives the lines of which the buyer chooses how many they want a field for it. Where the price variant is sold in one quantity alone there is
// nothing to choose.
func (p *checkoutPage) letCount(variants map[string]*catalog.PriceVariant) {
	if !p.Checkout.AllowQuantityChange || !p.Pays() {
		return
	}
	at := -1
	for i := range p.Items {
		line := &p.Items[i]
		if line.Kind != lineitem.KindPrice {
			continue
		}
		at++
		v := variants[core.Deref(line.PriceVariantID)]
		if v == nil || checkout.MostChosen(v) == v.QuantityMin {
			continue
		}
		line.Pieces = &pieces{l: p.l, now: line.Quantity, least: v.QuantityMin, most: checkout.MostChosen(v), Field: ui.Field{
			Form: paymentForm, Name: fmt.Sprint(quantityField, at), Label: p.l.T("field.quantity"), InputMode: "numeric", Longest: 7, Autocomplete: "off", Required: true,
			Value: strconv.FormatInt(line.Quantity, 10),
		}}
		line.Pieces.Label += ", " + line.Pieces.bounds()
	}
}

// problem says why the buyer cannot have so many pieces, and nothing if they can.
func (p *pieces) problem(typed string) string {
	n, err := strconv.ParseInt(typed, 10, 64)
	switch {
	case err != nil || n < 1:
		return p.l.T("error.quantity.form")
	case n != p.now && (n < p.least || n > p.most):
		return p.l.T("error.quantity.bounds", "bounds", p.bounds())
	}
	return ""
}

// bounds says between which numbers the buyer chooses.
func (p *pieces) bounds() string {
	most := p.l.T("amount.most", "amount", strconv.FormatInt(p.most, 10))
	if p.least <= 1 {
		return most
	}
	return p.l.T("amount.least", "amount", strconv.FormatInt(p.least, 10)) + ", " + most
}
