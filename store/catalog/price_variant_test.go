package catalog

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/outbox"
)

func (s *shop) product(t *testing.T, status ProductStatus, variants ...PriceVariant) *Product {
	t.Helper()
	p, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book", Status: status}, PriceVariants: variants})
	require.NoError(t, err)
	return p
}

func TestCreatePriceVariant_Validates(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p := s.product(t, ProductStatusDraft)
		recurring := func(change func(*PriceVariant)) PriceVariant {
			v := PriceVariant{Type: PriceVariantTypeRecurring, Amount: 500, Currency: "usd", Interval: ref("month")}
			change(&v)
			return v
		}
		custom := func(least, suggested, most int64) PriceVariant {
			return PriceVariant{AmountType: PriceVariantAmountTypeCustom, Currency: "usd", MinAmount: &least, SuggestedAmount: &suggested, MaxAmount: &most}
		}
		for field, bad := range map[string][]PriceVariant{
			"amount": {fixedPrice(49), fixedPrice(0), {Amount: 39, Currency: "gbp"}, {AmountType: PriceVariantAmountTypeFree, Amount: 1, Currency: "usd"},
				{Amount: 155, Currency: "kwd"}, {Amount: 1005, Currency: "kwd"}},
			"currency":             {{Amount: 500, Currency: "xxx"}, {Amount: 500, Currency: "USD"}},
			"currency_amounts.omr": {{Amount: 500, Currency: "usd", CurrencyAmounts: core.JSONOf(map[string]int64{"omr": 1001})}},
			"currency_amounts": {{AmountType: PriceVariantAmountTypeFree, Currency: "usd", CurrencyAmounts: core.JSONOf(map[string]int64{"eur": 500})},
				recurring(func(v *PriceVariant) {
					v.SetupFeeAmount, v.CurrencyAmounts = 100, core.JSONOf(map[string]int64{"eur": 500})
				})},
			"tax_behavior":         {{Amount: 500, Currency: "usd", TaxBehavior: ref("both")}},
			"currency_amounts.eur": {{Amount: 500, Currency: "usd", CurrencyAmounts: core.JSONOf(map[string]int64{"eur": 49})}},
			"currency_amounts.usd": {{Amount: 500, Currency: "usd", CurrencyAmounts: core.JSONOf(map[string]int64{"usd": 500})}},
			"min_amount":           {{Amount: 500, Currency: "usd", MinAmount: ref(int64(50))}, custom(10, 100, 200)},
			"suggested_amount":     {custom(200, 100, 300), custom(0, 49, 300)},
			"setup_fee_amount":     {{Amount: 500, Currency: "usd", SetupFeeAmount: 100}, recurring(func(v *PriceVariant) { v.SetupFeeAmount = 49 })},
			"metadata.a[b]":        {{Amount: 500, Currency: "usd", Metadata: core.NewMetadata(map[string]string{"a[b]": "1"})}},
			"max_amount":           {custom(100, 200, 150)},
			"interval": {{Type: PriceVariantTypeRecurring, Amount: 500, Currency: "usd"}, {Amount: 500, Currency: "usd", Interval: ref("month")},
				recurring(func(v *PriceVariant) { v.Interval = ref("fortnight") })},
			"interval_count": {recurring(func(v *PriceVariant) { v.IntervalCount = ref(int64(37)) }),
				recurring(func(v *PriceVariant) { v.Interval, v.IntervalCount = ref("year"), ref(int64(11)) })},
			"trial_days":        {{Amount: 500, Currency: "usd", TrialDays: 7}, recurring(func(v *PriceVariant) { v.TrialDays = 731 })},
			"billing_cycles":    {{Amount: 500, Currency: "usd", BillingCycles: ref(int64(3))}},
			"compare_at_amount": {{Amount: 500, Currency: "usd", CompareAtAmount: ref(int64(500))}},
			"quantity_max":      {{Amount: 500, Currency: "usd", QuantityMin: 3, QuantityMax: ref(int64(2))}},
			"type":              {{Type: "twice", Amount: 500, Currency: "usd"}},
		} {
			for i, v := range bad {
				_, err := s.CreatePriceVariant(t.Context(), s.account, p.ID, v)
				require.Error(t, err, "%s %d", field, i)
				dbtest.RequireInvalid(t, err, field)
			}
		}
		require.Equal(t, []string{outbox.EventProductCreated}, s.eventTypes(t, p.ID))
		for i, v := range []PriceVariant{
			fixedPrice(50), {Amount: 500}, {Amount: 160, Currency: "kwd"}, {Amount: 500, Currency: "usd", TaxBehavior: ref("inclusive")},
			recurring(func(v *PriceVariant) { v.SetupFeeAmount = 50 }), {AmountType: PriceVariantAmountTypeFree, Currency: "jpy"}, custom(0, 100, 200),
			recurring(func(v *PriceVariant) {
				v.TrialDays, v.BillingCycles, v.IntervalCount = 730, ref(int64(4)), ref(int64(36))
			}),
			{Amount: 500, Currency: "usd", CurrencyAmounts: core.JSONOf(map[string]int64{"eur": 450}), Stock: ref(int64(0))},
		} {
			made, err := s.CreatePriceVariant(t.Context(), s.account, p.Slug, v)
			require.NoError(t, err, i)
			stored, err := s.GetPriceVariant(t.Context(), s.account, made.ID)
			require.NoError(t, err)
			require.Equal(t, core.JSONText(made), core.JSONText(stored))
			require.Len(t, s.eventTypes(t, p.ID), i+2)
		}
		_, err := s.CreatePriceVariant(t.Context(), s.account, core.NewID(core.KindProduct), fixedPrice(500))
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

func TestUpdatePriceVariant_MoneyIsFixedOnceSold(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p := s.product(t, ProductStatusActive, fixedPrice(500))
		id := p.PriceVariantIDs.V[0]
		_, err := s.UpdatePriceVariant(t.Context(), s.account, id, func(v *PriceVariant) { v.Amount = 600 })
		require.NoError(t, err)
		p, err = s.GetProduct(t.Context(), s.account, p.ID)
		require.NoError(t, err)
		require.Equal(t, int64(600), *p.PriceMinAmount)
		_, err = s.UpdatePriceVariant(t.Context(), s.account, id, func(v *PriceVariant) { v.Amount = 600 })
		require.NoError(t, err)
		require.Len(t, s.eventTypes(t, p.ID), 2, "the second change changed nothing")

		sell(t, s, id)
		for field, change := range map[string]func(*PriceVariant){
			"amount":           func(v *PriceVariant) { v.Amount = 700 },
			"currency":         func(v *PriceVariant) { v.Currency = "eur" },
			"currency_amounts": func(v *PriceVariant) { v.CurrencyAmounts.V = map[string]int64{"eur": 500} },
			"setup_fee_amount": func(v *PriceVariant) { v.SetupFeeAmount = 100 },
			"tax_behavior":     func(v *PriceVariant) { v.TaxBehavior = ref("inclusive") },
			"billing_cycles":   func(v *PriceVariant) { v.BillingCycles = ref(int64(3)) },
			"type":             func(v *PriceVariant) { v.Type, v.Interval = PriceVariantTypeRecurring, ref("month") },
		} {
			_, err = s.UpdatePriceVariant(t.Context(), s.account, id, change)
			dbtest.RequireInvalid(t, err, field)
		}
		_, err = s.UpdatePriceVariant(t.Context(), s.account, id, func(v *PriceVariant) { v.Name = ref("Second edition") })
		require.NoError(t, err)
		_, err = s.UpdatePriceVariant(t.Context(), s.account, id, func(v *PriceVariant) { v.Stock = ref(int64(0)) })
		dbtest.RequireInvalid(t, err, "stock")
		_, err = s.DeletePriceVariant(t.Context(), s.account, id)
		dbtest.RequireInvalid(t, err, "base")
	})
}

func TestPriceVariant_LastActiveOneStays(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		archive := func(v *PriceVariant) { v.Status = PriceVariantStatusArchived }
		p := s.product(t, ProductStatusActive, fixedPrice(500))
		_, err := s.UpdatePriceVariant(t.Context(), s.account, p.PriceVariantIDs.V[0], archive)
		dbtest.RequireInvalid(t, err, "status")
		_, err = s.DeletePriceVariant(t.Context(), s.account, p.PriceVariantIDs.V[0])
		dbtest.RequireInvalid(t, err, "base")

		for range 10 { // two at once, each of which would leave the other
			p = s.product(t, ProductStatusActive, fixedPrice(500), fixedPrice(600))
			var all sync.WaitGroup
			errs := make([]error, 2)
			all.Go(func() {
				_, errs[0] = s.UpdatePriceVariant(t.Context(), s.account, p.PriceVariantIDs.V[0], archive)
			})
			all.Go(func() { _, errs[1] = s.DeletePriceVariant(t.Context(), s.account, p.PriceVariantIDs.V[1]) })
			all.Wait()
			require.True(t, (errs[0] == nil) != (errs[1] == nil), "%v, %v", errs[0], errs[1])
			require.Equal(t, 1, s.count(t, `SELECT count(*) FROM price_variants WHERE account_id = ? AND product_id = ? AND status = 'active'`, s.account, p.ID))
		}
	})
}

func TestCreatePriceVariant_AtMostAHundred(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		variants := make([]PriceVariant, maxPriceVariants)
		for i := range variants {
			variants[i] = fixedPrice(int64(500 + i))
		}
		p := s.product(t, ProductStatusDraft, variants...)
		_, err := s.CreatePriceVariant(t.Context(), s.account, p.ID, fixedPrice(500))
		dbtest.RequireInvalid(t, err, "product")
		_, err = s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book"}, PriceVariants: append(variants, fixedPrice(500))})
		dbtest.RequireInvalid(t, err, "price_variants")
	})
}

func TestListPriceVariants_OfAProduct(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		first := s.product(t, ProductStatusDraft, fixedPrice(500), fixedPrice(600))
		s.product(t, ProductStatusDraft, fixedPrice(700))
		for _, ref := range []string{first.ID, first.Slug} {
			found, more, err := s.ListPriceVariants(t.Context(), s.account, ListPriceVariants{Page: core.Page{Limit: 10}, Product: ref})
			require.NoError(t, err)
			require.False(t, more)
			require.Len(t, found, 2)
			require.Equal(t, fmt.Sprint([]string{found[1].ID, found[0].ID}), fmt.Sprint(first.PriceVariantIDs.V))
		}
		_, _, err := s.ListPriceVariants(t.Context(), s.account, ListPriceVariants{Page: core.Page{Limit: 10}, Product: "nothing"})
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

func TestCreateProduct_NamesTheVariantWhoseMetadataIsWrong(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		wrong := fixedPrice(500)
		wrong.Metadata = core.NewMetadata(map[string]string{"a[b]": "1"})
		_, err := s.CreateProduct(t.Context(), s.account, NewProduct{Product: Product{Name: "Book"}, PriceVariants: []PriceVariant{fixedPrice(500), wrong}})
		dbtest.RequireInvalid(t, err, "price_variants.1.metadata.a[b]")
	})
}
