package view

import (
	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
)

// PriceVariant renders a price variant.
func PriceVariant(v *catalog.PriceVariant) api.PriceVariant {
	return api.PriceVariant{
		ID:              v.ID,
		Object:          "price_variant",
		Product:         wire.RefTo(v.ProductID),
		Name:            v.Name,
		Type:            api.PriceVariantType(v.Type),
		AmountType:      api.PriceVariantAmountType(v.AmountType),
		Amount:          v.Amount,
		Currency:        v.Currency,
		CurrencyAmounts: object(v.CurrencyAmounts.V),
		MinAmount:       v.MinAmount,
		SuggestedAmount: v.SuggestedAmount,
		MaxAmount:       v.MaxAmount,
		Interval:        enum[api.PriceVariantInterval](v.Interval),
		IntervalCount:   v.IntervalCount,
		TrialDays:       v.TrialDays,
		SetupFeeAmount:  v.SetupFeeAmount,
		BillingCycles:   v.BillingCycles,
		CompareAtAmount: v.CompareAtAmount,
		TaxBehavior:     enum[api.TaxBehavior](v.TaxBehavior),
		QuantityMin:     v.QuantityMin,
		QuantityMax:     v.QuantityMax,
		Stock:           v.Stock,
		SoldCount:       v.SoldCount,
		Position:        v.Position,
		Status:          api.PriceVariantStatus(v.Status),
		License:         (*api.PriceVariantLicense)(v.License.V),
		ExternalID:      v.ExternalID,
		Metadata:        api.Metadata(v.Metadata.Text()),
		CreatedAt:       at(v.CreatedAt),
		UpdatedAt:       at(v.UpdatedAt),
	}
}

// ListPriceVariants reads the query of a list.
func ListPriceVariants(q api.ListPriceVariantsParams) catalog.ListPriceVariants {
	return catalog.ListPriceVariants{
		Page:       SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Product:    value(q.Product),
		Status:     catalog.PriceVariantStatus(value(q.Status)),
		Type:       catalog.PriceVariantType(value(q.Type)),
		ExternalID: value(q.ExternalID),
	}
}

// NewPriceVariant reads the body of a create. The product that it belongs to is not part of what is returned.
func NewPriceVariant(b *api.PriceVariantCreate) catalog.PriceVariant {
	return newPriceVariant(api.ProductPriceVariant{
		Name: b.Name, Type: b.Type, AmountType: b.AmountType, Amount: b.Amount, Currency: b.Currency,
		CurrencyAmounts: b.CurrencyAmounts, MinAmount: b.MinAmount, SuggestedAmount: b.SuggestedAmount, MaxAmount: b.MaxAmount,
		Interval: b.Interval, IntervalCount: b.IntervalCount, TrialDays: b.TrialDays, SetupFeeAmount: b.SetupFeeAmount,
		BillingCycles: b.BillingCycles, CompareAtAmount: b.CompareAtAmount, TaxBehavior: b.TaxBehavior,
		QuantityMin: b.QuantityMin, QuantityMax: b.QuantityMax, Stock: b.Stock, Position: b.Position, License: b.License,
		ExternalID: b.ExternalID, Metadata: b.Metadata,
	})
}

// newPriceVariant reads a price variant, whether it is created alone or with its product.
func newPriceVariant(b api.ProductPriceVariant) catalog.PriceVariant {
	return catalog.PriceVariant{
		Name:            b.Name,
		Type:            catalog.PriceVariantType(value(b.Type)),
		AmountType:      catalog.PriceVariantAmountType(value(b.AmountType)),
		Amount:          value(b.Amount),
		Currency:        value(b.Currency),
		CurrencyAmounts: core.JSONOf(map[string]int64(value(b.CurrencyAmounts))),
		MinAmount:       b.MinAmount,
		SuggestedAmount: b.SuggestedAmount,
		MaxAmount:       b.MaxAmount,
		Interval:        enum[string](b.Interval),
		IntervalCount:   b.IntervalCount,
		TrialDays:       value(b.TrialDays),
		SetupFeeAmount:  value(b.SetupFeeAmount),
		BillingCycles:   b.BillingCycles,
		CompareAtAmount: b.CompareAtAmount,
		TaxBehavior:     enum[string](b.TaxBehavior),
		QuantityMin:     value(b.QuantityMin),
		QuantityMax:     b.QuantityMax,
		Stock:           b.Stock,
		Position:        value(b.Position),
		License:         core.JSONOf((*catalog.License)(b.License)),
		ExternalID:      b.ExternalID,
		Metadata:        metadata(b.Metadata),
	}
}

// PriceVariantChange reads the body of a PATCH.
func PriceVariantChange(b *api.PriceVariantUpdate) func(*catalog.PriceVariant) {
	return func(v *catalog.PriceVariant) {
		setOrClear(&v.Name, b.Name)
		setAs(&v.Type, b.Type)
		setAs(&v.AmountType, b.AmountType)
		set(&v.Amount, b.Amount)
		set(&v.Currency, b.Currency)
		setOrClear(&v.MinAmount, b.MinAmount)
		setOrClear(&v.SuggestedAmount, b.SuggestedAmount)
		setOrClear(&v.MaxAmount, b.MaxAmount)
		setOrClearAs(&v.Interval, b.Interval)
		setOrClear(&v.IntervalCount, b.IntervalCount)
		set(&v.TrialDays, b.TrialDays)
		set(&v.SetupFeeAmount, b.SetupFeeAmount)
		setOrClear(&v.BillingCycles, b.BillingCycles)
		setOrClear(&v.CompareAtAmount, b.CompareAtAmount)
		setOrClearAs(&v.TaxBehavior, b.TaxBehavior)
		set(&v.QuantityMin, b.QuantityMin)
		setOrClear(&v.QuantityMax, b.QuantityMax)
		setOrClear(&v.Stock, b.Stock)
		set(&v.Position, b.Position)
		setAs(&v.Status, b.Status)
		setOrClear(&v.ExternalID, b.ExternalID)
		setMetadata(&v.Metadata, b.Metadata)
		if b.CurrencyAmounts != nil {
			v.CurrencyAmounts.V = *b.CurrencyAmounts
		}
		if b.License.IsSpecified() {
			v.License.V = (*catalog.License)(sent(b.License))
		}
	}
}

// PriceVariantUpsert reads the body of an upsert.
func PriceVariantUpsert(b *api.PriceVariantUpsert) core.Upsert[catalog.NamedVariant] {
	change := PriceVariantChange(&api.PriceVariantUpdate{
		Name: b.Name, Type: b.Type, AmountType: b.AmountType, Amount: b.Amount, Currency: b.Currency,
		CurrencyAmounts: b.CurrencyAmounts, MinAmount: b.MinAmount, SuggestedAmount: b.SuggestedAmount, MaxAmount: b.MaxAmount,
		Interval: b.Interval, IntervalCount: b.IntervalCount, TrialDays: b.TrialDays, SetupFeeAmount: b.SetupFeeAmount,
		BillingCycles: b.BillingCycles, CompareAtAmount: b.CompareAtAmount, TaxBehavior: b.TaxBehavior,
		QuantityMin: b.QuantityMin, QuantityMax: b.QuantityMax, Stock: b.Stock, Position: b.Position, License: b.License,
		Status: b.Status, ExternalID: nullable.NewNullableWithValue(b.ExternalID), Metadata: b.Metadata,
	})
	return core.Upsert[catalog.NamedVariant]{ExternalID: b.ExternalID, Change: func(v *catalog.NamedVariant) {
		change(&v.PriceVariant)
		v.Product = value(b.Product)
	}}
}

// PriceVariantUpserts reads the body of a bulk upsert.
func PriceVariantUpserts(b *api.PriceVariantBulkUpsert, refused map[int]*core.Error) []core.Upsert[catalog.NamedVariant] {
	return upserts(b.Items, refused, PriceVariantUpsert)
}
