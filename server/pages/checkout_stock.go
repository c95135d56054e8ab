package pages

import (
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
)

// orderProblem is the name, among what is wrong with a form, of what is wrong with the order. It has no field of its own.
const orderProblem = "order"

// sayStock has the page say how many pieces are left, if that is why the order was refused, and whether some may come free. Nobody is told that
// something is sold out while others only hold it.
func (p *checkoutPage) sayStock() {
	if p.Problems[orderProblem] == "" {
		return
	}
	items := make([]lineitem.Item, len(p.Items))
	for i := range p.Items {
		items[i] = p.Items[i].Item
	}
	for _, wanted := range lineitem.Pieces(items, lineitem.ByVariant) {
		v := p.variants[wanted.ID]
		if v == nil {
			continue
		}
		said := sayLeft(p.l, v, wanted.Pieces)
		if said == "" {
			continue
		}
		if len(p.Items) > 1 {
			said = p.called(wanted.ID) + p.l.T("page.colon") + said
		}
		p.Problems[orderProblem] = said
		return
	}
}

// called returns what the first line of a price variant is called.
func (p *checkoutPage) called(variant string) string {
	for i := range p.Items {
		if core.Deref(p.Items[i].PriceVariantID) == variant {
			return p.Items[i].Describe()
		}
	}
	return ""
}

// sayLeft says how many pieces of a price variant are left, if these are fewer than somebody wants. It says nothing of what is sold out or no longer
// sold.
func sayLeft(l *locale.Locale, v *catalog.PriceVariant, wanted int64) string {
	left, limited := leftOf(v)
	switch {
	case !limited || left >= wanted || v.Status != catalog.PriceVariantStatusActive:
		return ""
	case left > 0 && v.ReservedCount > 0:
		return l.T("error.stock.left_held", "count", left)
	case left > 0:
		return l.T("error.stock.left", "count", left)
	case v.ReservedCount > 0:
		return l.T("error.stock.held")
	}
	return ""
}

// leftOf returns how many pieces of a price variant nobody has bought or holds, and whether it has only so many.
func leftOf(v *catalog.PriceVariant) (left int64, limited bool) {
	if v.Stock == nil {
		return 0, false
	}
	return max(*v.Stock-v.SoldCount-v.ReservedCount, 0), true
}
