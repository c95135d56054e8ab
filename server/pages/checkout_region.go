package pages

import (
	"context"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/tenant"
)

// region is a choice of where in a country a buyer lives. Value is what its form sends.
type region struct {
	Value, Name string
	Chosen      bool
}

// regionsOf is the hidden field of a checkout's form that names the country of which the page asked for the region.
const regionsOf = "regions_of"

// Regions returns what a buyer chooses from in a country where tax goes by region, nil for any other. These are the regions that have a rate, by name,
// and elsewhere. What the buyer typed before the page could offer these is a choice of its own if it is another region.
func (p checkoutPage) Regions() []region {
	rates, typed := p.Seller.Tax.V.RatesIn(p.Country), p.Form["state"]
	if len(rates) == 0 {
		return nil
	}
	var all []region
	for _, rate := range rates {
		all = append(all, region{Value: *rate.Region, Name: tenant.RegionName(p.Country, *rate.Region), Chosen: typed != "" && rate.IsOf(typed)})
	}
	isOther := typed != "" && typed != tenant.Elsewhere && !slices.ContainsFunc(all, func(r region) bool { return r.Chosen })
	if isOther {
		all = append(all, region{Value: typed, Name: tenant.RegionName(p.Country, typed), Chosen: true})
	}
	slices.SortFunc(all, func(a, b region) int { return strings.Compare(a.Name, b.Name) })
	return append(all, region{Value: tenant.Elsewhere, Name: p.l.T("checkout.elsewhere", "country", p.l.Country(p.Country)), Chosen: typed == tenant.Elsewhere})
}

// AsksRegion reports whether the buyer has to choose a region, because the tax depends on it.
func (p checkoutPage) AsksRegion() bool { return p.Country != "" && p.Checkout.TaxAmount == nil }

// dropRegion has a form of the account's checkout lose a region that is another country's, as leaveRegion says.
func (p *Pages) dropRegion(ctx context.Context, account string, form form) error {
	if form["state"] == "" || form[regionsOf] == form["country"] {
		return nil
	}
	seller, err := p.store.Tenant.GetAccount(ctx, account)
	if err != nil {
		return err
	}
	leaveRegion(form, &seller.Tax.V)
	return nil
}

// leaveRegion takes the region out of a form whose page asked for that of another country, if tax goes by region in either. Nobody chose it where they
// live now. One that is known there stays: it was typed without a script.
func leaveRegion(form map[string]string, tax *tenant.TaxSettings) {
	of, asked := form[regionsOf]
	country, typed := form["country"], form["state"]
	if !asked || typed == "" || of == country {
		return
	}
	here, isThere := tax.RatesIn(country), len(tax.RatesIn(of)) > 0
	isKnown := tenant.KnowsRegion(country, typed) || slices.ContainsFunc(here, func(rate tenant.TaxRate) bool { return rate.IsOf(typed) })
	if isThere || len(here) > 0 && !isKnown {
		form["state"] = ""
	}
}
