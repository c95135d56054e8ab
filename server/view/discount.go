package view

import (
	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
)

// Discount renders a discount.
func Discount(d *discount.Discount) api.Discount {
	return api.Discount{
		ID:                        d.ID,
		Object:                    "discount",
		Name:                      d.Name,
		Code:                      d.Code,
		Type:                      api.DiscountType(d.Type),
		PercentBps:                d.PercentBps,
		Amount:                    d.Amount,
		Currency:                  d.Currency,
		Amounts:                   object(d.Amounts.V),
		Duration:                  api.DiscountDuration(d.Duration),
		DurationInMonths:          d.DurationInMonths,
		AppliesTo:                 api.DiscountAppliesTo{Products: list(d.ProductIDs.V), PriceVariants: list(d.PriceVariantIDs.V)},
		Rules:                     mapped(d.Rules.V, discountRule),
		MinSubtotalAmount:         d.MinSubtotalAmount,
		MinSubtotalAmounts:        object(d.MinSubtotalAmounts.V),
		FirstPurchaseOnly:         d.FirstPurchaseOnly,
		StartsAt:                  atOrNull(d.StartsAt),
		EndsAt:                    atOrNull(d.EndsAt),
		MaxRedemptions:            d.MaxRedemptions,
		MaxRedemptionsPerCustomer: d.MaxRedemptionsPerCustomer,
		RedemptionsCount:          d.RedemptionsCount,
		Status:                    api.DiscountStatus(d.Status),
		Metadata:                  api.Metadata(d.Metadata.Text()),
		CreatedAt:                 at(d.CreatedAt),
		UpdatedAt:                 at(d.UpdatedAt),
	}
}

func discountRule(r discount.Rule) api.DiscountRule {
	return api.DiscountRule{PriceVariant: r.PriceVariantID, PercentBps: r.PercentBps, Amount: r.Amount, Amounts: object(r.Amounts)}
}

// DiscountRedemption renders one use of a discount.
func DiscountRedemption(r *discount.Redemption) api.DiscountRedemption {
	return api.DiscountRedemption{
		ID:             r.ID,
		Object:         "discount_redemption",
		Discount:       wire.RefTo(r.DiscountID),
		Checkout:       ref(r.CheckoutID),
		Subscription:   ref(r.SubscriptionID),
		Order:          ref(r.OrderID),
		Customer:       ref(r.CustomerID),
		Currency:       r.Currency,
		DiscountAmount: r.DiscountAmount,
		CreatedAt:      at(r.CreatedAt),
		UpdatedAt:      at(r.UpdatedAt),
	}
}

// ListDiscounts reads the query of a list.
func ListDiscounts(q api.ListDiscountsParams) discount.List {
	return discount.List{
		Page:       SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:     discount.Status(value(q.Status)),
		Type:       discount.Type(value(q.Type)),
		Code:       value(q.Code),
		Product:    value(q.Product),
	}
}

// ListDiscountRedemptions reads the query of a list of redemptions.
func ListDiscountRedemptions(q api.ListDiscountRedemptionsParams) discount.ListRedemptions {
	return discount.ListRedemptions{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, nil),
	}
}

// NewDiscount reads the body of a create.
func NewDiscount(b *api.DiscountCreate) discount.Discount {
	d := discount.Discount{
		Name:                      value(b.Name),
		Code:                      b.Code,
		Type:                      discount.Type(b.Type),
		PercentBps:                b.PercentBps,
		Amount:                    b.Amount,
		Currency:                  b.Currency,
		Amounts:                   core.JSONOf(map[string]int64(value(b.Amounts))),
		Duration:                  discount.Duration(value(b.Duration)),
		DurationInMonths:          b.DurationInMonths,
		Rules:                     core.JSONOf(mapped(b.Rules, storedDiscountRule)),
		MinSubtotalAmount:         b.MinSubtotalAmount,
		MinSubtotalAmounts:        core.JSONOf(map[string]int64(value(b.MinSubtotalAmounts))),
		FirstPurchaseOnly:         value(b.FirstPurchaseOnly),
		StartsAt:                  stored(b.StartsAt),
		EndsAt:                    stored(b.EndsAt),
		MaxRedemptions:            b.MaxRedemptions,
		MaxRedemptionsPerCustomer: b.MaxRedemptionsPerCustomer,
		Metadata:                  metadata(b.Metadata),
	}
	setAppliesTo(&d, b.AppliesTo)
	return d
}

// DiscountChange reads the body of a PATCH.
func DiscountChange(b *api.DiscountUpdate) func(*discount.Discount) {
	return func(d *discount.Discount) {
		set(&d.Name, b.Name)
		setOrClear(&d.Code, b.Code)
		setAs(&d.Type, b.Type)
		setOrClear(&d.PercentBps, b.PercentBps)
		setOrClear(&d.Amount, b.Amount)
		setOrClear(&d.Currency, b.Currency)
		setAs(&d.Duration, b.Duration)
		setOrClear(&d.DurationInMonths, b.DurationInMonths)
		setAppliesTo(d, b.AppliesTo)
		setOrClear(&d.MinSubtotalAmount, b.MinSubtotalAmount)
		set(&d.FirstPurchaseOnly, b.FirstPurchaseOnly)
		setMoment(&d.StartsAt, b.StartsAt)
		setMoment(&d.EndsAt, b.EndsAt)
		setOrClear(&d.MaxRedemptions, b.MaxRedemptions)
		setOrClear(&d.MaxRedemptionsPerCustomer, b.MaxRedemptionsPerCustomer)
		setMetadata(&d.Metadata, b.Metadata)
		if b.Amounts != nil {
			d.Amounts.V = *b.Amounts
		}
		if b.MinSubtotalAmounts != nil {
			d.MinSubtotalAmounts.V = *b.MinSubtotalAmounts
		}
		if b.Rules != nil {
			d.Rules.V = mapped(b.Rules, storedDiscountRule)
		}
	}
}

// setAppliesTo replaces what a discount applies to, if that was sent.
func setAppliesTo(d *discount.Discount, sent *api.DiscountAppliesToCreate) {
	if sent != nil {
		d.ProductIDs, d.PriceVariantIDs = core.JSONOf(sent.Products), core.JSONOf(sent.PriceVariants)
	}
}

func storedDiscountRule(r api.DiscountRuleCreate) discount.Rule {
	return discount.Rule{PriceVariantID: r.PriceVariant, PercentBps: r.PercentBps, Amount: r.Amount, Amounts: object(map[string]int64(value(r.Amounts)))}
}

// setMoment changes a moment that a PATCH names. Null removes it.
func setMoment(field **core.Time, moment nullable.Nullable[wire.Time]) {
	if moment.IsSpecified() {
		*field = stored(sent(moment))
	}
}
