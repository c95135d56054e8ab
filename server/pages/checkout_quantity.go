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
	named string // the label without the bounds
	now   int64  // how many there are before the buyer chooses
	other int64  // how many of the same price variant the other lines have
	least int64
	most  int64
	v     *catalog.PriceVariant
}

// letCount gives the lines of which the buyer chooses how many they want a field for it. Where the price variant is sold in one quantity alone there is
// nothing to choose.
func (p *checkoutPage) letCount(variants map[string]*catalog.PriceVariant) {
	if !p.Checkout.AllowQuantityChange || !p.Pays() {
		return
	}
	sales := 0
	for _, line := range p.Items {
		if line.Kind == lineitem.KindPrice {
			sales++
		}
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
		named := p.l.T("field.quantity")
		if sales > 1 {
			named = p.l.List(named, line.Describe())
		}
		line.Pieces = newPieces(p.l, v, fmt.Sprint(quantityField, at), named, line.Quantity, v.QuantityMin, checkout.MostChosen(v))
		line.Pieces.Form = paymentForm
	}
}

// newPieces returns the field for pieces of a price variant, of which there are some now.
func newPieces(l *locale.Locale, v *catalog.PriceVariant, name, named string, now, least, most int64) *pieces {
	p := &pieces{l: l, v: v, named: named, now: now, least: least, most: most}
	p.Field = ui.Field{
		Name: name, Label: l.List(named, p.bounds()), InputMode: "numeric", Longest: 7, Autocomplete: "off", Required: true, Value: strconv.FormatInt(now, 10),
	}
	return p
}

// addPieces tells each field how many pieces of its price variant the other lines have, as the buyer chose. The limits of a field are for all of them
// together.
func (p *checkoutPage) addPieces() {
	all := map[string]int64{}
	count := func(n *pieces) int64 {
		if chosen, err := strconv.ParseInt(p.Form[n.Name], 10, 64); err == nil && chosen > 0 && chosen <= checkout.MaxPieces {
			return chosen
		}
		return n.now
	}
	for _, line := range p.Items {
		if line.Pieces != nil {
			all[line.Pieces.v.ID] += count(line.Pieces)
		}
	}
	for _, line := range p.Items {
		if line.Pieces != nil {
			line.Pieces.other = all[line.Pieces.v.ID] - count(line.Pieces)
		}
	}
}

// problem says why the buyer cannot have so many pieces, and nothing if they can.
func (p *pieces) problem(typed string) string {
	n, err := strconv.ParseInt(typed, 10, 64)
	if err != nil || n < 1 {
		return p.l.T("error.quantity.form")
	}
	left, limited := leftOf(p.v)
	switch {
	case n != p.now && n > p.most, n != p.now && n+p.other < p.least:
		return p.l.T("error.quantity.bounds", "bounds", p.bounds())
	case limited && left > 0 && n+p.other > left && p.v.ReservedCount > 0:
		return p.l.T("error.quantity.left_held", "count", left)
	case limited && left > 0 && n+p.other > left:
		return p.l.T("error.quantity.left", "count", left)
	case p.v.QuantityMax != nil && n+p.other > *p.v.QuantityMax && p.other > 0:
		return p.l.T("error.quantity.fewer")
	}
	return ""
}

// bounds says between which numbers the buyer chooses.
func (p *pieces) bounds() string {
	most := p.l.T("amount.most", "amount", strconv.FormatInt(p.most, 10))
	if p.least <= 1 {
		return most
	}
	return p.l.List(p.l.T("amount.least", "amount", strconv.FormatInt(p.least, 10)), most)
}
