package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/openapi/wire"
	"github.com/tillwright/tillwright/store"
)

// LineItem renders a line of a checkout or order.
func LineItem(l *store.LineItem) api.LineItem {
	return api.LineItem{
		ID:               l.ID,
		Object:           "line_item",
		Product:          wire.RefTo(l.ProductID),
		PriceVariant:     wire.RefTo(l.PriceVariantID),
		ProductName:      l.ProductName,
		PriceVariantName: l.PriceVariantName,
		Quantity:         l.Quantity,
		UnitAmount:       l.UnitAmount,
		CustomAmount:     l.CustomAmount,
		SubtotalAmount:   l.SubtotalAmount,
		DiscountAmount:   l.DiscountAmount,
		NetAmount:        l.NetAmount,
		TaxAmount:        l.TaxAmount,
		TotalAmount:      l.TotalAmount,
		Currency:         l.Currency,
	}
}

// LineItemRefs yields what a line points at.
func LineItemRefs(l *api.LineItem, field string, yield func(*wire.Reference)) {
	switch field {
	case "product":
		yield(&l.Product)
	case "price_variant":
		yield(&l.PriceVariant)
	}
}
