package tenant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// TaxMode says where the rates of tax come from.
type TaxMode string

// The tax modes of an account.
const (
	TaxModeNone      TaxMode = "none"
	TaxModeFlatTable TaxMode = "flat_table"
)

// Whether a tax comes on top of a price or is inside it.
const (
	TaxBehaviorExclusive = "exclusive"
	TaxBehaviorInclusive = "inclusive"
)

// The limits of a tax table: how many rates it has, and how high one may be.
const (
	maxTaxRates   = 500
	maxTaxRateBps = 10_000
)

// TaxSettings says how an account taxes what it sells. Behavior is for price variants that have none of their own.
type TaxSettings struct {
	Mode     TaxMode   `json:"mode"`
	Behavior string    `json:"behavior"`
	Rates    []TaxRate `json:"rates"`
}

// TaxRate is the rate of tax at a place: in a region of a country, or in a country. Without a country it is the rate everywhere
// that no other rate is for.
type TaxRate struct {
	Country *string `json:"country"`
	Region  *string `json:"region"`
	RateBps int64   `json:"rate_bps"`
	Name    string  `json:"name"`
}

// TaxSource says which rate a buyer at an address pays, nil for none. Known is false as long as the address does not say
// enough; the rate is that of a wider place then.
//
// It is an interface so that a tax service could take its place. A source that asks outside would have to be asked before the
// transaction that uses its answer, and the answer be kept with the checkout.
type TaxSource interface {
	RateAt(address *core.Address) (rate *TaxRate, known bool)
}

// NoTax taxes nobody.
type NoTax struct{}

// flatTable is a list of rates by place.
type flatTable []TaxRate

// Source returns the source of the account's rates.
func (t *TaxSettings) Source() TaxSource {
	if t.Mode == TaxModeFlatTable {
		return flatTable(t.Rates)
	}
	return NoTax{}
}

// RatesIn returns the rates for regions of a country.
func (t *TaxSettings) RatesIn(country string) []TaxRate {
	if t.Mode != TaxModeFlatTable {
		return nil
	}
	var rates []TaxRate
	for _, rate := range t.Rates {
		if rate.Region != nil && rate.isIn(country) {
			rates = append(rates, rate)
		}
	}
	return rates
}

// IsInclusive reports whether a price contains its tax, by a behavior of its own or else, if that is nil, the account's.
func (t *TaxSettings) IsInclusive(own *string) bool {
	behavior := t.Behavior
	if own != nil {
		behavior = *own
	}
	return behavior == TaxBehaviorInclusive
}

// RateAt returns no rate, which is always known.
func (NoTax) RateAt(*core.Address) (*TaxRate, bool) { return nil, true }

// RateAt returns the most specific rate of the table that holds at the address, nil if none does. Known is false if the country is not known and
// any country has a rate of its own. Otherwise buyers who say nothing would pay as if they lived elsewhere. The same goes for the region, in a
// country that has rates by region.
func (t flatTable) RateAt(address *core.Address) (*TaxRate, bool) {
	country, region := place(address)
	var best *TaxRate
	known := true
	for i := range t {
		rate := &t[i]
		if rate.hidesFrom(country, region) {
			known = false
		}
		if rate.covers(country, region) && (best == nil || rate.depth(region) > best.depth(region)) {
			best = rate
		}
	}
	return best, known
}

// place returns the country and the region of an address, by which tax is looked up. Each is empty if the address does not say it.
func place(a *core.Address) (country, region string) {
	if a == nil {
		return "", ""
	}
	return strings.TrimSpace(core.Deref(a.Country)), strings.TrimSpace(core.Deref(a.State))
}

// hidesFrom reports whether the rate might be the buyer's, but their country or region is not known.
func (r *TaxRate) hidesFrom(country, region string) bool {
	if country == "" {
		return r.Country != nil
	}
	return region == "" && r.Region != nil && r.isIn(country)
}

// isIn reports whether the rate is for a country or a region in it.
func (r *TaxRate) isIn(country string) bool {
	return r.Country != nil && strings.EqualFold(*r.Country, country)
}

// covers reports whether the rate holds at a place.
func (r *TaxRate) covers(country, region string) bool {
	switch {
	case r.Country == nil:
		return true
	case !r.isIn(country):
		return false
	default:
		return r.Region == nil || r.IsOf(region)
	}
}

// IsOf reports whether a text means the region of the rate, which has one. CA, US-CA and California mean the same.
func (r *TaxRate) IsOf(region string) bool {
	return region != Elsewhere && SameRegion(*r.Country, *r.Region, region)
}

// depth returns how specific the rate is for a region that it covers: 0 for everywhere else, 1 for a country, 2 for a region. It is 3 for the region
// as it is written: older tables may have it twice.
func (r *TaxRate) depth(region string) int {
	switch {
	case r.Country == nil:
		return 0
	case r.Region == nil:
		return 1
	case strings.EqualFold(*r.Region, region):
		return 3
	default:
		return 2
	}
}

// check adds a problem for everything that is wrong with the settings.
func (t *TaxSettings) check(p *core.Problems) {
	p.Check(slices.Contains([]TaxMode{TaxModeNone, TaxModeFlatTable}, t.Mode), "tax.mode", "A tax mode is none or flat_table.")
	p.Check(slices.Contains([]string{TaxBehaviorExclusive, TaxBehaviorInclusive}, t.Behavior), "tax.behavior", "A tax behavior is exclusive or inclusive.")
	p.Check(len(t.Rates) <= maxTaxRates, "tax.rates", fmt.Sprintf("There are at most %d rates.", maxTaxRates))
	places := map[string]bool{}
	for i, rate := range t.Rates {
		at := fmt.Sprintf("tax.rates.%d.", i)
		rate.check(at, p)
		key := core.JSONText([]string{core.Deref(rate.Country), regionKey(core.Deref(rate.Country), core.Deref(rate.Region))})
		p.Check(!places[key], at+"country", "Another rate is for the same place.")
		places[key] = true
	}
}

// check adds a problem for everything that is wrong with the rate. Field names in the problems begin with at.
func (r *TaxRate) check(at string, p *core.Problems) {
	p.Check(r.RateBps >= 0 && r.RateBps <= maxTaxRateBps, at+"rate_bps", "A rate has 0 to 10000 basis points: 1900 is 19 %.")
	p.Check(strings.TrimSpace(r.Name) != "" && core.HasAtMost(&r.Name, 100), at+"name", "A rate has a name of 1 to 100 characters, such as VAT.")
	p.Check(r.Region == nil || r.Country != nil, at+"region", "A region belongs to a country: send country too.")
	p.Check(r.Region == nil || strings.TrimSpace(*r.Region) != "", at+"region", "A region is not empty: leave it out.")
	p.Check(r.Region == nil || strings.TrimSpace(*r.Region) != Elsewhere, at+"region", "The region - means elsewhere: send a rate for the country alone.")
}
