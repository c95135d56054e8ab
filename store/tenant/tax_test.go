package tenant

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
)

func TestFlatTable_TakesTheMostSpecificRate(t *testing.T) {
	t.Parallel()
	everywhere := TaxRate{RateBps: 100, Name: "Everywhere"}
	germany := TaxRate{Country: new("DE"), RateBps: 1900, Name: "MwSt."}
	canada := TaxRate{Country: new("CA"), RateBps: 500, Name: "GST"}
	ontario := TaxRate{Country: new("CA"), Region: new("ON"), RateBps: 1300, Name: "HST"}
	quebec := TaxRate{Country: new("CA"), Region: new("Québec"), RateBps: 998, Name: "QST"}
	bern := TaxRate{Country: new("CH"), Region: new("BE"), RateBps: 1, Name: "Bern"}
	tests := map[string]struct {
		table   flatTable
		address *core.Address
		want    string // the rate's name, "none", or "unknown"
	}{
		"an empty table taxes nobody":               {nil, nil, "none"},
		"a country":                                 {flatTable{everywhere, germany}, &core.Address{Country: new("DE")}, "MwSt."},
		"another country pays what is everywhere":   {flatTable{germany, everywhere}, &core.Address{Country: new("FR")}, "Everywhere"},
		"another country pays nothing":              {flatTable{germany}, &core.Address{Country: new("FR")}, "none"},
		"a region, however it is written":           {flatTable{everywhere, canada, ontario}, &core.Address{Country: new("CA"), State: new(" on ")}, "HST"},
		"a region by its name":                      {flatTable{canada, ontario}, &core.Address{Country: new("CA"), State: new("ontario ")}, "HST"},
		"a region with its country":                 {flatTable{canada, ontario}, &core.Address{Country: new("CA"), State: new("ca-on")}, "HST"},
		"a region of another country":               {flatTable{canada, ontario}, &core.Address{Country: new("CA"), State: new("US-ON")}, "GST"},
		"a rate with the name of its region":        {flatTable{canada, quebec}, &core.Address{Country: new("CA"), State: new("QC")}, "QST"},
		"a name without its accent":                 {flatTable{canada, quebec}, &core.Address{Country: new("CA"), State: new("Quebec")}, "QST"},
		"a region that has no name here":            {flatTable{bern}, &core.Address{Country: new("CH"), State: new("be")}, "Bern"},
		"a rate with white space around its region": {flatTable{{Country: new("CH"), Region: new(" ZH "), Name: "Zurich"}}, &core.Address{Country: new("CH"), State: new("ZH")}, "Zurich"},
		"a region as it is written goes first":      {flatTable{{Country: new("US"), Region: new("Washington"), Name: "By name"}, {Country: new("US"), Region: new("WA"), Name: "By code"}}, &core.Address{Country: new("US"), State: new("wa")}, "By code"},
		"whoever lives elsewhere":                   {flatTable{canada, ontario}, &core.Address{Country: new("CA"), State: new(Elsewhere)}, "GST"},
		"nobody lives in a region called elsewhere": {flatTable{canada, {Country: new("CA"), Region: new(Elsewhere), RateBps: 1, Name: "No"}}, &core.Address{Country: new("CA"), State: new(Elsewhere)}, "GST"},
		"another region pays the country's":         {flatTable{ontario, canada, everywhere}, &core.Address{Country: new("CA"), State: new("AB")}, "GST"},
		"another region without a country's rate":   {flatTable{ontario}, &core.Address{Country: new("CA"), State: new("AB")}, "none"},
		"a region has to be known where it counts":  {flatTable{canada, ontario, everywhere}, &core.Address{Country: new("CA")}, "unknown"},
		"no address":                               {flatTable{germany}, nil, "unknown"},
		"an address without a country":             {flatTable{germany}, &core.Address{City: new("Berlin")}, "unknown"},
		"no address, and the same rate everywhere": {flatTable{everywhere}, nil, "Everywhere"},
		"no address, and a rate of elsewhere":      {flatTable{germany, everywhere}, nil, "unknown"},
		"a region of the same name elsewhere":      {flatTable{ontario, germany}, &core.Address{Country: new("DE"), State: new("ON")}, "MwSt."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rate, known := test.table.RateAt(test.address)
			got := "none"
			switch {
			case !known:
				got = "unknown"
			case rate != nil:
				got = rate.Name
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestTaxSettings_BehaviorOfAVariantGoesFirst(t *testing.T) {
	t.Parallel()
	settings := TaxSettings{Behavior: TaxBehaviorInclusive}
	assert.True(t, settings.IsInclusive(nil))
	assert.False(t, settings.IsInclusive(new(TaxBehaviorExclusive)))
	settings.Behavior = TaxBehaviorExclusive
	assert.True(t, settings.IsInclusive(new(TaxBehaviorInclusive)))
}

func TestTaxSettings_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	tests := map[string]TaxSettings{
		"tax.mode":             {Mode: "magic", Behavior: TaxBehaviorExclusive},
		"tax.behavior":         {Mode: TaxModeNone, Behavior: "both"},
		"tax.rates":            {Mode: TaxModeFlatTable, Behavior: TaxBehaviorExclusive, Rates: make([]TaxRate, maxTaxRates+1)},
		"tax.rates.0.rate_bps": {Mode: TaxModeFlatTable, Behavior: TaxBehaviorExclusive, Rates: []TaxRate{{Name: "VAT", RateBps: 10_001}}},
		"tax.rates.0.name":     {Mode: TaxModeFlatTable, Behavior: TaxBehaviorExclusive, Rates: []TaxRate{{Name: " "}}},
		"tax.rates.0.region":   {Mode: TaxModeFlatTable, Behavior: TaxBehaviorExclusive, Rates: []TaxRate{{Name: "VAT", Region: new("ON")}}},
		"tax.rates.1.region":   {Mode: TaxModeFlatTable, Behavior: TaxBehaviorExclusive, Rates: []TaxRate{{Name: "VAT"}, {Name: "VAT", Country: new("CA"), Region: new(" - ")}}},
		"tax.rates.1.country": {Mode: TaxModeFlatTable, Behavior: TaxBehaviorExclusive, Rates: []TaxRate{
			{Name: "VAT", Country: new("CA"), Region: new("ON")}, {Name: "HST", Country: new("CA"), Region: new("Ontario")},
		}},
	}
	for field, settings := range tests {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			var p core.Problems
			settings.check(&p)
			require.Contains(t, p, field)
		})
	}
	var p core.Problems
	(&TaxSettings{Mode: TaxModeFlatTable, Behavior: TaxBehaviorInclusive, Rates: []TaxRate{{Name: "VAT", Country: new("CA")}, {Name: "VAT"}}}).check(&p)
	assert.Empty(t, p)
}
