package adwalk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// queries are what every network of the tests has something by, of each type of what a targeting can name.
var queries = map[string]string{"country": "", "region": "Alberta", "city": "Los Angeles", "zip": "94110", "metro": "New", "interest": "Movies", "behavior": "", "language": ""}

// search returns the first id that a search finds.
func (w *World) search(kind string) (string, error) {
	params := &sdk.SearchAdTargetingParams{AccountID: w.Channel, Type: sdk.AdTargetingType(kind)}
	if q := queries[kind]; q != "" {
		params.Q = &q
	}
	if kind == "zip" {
		params.Country = new("US")
	}
	found, err := w.Ads.SearchTargeting(background, params)
	if err != nil {
		return "", err
	}
	if len(found.Data) == 0 {
		return "", fmt.Errorf("nothing is found")
	}
	return found.Data[0].ID, nil
}

func (w *World) searches(t *testing.T) {
	for _, kind := range words("AdTargetingType") {
		_, err := w.search(kind)
		w.is(t, has(w.Can.SearchTypes, kind), "type", "a search for a "+kind, err)
	}
}

// kinds are the types of what the words of a targeting name.
var kinds = map[string]string{"regions": "region", "cities": "city", "zips": "zip", "metros": "metro", "interests": "interest", "behaviors": "behavior"}

// option is an entry for a word, found by a search where there is one.
func (w *World) option(word string) object {
	id, err := w.search(kinds[word])
	if err != nil {
		id = "4711"
	}
	return object{"id": id}
}

// somewhere names a place if a targeting names none.
func somewhere(targeting object) object {
	for _, place := range []string{"countries", "regions", "cities", "zips", "metros"} {
		if targeting[place] != nil {
			return targeting
		}
	}
	with := object{"countries": []string{"US"}}
	maps.Copy(with, targeting)
	return with
}

// shown makes an ad for some people, and asks how many they are and gives another ad to them.
func (w *World) shown(targeting object) error {
	return w.make(object{"countries": nil, "targeting": somewhere(targeting)})
}

// targets expects a targeting to work for new ads, for the ad groups that there are, and for a guess of its reach. If the network cannot, it expects
// it to work for none of them.
func (w *World) targets(t *testing.T, can bool, word string, targeting object) {
	t.Helper()
	what := fmt.Sprint("a targeting by ", targeting)
	w.is(t, can, "targeting."+word, what, w.shown(targeting))
	as := &sdk.AdTargeting{}
	into(somewhere(targeting), as)
	_, err := w.Ads.EstimateReach(background, &sdk.ReachEstimateCreate{AccountID: w.Channel, AdAccountID: w.AdAccount, Targeting: *as})
	w.is(t, can, "targeting."+word, "the reach of "+what, err)
	_, err = w.AdGroups.Update(background, w.group(t), &sdk.AdGroupUpdate{Platform: &w.Can.Platform, Targeting: as})
	w.is(t, can, "targeting."+word, what+" of an ad group", err)
}

// group makes an ad group, unless one was made before.
func (w *World) group(t *testing.T) string {
	t.Helper()
	if w.home == "" {
		w.home = w.made(t).AdGroupID
	}
	return w.home
}

func (w *World) targeting(t *testing.T) {
	rules := w.Can.Targeting
	had := func(word string) bool { return slices.Contains(rules.Words, word) }
	w.targets(t, had("countries"), "countries", object{"countries": []string{"CA", "GB"}})
	for word := range kinds {
		w.targets(t, had(word), word, object{word: []object{w.option(word)}})
	}
	w.targets(t, had("expand"), "expand", object{"expand": true})
	for word, each := range map[string][]string{"genders": words("AdGender"), "placements": words("AdPlacement"), "devices": words("AdDevice")} {
		known := map[string][]string{"genders": texts(rules.Genders), "placements": texts(rules.Placements), "devices": texts(rules.Devices)}[word]
		for _, value := range each {
			w.targets(t, had(word) && slices.Contains(known, value), word, object{word: []string{value}})
		}
	}
	languages := rules.Languages
	if len(languages) == 0 {
		languages = []string{"en"}
	}
	for some := range slices.Chunk(languages, 50) { // as many as there can be in a request
		w.targets(t, had("languages"), "languages", object{"languages": some})
	}
	if len(rules.Languages) > 0 {
		w.targets(t, false, "languages", object{"languages": []string{"xx"}})
	}
}

func texts[T ~string](of []T) []string {
	all := make([]string, len(of))
	for i, one := range of {
		all[i] = string(one)
	}
	return all
}

// nowhere makes an ad without a place: it is shown in the ad account's country, and says so.
func (w *World) nowhere(t *testing.T) {
	t.Helper()
	ad := w.made(t, object{"countries": nil})
	group, err := w.AdGroups.Get(background, ad.AdGroupID, &sdk.GetAdGroupParams{Platform: &w.Can.Platform})
	require.NoError(t, err, "%s shows an ad of nowhere", w.Can.Platform)
	assert.Len(t, group.Targeting.Countries, 1, "%s shows an ad of nowhere", w.Can.Platform)
	assert.True(t, slices.ContainsFunc(ad.Warnings, func(said string) bool { return strings.HasPrefix(said, "targeting ") }), "%s shows an ad of nowhere", w.Can.Platform)
}

func (w *World) places(t *testing.T) {
	w.nowhere(t)
	rules := w.Can.Targeting
	had := func(word string) bool { return slices.Contains(rules.Words, word) }
	for _, word := range []string{"countries", "regions", "cities", "zips", "metros"} {
		values := any([]string{"CA"})
		if word != "countries" {
			values = []object{w.option(word)}
		}
		field := "excluded"
		if had("excluded") {
			field += "." + word
		}
		w.targets(t, had("excluded") && slices.Contains(rules.Excluded, word), field, object{"excluded": object{word: values}})
	}
	if had("cities") {
		around := w.option("cities")
		around["radius_km"] = 25
		w.targets(t, rules.CityRadius, "cities", object{"cities": []object{around}})
	}
	for _, apart := range rules.Apart {
		both := object{}
		for _, word := range apart {
			both[word] = []object{w.option(word)}
		}
		w.targets(t, false, apart[0], both)
	}
}

// people narrows ads to ages and to audiences.
func (w *World) people(t *testing.T) {
	rules := w.Can.Targeting
	switch {
	case rules.AgeMin == nil:
		w.targets(t, false, "age_min", object{"age_min": 18})
		w.targets(t, false, "age_max", object{"age_max": 64})
	case len(rules.AgeBands) == 0:
		w.targets(t, true, "age_min", object{"age_min": *rules.AgeMin, "age_max": 65})
		w.targets(t, true, "age_min", object{"age_min": 21, "age_max": 47})
	default:
		for _, band := range rules.AgeBands {
			w.targets(t, true, "age_min", object{"age_min": band.AgeMin, "age_max": band.AgeMax})
			w.targets(t, false, "age_min", object{"age_min": band.AgeMin + 1, "age_max": band.AgeMax})
			if band.AgeMax < 65 {
				w.targets(t, false, "age_max", object{"age_min": band.AgeMin, "age_max": band.AgeMax - 1})
			}
		}
	}
	if rules.AgeMin != nil && *rules.AgeMin > 13 {
		w.targets(t, false, "age_min", object{"age_min": *rules.AgeMin - 1})
	}
	buyers := w.buyers(t, 400)
	for _, word := range []string{"include", "exclude"} {
		w.targets(t, slices.Contains(rules.Words, "audiences."+word), "audiences."+word, object{"audiences": object{word: []string{buyers}}})
	}
	if most := rules.MaxAudiences; most != nil {
		w.targets(t, false, "audiences.include", object{"audiences": object{"include": slices.Repeat([]string{buyers}, int(*most)+1)}})
	}
	few := w.buyers(t, 0)
	w.targets(t, false, "audiences.include", object{"audiences": object{"include": []string{few}}})
}

// laws are about special ad categories, and about who an ad in the EU is for.
func (w *World) laws(t *testing.T) {
	for _, category := range []string{"housing", "employment", "credit", "financial_products", "issues_elections_politics", "gambling"} {
		change := object{"special_ad_categories": []string{category}}
		can := slices.Contains(w.Can.Targeting.SpecialAdCategories, category)
		if can && category == "issues_elections_politics" {
			w.no(t, "special_ad_countries", category+" of nowhere", w.make(change))
			change["special_ad_countries"] = []string{"US"}
		}
		w.is(t, can, "special_ad_categories", category, w.make(change))
		if can && slices.Contains([]string{"housing", "employment", "credit", "financial_products"}, category) {
			w.narrowing(t, change)
		}
	}
	europe := object{"countries": []string{"FR"}}
	both := object{"dsa_beneficiary": "Northwind Ltd", "dsa_payor": "Southwind Ltd"}
	if !w.Can.Targeting.Dsa {
		w.yes(t, "ads in the EU", w.make(europe))
		for field, value := range both {
			w.no(t, field, field, w.make(europe, object{field: value}))
		}
		return
	}
	w.yes(t, "ads in the EU", w.make(europe, both))
	for field := range both {
		w.no(t, field, "ads in the EU without "+field, w.make(europe, both, object{field: nil}))
	}
}

// narrowing leaves people out of an ad, new or not, that is about their chances in life.
func (w *World) narrowing(t *testing.T, category object) {
	t.Helper()
	group := w.made(t, category).AdGroupID
	for word, value := range (object{"age_min": 25, "genders": []string{"female"}, "zips": []object{w.option("zips")}}) {
		targeting := somewhere(object{word: value})
		w.no(t, "targeting."+word, fmt.Sprint(category, " by ", word), w.make(category, object{"countries": nil, "targeting": targeting}))
		as := &sdk.AdTargeting{}
		into(targeting, as)
		_, err := w.AdGroups.Update(background, group, &sdk.AdGroupUpdate{Platform: &w.Can.Platform, Targeting: as})
		w.no(t, "targeting", fmt.Sprint(category, " by ", word, " later"), err)
	}
}
