package ads

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
)

// Category is a special ad category, with the network's word for it.
type Category struct{ Name, Word string }

// The special ad categories. Those of narrowing are about people's chances in life, so that networks let nobody be left out of them.
const (
	categoryIssues = "issues_elections_politics"
	narrowRadius   = 25 // km
)

var narrowing = []string{"housing", "employment", "credit", "financial_products"}

// categories reads the special ad categories into the plan, and adds a problem for what they do not let the targeting say.
func (d *draft) categories(in *TargetingInput, w *wanted, lookalike bool) {
	p, known := &d.problems, d.caps.Targeting.Categories
	names := make([]string, len(known))
	for i, c := range known {
		names[i] = c.Name
	}
	for _, sent := range in.Categories {
		name := strings.ToLower(sent)
		i := slices.Index(names, name)
		if i < 0 {
			p.Add("special_ad_categories", fmt.Sprintf("%s has these special ad categories: %s.", d.caps.Platform, cmp.Or(list(names), "none")))
			continue
		}
		d.plan.Categories = append(d.plan.Categories, known[i].Word)
		if slices.Contains(narrowing, name) {
			d.narrow(name, w, lookalike)
		}
		p.Check(name != categoryIssues || len(in.CategoryCountries) > 0, "special_ad_countries", "Send the special_ad_countries whose rules for "+categoryIssues+" hold.")
	}
	for _, country := range in.CategoryCountries {
		p.Check(advert.IsCountry(country), "special_ad_countries", "Send countries of two letters, such as US.")
		d.plan.CategoryCountries = append(d.plan.CategoryCountries, strings.ToUpper(country))
	}
	p.Check(len(in.CategoryCountries) == 0 || len(in.Categories) > 0, "special_ad_countries", "special_ad_countries goes with special_ad_categories.")
}

// narrow adds a problem for each part of a targeting that a special ad category does not take.
func (d *draft) narrow(category string, w *wanted, lookalike bool) {
	refuse := func(word, rule string) {
		d.problems.Add(w.at(word), fmt.Sprintf("An ad of the category %s %s. Leave %s out.", category, rule, word))
	}
	w.leavesOut(refuse)
	if lookalike {
		refuse("audiences", "has no lookalike audience")
	}
}

// leavesOut calls refuse for each word by which a targeting leaves people out who must not be, with the rule for it.
func (t *Targeting) leavesOut(refuse func(word, rule string)) {
	check := func(is bool, word, rule string) {
		if is {
			refuse(word, rule)
		}
	}
	check(t.AgeMin > 18, "age_min", "is for everybody from 18 on")
	check(t.AgeMin > 0 && t.AgeMin < 18, "age_min", "is for people from 18 on")
	check(t.AgeMax > 0 && t.AgeMax < OldestAge, "age_max", "is for everybody from 18 on")
	check(len(t.Genders) > 0, "genders", "is for all genders")
	check(t.Excluded != nil && !t.Excluded.isNowhere(), "excluded", "excludes no place")
	check(len(t.Zips) > 0, "zips", "is not narrowed to postal codes")
	check(len(t.Behaviors) > 0, "behaviors", "is not narrowed by behaviour")
	for _, city := range t.Cities {
		check(city.RadiusKM > 0 && city.RadiusKM < narrowRadius, "cities", fmt.Sprintf("reaches at least %d km around a city", narrowRadius))
	}
}

// LeavesOut reports whether a targeting leaves people out although an ad of these special ad categories, in the network's words, must not.
func (c Caps) LeavesOut(t *Targeting, categories []string) bool {
	narrows := slices.ContainsFunc(c.Targeting.Categories, func(known Category) bool {
		return slices.Contains(categories, known.Word) && slices.Contains(narrowing, known.Name)
	})
	leaves := false
	t.leavesOut(func(string, string) { leaves = true })
	return narrows && leaves
}

// transparent are the countries and territories where the EU's Digital Services Act wants an ad to name who profits from it and who pays.
var transparent = []string{
	"AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO",
	"SE", "SI", "SK", "AX", "GF", "GP", "MF", "MQ", "RE", "YT",
}

// InEU reports whether an ad in these countries has to name who profits from it and who pays.
func InEU(countries []string) bool {
	return slices.ContainsFunc(countries, func(country string) bool { return slices.Contains(transparent, country) })
}

// isSaidToBeInEU reports the same of a targeting in Meta's own words, in which the whole world is a place, too.
func isSaidToBeInEU(own advert.Object) bool {
	var spec struct {
		Places struct {
			Countries []string
			Groups    []string `json:"country_groups"`
		} `json:"geo_locations"`
	}
	return own.Decode(&spec) == nil && (InEU(spec.Places.Countries) || len(spec.Places.Groups) > 0)
}

// transparency reads who profits from the ad and who pays for it: whom the request names, or else the ad account. An ad in the EU must
// name both.
func (s *Service) transparency(ctx context.Context, d *draft, in *TargetingInput, countries []string) {
	p, a := &d.problems, &d.plan.AdAccount
	if !d.caps.Targeting.DSA {
		checkNoDSA(d.caps, in, p.Check)
		return
	}
	d.plan.DSABeneficiary, d.plan.DSAPayor = cmp.Or(in.DSABeneficiary, a.Beneficiary()), cmp.Or(in.DSAPayor, a.Payor())
	if !InEU(countries) && !isSaidToBeInEU(in.Platform) {
		return
	}
	for _, f := range (required{{"dsa_beneficiary", d.plan.DSABeneficiary}, {"dsa_payor", d.plan.DSAPayor}}) {
		if f.value == "" {
			p.Add(f.field, fmt.Sprintf("An ad in the EU says who profits from it and who pays. Send %s, or keep it with PATCH /ads/ad-accounts/%s.%s",
				f.field, a.PlatformID, s.recommended(ctx, d.line, a)))
		}
	}
}

// checkNoDSA adds a problem for a field that the network does not have.
func checkNoDSA(c Caps, in *TargetingInput, check func(ok bool, field, message string)) {
	message := fmt.Sprintf("%s has no such field. Leave it out.", c.Platform)
	check(in.DSABeneficiary == "", "dsa_beneficiary", message)
	check(in.DSAPayor == "", "dsa_payor", message)
}

// recommended returns a sentence with the names that the network recommends, or "" if it tells none.
func (s *Service) recommended(ctx context.Context, l *line, a *advert.Account) string {
	if s.store.Leave(ctx) != nil {
		return ""
	}
	names, err := l.Beneficiaries(ctx, l.conn, a.PlatformID)
	if err != nil || len(names) == 0 {
		return ""
	}
	return " The network recommends: " + list(names) + "."
}
