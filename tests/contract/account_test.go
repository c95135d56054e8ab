package contract

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestUpdateAccount_ChangesWhatIsSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{
			BusinessName: sdk.Set("Ada Ltd"), Timezone: new("Europe/Berlin"), BusinessAddress: sdk.Set(sdk.Address{Country: new("GB")}),
		}))
		assert.Equal(t, "Ada Ltd", *a.BusinessName, "the account")
		assert.Equal(t, "Europe/Berlin", a.Timezone, "the account")
		assert.Equal(t, "GB", *a.BusinessAddress.Country, "the account")
		assert.Equal(t, "Test", a.Name, "the account")
		a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{BusinessName: sdk.Null[string]()}))
		require.Nil(t, a.BusinessName, "the account")
		assert.NotNil(t, a.BusinessAddress, "the account")
		if read := ok[*sdk.Account](t)(c.Account.Get(background)); read.UpdatedAt != a.UpdatedAt {
			t.Errorf("the account reads as %+v", read)
		}
	})
}

func TestUpdateAccount_HasAColour(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{AccentColor: sdk.Set("#C2410c")}))
		require.NotNil(t, a.AccentColor, "the colour")
		assert.Equal(t, "#C2410c", *a.AccentColor, "the colour")
		for _, wrong := range []string{"", "red", "#fff", "C2410C", "#c2410g", "#c2410c0", "#c2410c\n", "#c2410c;}"} {
			_, err := c.Account.Update(background, &sdk.AccountUpdate{AccentColor: sdk.Set(wrong)})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "accent_color")
		}
		if a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Name: new("Ada")})); a.AccentColor == nil {
			t.Error("the colour is lost by another change")
		}
		if a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{AccentColor: sdk.Null[string]()})); a.AccentColor != nil {
			t.Errorf("the colour is %s", *a.AccentColor)
		}
	})
}

func TestUpdateAccount_NeedsThePlan(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		free := s.AccountOn(t, tenant.PlanFree).SDK()
		for param, body := range map[string]*sdk.AccountUpdate{
			"custom_domain":   {CustomDomain: sdk.Set("shop.ada.example")},
			"remove_branding": {RemoveBranding: new(true)},
		} {
			_, err := free.Account.Update(background, body)
			refused(t, err, http.StatusPaymentRequired, sdk.CodePlanUpgradeRequired, param)
			ok[*sdk.Account](t)(s.AccountOn(t, tenant.PlanPro).SDK().Account.Update(background, &sdk.AccountUpdate{RemoveBranding: new(true)}))
		}
		// What is switched off needs no plan.
		ok[*sdk.Account](t)(free.Account.Update(background, &sdk.AccountUpdate{RemoveBranding: new(false), CustomDomain: sdk.Null[string]()}))
	})
}

func TestUpdateAccount_RefusesWhatCannotBe(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		taken := ok[*sdk.Account](t)(s.SDK(t).Account.Get(background)).Handle
		for param, body := range map[string]*sdk.AccountUpdate{
			"handle":               {Handle: &taken},
			"default_currency":     {DefaultCurrency: new("xyz")},
			"timezone":             {Timezone: new("Mars/Olympus")},
			"statement_descriptor": {StatementDescriptor: sdk.Set("more than twenty-two characters")},
			"country":              {Country: sdk.Set("Germany")},
		} {
			_, err := c.Account.Update(background, body)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
	})
}

func TestUpdateAccount_BillingSettings(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := ok[*sdk.Account](t)(c.Account.Get(background))
		assert.Equal(t, "INV", a.InvoicePrefix, "a new account")
		assert.EqualValues(t, 1, a.NextInvoiceNumber, "a new account")
		assert.Equal(t, sdk.TaxModeNone, a.Tax.Mode, "a new account")
		require.Empty(t, a.Tax.Rates, "a new account")
		assert.Equal(t, sdk.ProrationBehaviorInvoiceImmediately, a.ProrationBehavior, "a new account")
		assert.True(t, slices.Equal(a.Dunning.IntervalsDays, []int64{2, 5, 7, 7}), "a new account")
		rates := []sdk.TaxRate{{Country: new("CA"), Region: new("ON"), RateBps: 1300, Name: "HST"}, {RateBps: 0, Name: "Export"}}
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{
			InvoicePrefix: new("ADA2026"), NextInvoiceNumber: new(int64(1000)), ProrationBehavior: new(sdk.ProrationBehaviorNextPeriod),
			Tax:     &sdk.TaxSettings{Mode: sdk.TaxModeFlatTable, Behavior: sdk.TaxBehaviorInclusive, Rates: rates},
			Dunning: &sdk.Dunning{IntervalsDays: []int64{1}, OnExhausted: sdk.DunningOnExhaustedCancel},
		}))
		a = ok[*sdk.Account](t)(c.Account.Get(background))
		assert.Equal(t, "ADA2026", a.InvoicePrefix, "the account")
		assert.EqualValues(t, 1000, a.NextInvoiceNumber, "the account")
		assert.Equal(t, sdk.ProrationBehaviorNextPeriod, a.ProrationBehavior, "the account")
		assert.Equal(t, sdk.TaxBehaviorInclusive, a.Tax.Behavior, "the account")
		assert.True(t, slices.Equal(a.Dunning.IntervalsDays, []int64{1}), "the account")
		assert.Equal(t, rates, a.Tax.Rates, "the account")
	})
}

func TestUpdateAccount_RefusesBillingThatCannotBe(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{NextInvoiceNumber: new(int64(10))}))
		table := func(rates ...sdk.TaxRate) *sdk.TaxSettings {
			return &sdk.TaxSettings{Mode: sdk.TaxModeFlatTable, Behavior: sdk.TaxBehaviorExclusive, Rates: rates}
		}
		vat := sdk.TaxRate{Country: new("DE"), Name: "VAT", RateBps: 1900}
		for param, body := range map[string]*sdk.AccountUpdate{
			"next_invoice_number":      {NextInvoiceNumber: new(int64(9))},
			"invoice_prefix":           {InvoicePrefix: new("in")},
			"proration_behavior":       {ProrationBehavior: new(sdk.ProrationBehavior("never"))},
			"dunning.intervals_days":   {Dunning: &sdk.Dunning{IntervalsDays: []int64{}, OnExhausted: sdk.DunningOnExhaustedCancel}},
			"dunning.intervals_days.1": {Dunning: &sdk.Dunning{IntervalsDays: []int64{1, 61}, OnExhausted: sdk.DunningOnExhaustedCancel}},
			"dunning.on_exhausted":     {Dunning: &sdk.Dunning{IntervalsDays: []int64{1}, OnExhausted: "pause"}},
			"tax.mode":                 {Tax: &sdk.TaxSettings{Mode: "magic", Behavior: sdk.TaxBehaviorExclusive, Rates: []sdk.TaxRate{}}},
			"tax.rates.1.country":      {Tax: table(vat, vat)},
			"tax.rates.0.region":       {Tax: table(sdk.TaxRate{Region: new("ON"), Name: "HST"})},
			"tax.rates.0.rate_bps":     {Tax: table(sdk.TaxRate{Name: "VAT", RateBps: 10001})},
		} {
			_, err := c.Account.Update(background, body)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
	})
}
