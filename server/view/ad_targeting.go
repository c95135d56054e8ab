package view

import (
	"encoding/json"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

// adWords reads a targeting, with the words that the specification does not name; it is empty for nil.
func adWords(t *api.AdTargeting) advert.Object {
	if t == nil {
		return ""
	}
	return advert.NewObject(t)
}

// besideTargeting reads the words of a targeting that a new ad has at the top level.
func besideTargeting(b *api.AdCreate) advert.Object {
	return advert.NewObject(api.AdTargeting{
		Countries: b.Countries, Regions: b.Regions, Cities: b.Cities, Zips: b.Zips, Metros: b.Metros, Excluded: b.Excluded,
		AgeMin: b.AgeMin, AgeMax: b.AgeMax, Genders: b.Genders, Languages: b.Languages, Interests: b.Interests, Behaviors: b.Behaviors,
		Audiences: b.Audiences, Placements: b.Placements, Devices: b.Devices, Expand: b.Expand, AdditionalProperties: nil,
	})
}

// adTargeting renders whom an ad group is shown to.
func adTargeting(o advert.Object) api.AdTargeting {
	var t, none api.AdTargeting
	if json.Unmarshal([]byte(o.Text()), &t) != nil { // it was written from the same words
		return none
	}
	return t
}

func adTargetingRules(r *ads.TargetingRules) api.AdTargetingRules {
	return api.AdTargetingRules{
		Words: list(r.Words), Excluded: list(r.Excluded), Apart: mapped(r.Apart, list[string]),
		Genders:    mapped(r.Genders, func(g string) api.AdGender { return api.AdGender(g) }),
		Placements: mapped(r.Placements, func(p string) api.AdPlacement { return api.AdPlacement(p) }),
		Devices:    mapped(r.Devices, func(d string) api.AdDevice { return api.AdDevice(d) }),
		AgeMin:     countOrNull(r.Youngest),
		AgeBands: mapped(r.Bands, func(b [2]int) api.AdAgeBand {
			return api.AdAgeBand{AgeMin: int64(b[0]), AgeMax: int64(b[1])}
		}),
		Languages: list(r.LanguageCodes()), CityRadius: r.Radius, MaxAudiences: countOrNull(r.MaxAudiences),
		SpecialAdCategories: mapped(r.Categories, func(c ads.Category) string { return c.Name }), Dsa: r.DSA,
	}
}

// countOrNull returns a number, nil for 0.
func countOrNull(n int) *int64 {
	if n == 0 {
		return nil
	}
	return new(int64(n))
}
