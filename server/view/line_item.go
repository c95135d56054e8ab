package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/lineitem"
)

// LineItem renders a line of a checkout, order or invoice.
func LineItem(l *lineitem.Item) api.LineItem {
	return api.LineItem{
		ID:               l.ID,
		Object:           "line_item",
		Kind:             api.LineItemKind(l.Kind),
		Product:          ref(l.ProductID),
		PriceVariant:     ref(l.PriceVariantID),
		ProductName:      l.ProductName,
		PriceVariantName: l.PriceVariantName,
		Description:      l.Describe(),
		Quantity:         l.Quantity,
		UnitAmount:       l.UnitAmount,
		CustomAmount:     l.CustomAmount,
		SubtotalAmount:   l.SubtotalAmount,
		DiscountAmount:   l.DiscountAmount,
		NetAmount:        l.NetAmount,
		TaxAmount:        l.TaxAmount,
		TaxRateBps:       l.TaxRateBps,
		TaxName:          l.TaxName,
		TaxInclusive:     l.TaxInclusive,
		TotalAmount:      l.TotalAmount,
		Currency:         l.Currency,
		PeriodStart:      atOrNull(l.PeriodStart),
		PeriodEnd:        atOrNull(l.PeriodEnd),
	}
}
