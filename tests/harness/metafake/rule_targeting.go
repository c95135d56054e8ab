package metafake

import (
	"encoding/json"
	"slices"
	"strings"
)

// geography is where an ad set is shown, as far as the rules are about it.
type geography struct {
	Countries []string
	Groups    []string `json:"country_groups"`
	Zips      []where
	Regions   []where
	Cities    []struct {
		where
		Radius float64
		Unit   string `json:"distance_unit"`
	}
}

// where is a place by its key.
type where struct{ Key string }

// country returns the country that a place lies in, "" if this fake does not have the place. A postal code begins with it.
func (w where) country() string {
	if country, _, isZip := strings.Cut(w.Key, ":"); isZip {
		return country
	}
	for _, kind := range []string{"region", "city"} {
		for _, one := range places[kind] {
			if one["key"] == w.Key {
				return one["country_code"].(string)
			}
		}
	}
	return ""
}

// all returns the countries that any of its places lies in.
func (g *geography) all() []string {
	countries := slices.Clone(g.Countries)
	for _, w := range slices.Concat(g.Regions, g.Zips) {
		countries = append(countries, w.country())
	}
	for _, city := range g.Cities {
		countries = append(countries, city.country())
	}
	return countries
}

// targeting is what rules are about of who an ad set is shown to.
type targeting struct {
	Geo        json.RawMessage `json:"geo_locations"`
	Excluded   json.RawMessage `json:"excluded_geo_locations"`
	AgeMin     int             `json:"age_min"`
	AgeMax     int             `json:"age_max"`
	Genders    []int
	Audiences  []struct{ ID string } `json:"custom_audiences"`
	Excluding  []struct{ ID string } `json:"excluded_custom_audiences"`
	Positions  []string              `json:"instagram_positions"`
	Flexible   []likes               `json:"flexible_spec"`
	Automation struct {
		Advantage *int `json:"advantage_audience"`
	} `json:"targeting_automation"`
	likes
}

// likes are things that people like and do.
type likes struct {
	Interests []struct{ ID string }
	Behaviors []struct{ ID string }
}

// RetiredInterest is the id of an interest that Meta does not have any more: rule G5.
const RetiredInterest = "6003000000000"

// Beneficiary is whom Meta recommends to name as who profits from ads.
const Beneficiary = "Northwind Ltd"

// checkTargeting checks the rules G1 to G7 of a new ad set, and of one whose targeting is changed.
func (f *Fake) checkTargeting(r *request, campaign *object) *Error {
	var t targeting
	var g geography
	if r.decode("targeting", &t); len(t.Geo) < len("{}")+1 || json.Unmarshal(t.Geo, &g) != nil {
		return broken("G1", 1885364, "Choose at least one place.")
	}
	for _, city := range g.Cities {
		if slices.Contains(g.Countries, city.country()) {
			return broken("G1", 1487756, "A city lies in a country that is chosen too.")
		}
	}
	switch {
	case t.Automation.Advantage == nil:
		return broken("G2", 1870227, "Set the advantage_audience flag of targeting_automation to 1 or 0.")
	case *t.Automation.Advantage == 1 && (t.AgeMin > 25 || t.AgeMax != 0 && t.AgeMax != 65):
		return broken("G2", 1870188, "With advantage_audience the youngest is at most 25 and the oldest 65.")
	case isNarrowing(campaign) && f.leavesOut(&t, &g):
		return broken("G3", 2909035, "An ad of a special category must not leave people out.")
	case len(t.Audiences) > 500:
		return broken("G6", 0, "At most 500 audiences.")
	case slices.Contains(t.Positions, "explore"):
		return broken("G7", 0, "The position explore is no more.")
	}
	for _, a := range slices.Concat(t.Audiences, t.Excluding) {
		if isFlagged(f.nodes[a.ID]) {
			return broken("U5", 0, "The audience %s was flagged and cannot be used.", a.ID)
		}
	}
	if slices.ContainsFunc(g.all(), func(country string) bool { return slices.Contains([]string{"TW", "SG"}, country) }) && !r.params.Has("regional_regulated_categories") {
		return broken("G4", 3858634, "An ad set there declares its regional_regulated_categories and who is behind it.")
	}
	if e := t.checkRetired(); e != nil {
		return e
	}
	return f.checkTransparency(r, &g)
}

// checkRetired refuses an interest that is no more: rule G5.
func (t *targeting) checkRetired() *Error {
	for _, of := range append(t.Flexible, t.likes) {
		if slices.ContainsFunc(of.Interests, func(i struct{ ID string }) bool { return i.ID == RetiredInterest }) {
			return broken("G5", 1487694, "The interest %s is no more.", RetiredInterest)
		}
	}
	return nil
}

// isNarrowing reports whether a campaign is of a category that must not leave people out.
func isNarrowing(campaign *object) bool {
	categories, _ := campaign.fields["special_ad_categories"].([]string)
	return slices.ContainsFunc(categories, func(category string) bool {
		return slices.Contains([]string{"HOUSING", "EMPLOYMENT", "CREDIT", "FINANCIAL_PRODUCTS_SERVICES"}, category)
	})
}

// leavesOut reports whether a targeting leaves people out, as rule G3 forbids it.
func (f *Fake) leavesOut(t *targeting, g *geography) bool {
	for _, city := range g.Cities {
		if least := map[string]float64{"mile": 15, "kilometer": 25}[city.Unit]; city.Radius > 0 && city.Radius < least {
			return true
		}
	}
	for _, a := range t.Audiences {
		if o := f.nodes[a.ID]; o != nil && o.text("subtype") == "LOOKALIKE" {
			return true
		}
	}
	behaves := func(of likes) bool { return len(of.Behaviors) > 0 }
	return t.AgeMin > 18 || t.AgeMin > 0 && t.AgeMin < 18 || t.AgeMax > 0 && t.AgeMax < 65 || len(t.Genders) > 0 || len(t.Excluded) > 0 || len(g.Zips) > 0 ||
		behaves(t.likes) || slices.ContainsFunc(t.Flexible, behaves)
}

// union are the countries and territories of rule G4.
var union = []string{
	"AT", "BE", "BG", "HR", "CY", "CZ", "DK", "EE", "FI", "FR", "DE", "GR", "HU", "IE", "IT", "LV", "LT", "LU", "MT", "NL", "PL", "PT", "RO", "SK", "SI",
	"ES", "SE", "GF", "GP", "MQ", "YT", "RE", "MF", "AX",
}

// checkTransparency checks that an ad set in the EU, or worldwide, names who profits from it and who pays: rule G4. Each may stand at the ad
// account.
func (f *Fake) checkTransparency(r *request, g *geography) *Error {
	if !slices.Contains(g.Groups, "worldwide") && !slices.ContainsFunc(g.all(), func(c string) bool { return slices.Contains(union, c) }) {
		return nil
	}
	for _, field := range []string{"dsa_beneficiary", "dsa_payor"} {
		said := r.params.Get(field)
		if said == "" && r.node.node == "AdSet" {
			said = r.node.text(field)
		}
		number := r.account()
		if r.node.node == "AdSet" {
			number = r.node.text("account_id")
		}
		if account := f.nodes["act_"+number]; said == "" && account != nil {
			said = account.text("default_" + field)
		}
		if said == "" || len([]rune(said)) > 512 {
			return broken("G4", 0, "An ad set in the EU needs %s of at most 512 characters.", field)
		}
	}
	return nil
}

// checkRetargeted checks the targeting of an ad set that is changed.
func (f *Fake) checkRetargeted(r *request, o *object) *Error {
	campaign, _ := o.fields["campaign"].(*object)
	if o.node != "AdSet" || !r.params.Has("targeting") {
		return nil
	}
	return f.checkTargeting(r, campaign)
}
