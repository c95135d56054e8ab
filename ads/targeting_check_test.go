package ads

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// targets are targetings of one word each.
var targets = map[string]string{
	"countries": `{"countries":["us"]}`, "regions": `{"regions":[{"id":"1"}]}`, "cities": `{"cities":[{"id":"1"}]}`, "zips": `{"zips":[{"id":"1"}]}`,
	"metros": `{"metros":[{"id":"1"}]}`, "excluded": `{"excluded":{"countries":["CA"]}}`, "age_min": `{"age_min":18}`, "age_max": `{"age_max":65}`,
	"genders": `{"genders":["female"]}`, "languages": `{"languages":["en"]}`, "interests": `{"interests":[{"id":"1"}]}`,
	"behaviors": `{"behaviors":[{"id":"1"}]}`, "audiences.include": `{"audiences":{"include":["1"]}}`, "audiences.exclude": `{"audiences":{"exclude":["1"]}}`,
	"placements": `{"placements":["feed"]}`, "devices": `{"devices":["mobile"]}`, "expand": `{"expand":true}`,
}

// TestCheckTargeting_TakesWhatANetworkHasAndNothingElse is about who can what, as the design lists it.
func TestCheckTargeting_TakesWhatANetworkHasAndNothingElse(t *testing.T) {
	t.Parallel()
	without := map[advert.Platform][]string{
		advert.PlatformFacebook: nil, advert.PlatformInstagram: nil,
		advert.PlatformPinterest: {"cities", "excluded", "behaviors"},
		advert.PlatformTikTok:    {"metros", "excluded"},
		advert.PlatformGoogle:    {"metros", "behaviors", "placements", "expand"},
		advert.PlatformLinkedIn:  {"cities", "zips", "metros", "age_min", "age_max", "genders", "behaviors", "placements", "devices", "expand"},
		advert.PlatformTwitter: {"cities", "metros", "excluded", "age_min", "age_max", "genders", "languages", "behaviors", "audiences.exclude",
			"placements", "expand"},
	}
	for _, p := range advert.Platforms {
		var refused []string
		for word, targeting := range targets {
			if problems := problemsOf(t, p, targeting); len(problems) > 0 {
				refused = append(refused, word)
				assert.Equal(t, []string{"targeting." + word}, keysOf(problems), "%s: %s", p, targeting)
			}
		}
		assert.ElementsMatch(t, without[p], refused, p)
	}
}

func problemsOf(t *testing.T, p advert.Platform, targeting string) core.Problems {
	t.Helper()
	var problems core.Problems
	in := TargetingInput{Targeting: advert.NewObject(json.RawMessage(targeting))}
	CapsOf(p).checkTargeting(&problems, in.read(&problems))
	return problems
}

func TestCheckTargeting_NamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for targeting, c := range map[string]struct {
		platform advert.Platform
		wrong    []string
	}{
		`{"countries":["U1"]}`:                                      {advert.PlatformFacebook, []string{"targeting.countries"}},
		`{"age_min":40,"age_max":30}`:                               {advert.PlatformFacebook, []string{"targeting.age_max"}},
		`{"age_min":17}`:                                            {advert.PlatformPinterest, []string{"targeting.age_min"}},
		`{"age_min":18,"age_max":54}`:                               {advert.PlatformTikTok, nil},
		`{"age_min":20,"age_max":50}`:                               {advert.PlatformTikTok, []string{"targeting.age_min", "targeting.age_max"}},
		`{"age_max":64}`:                                            {advert.PlatformGoogle, nil},
		`{"age_max":60}`:                                            {advert.PlatformGoogle, []string{"targeting.age_max"}},
		`{"genders":["unknown"]}`:                                   {advert.PlatformFacebook, []string{"targeting.genders"}},
		`{"placements":["marketplace"]}`:                            {advert.PlatformInstagram, []string{"targeting.placements"}},
		`{"placements":["feed","marketplace"]}`:                     {advert.PlatformFacebook, nil},
		`{"devices":["desktop"]}`:                                   {advert.PlatformTikTok, []string{"targeting.devices"}},
		`{"languages":["PT-br","6"]}`:                               {advert.PlatformFacebook, nil},
		`{"languages":["tlh"]}`:                                     {advert.PlatformFacebook, []string{"targeting.languages"}},
		`{"cities":[{"id":"1","radius_km":20}]}`:                    {advert.PlatformGoogle, []string{"targeting.cities"}},
		`{"excluded":{"cities":[{"id":"1","radius_km":20}]}}`:       {advert.PlatformGoogle, []string{"targeting.excluded.cities"}},
		`{"regions":[{"id":"BE-VOV"}],"zips":[{"id":"US-94107"}]}`:  {advert.PlatformPinterest, []string{"targeting.regions"}},
		`{"regions":[{"id":"BE-VOV"}],"countries":["US"]}`:          {advert.PlatformPinterest, nil},
		`{"excluded":{"zips":[{"id":"1"}],"countries":["x"]}}`:      {advert.PlatformLinkedIn, []string{"targeting.excluded.zips", "targeting.excluded.countries"}},
		`{"expand":true,"age_min":26,"age_max":60}`:                 {advert.PlatformFacebook, []string{"targeting.age_min", "targeting.age_max"}},
		`{"expand":true,"age_min":25,"age_max":65}`:                 {advert.PlatformFacebook, nil},
		`{"expand":true,"age_min":30,"age_max":60}`:                 {advert.PlatformPinterest, nil},
		`{"geo_locations":{"countries":["US"]},"countries":["US"]}`: {advert.PlatformFacebook, []string{"targeting.geo_locations"}},
		`{"countries":null,"expand":false}`:                         {advert.PlatformTwitter, nil},
	} {
		assert.ElementsMatch(t, c.wrong, keysOf(problemsOf(t, c.platform, targeting)), "%s: %s", c.platform, targeting)
	}
}

func TestReadTargeting_TakesAWordOnce(t *testing.T) {
	t.Parallel()
	var problems core.Problems
	in := TargetingInput{Targeting: `{"age_min":20,"excluded":{"countries":["ca"]}}`, Beside: `{"age_max":30,"countries":["us"]}`}
	w := in.read(&problems)
	require.Empty(t, problems)
	assert.Equal(t, []any{20, 30, []string{"US"}, []string{"CA"}}, []any{w.AgeMin, w.AgeMax, w.Countries, w.Excluded.Countries})
	assert.Equal(t, []string{"targeting.age_min", "age_max", "targeting.excluded.countries"}, []string{w.at("age_min"), w.at("age_max"), w.at("excluded.countries")})

	in.Beside = `{"age_min":30}`
	in.read(&problems)
	assert.Equal(t, []string{"age_min"}, keysOf(problems))
}

// An ad of a category about people's chances must not leave people out: Meta's rule G3.
func TestCategories_NarrowTheTargeting(t *testing.T) {
	t.Parallel()
	for targeting, wrong := range map[string][]string{
		`{"age_min":18,"age_max":65,"interests":[{"id":"1"}]}`: nil,
		`{"age_min":21}`:                           {"targeting.age_min"},
		`{"age_max":50}`:                           {"targeting.age_max"},
		`{"genders":["female"]}`:                   {"targeting.genders"},
		`{"excluded":{"countries":["CA"]}}`:        {"targeting.excluded"},
		`{"zips":[{"id":"1"}]}`:                    {"targeting.zips"},
		`{"behaviors":[{"id":"1"}]}`:               {"targeting.behaviors"},
		`{"cities":[{"id":"1","radius_km":24}]}`:   {"targeting.cities"},
		`{"cities":[{"id":"1","radius_km":25}]}`:   nil,
		`{"cities":[{"id":"1"}],"countries":null}`: nil,
	} {
		d := &draft{caps: CapsOf(advert.PlatformFacebook), plan: &Plan{}}
		in := TargetingInput{Targeting: advert.NewObject(json.RawMessage(targeting)), Categories: []string{"Housing"}}
		d.categories(&in, in.read(&d.problems), false)
		assert.ElementsMatch(t, wrong, keysOf(d.problems), targeting)
		assert.Equal(t, []string{"HOUSING"}, d.plan.Categories)
	}
	for name, c := range map[string]struct {
		platform   advert.Platform
		in         TargetingInput
		lookalike  bool
		wrong      []string
		categories []string
	}{
		"a lookalike":             {advert.PlatformFacebook, TargetingInput{Categories: []string{"credit"}}, true, []string{"targeting.audiences"}, []string{"CREDIT"}},
		"politics of nowhere":     {advert.PlatformFacebook, TargetingInput{Categories: []string{"ISSUES_ELECTIONS_POLITICS"}}, false, []string{"special_ad_countries"}, []string{"ISSUES_ELECTIONS_POLITICS"}},
		"politics of a country":   {advert.PlatformFacebook, TargetingInput{Categories: []string{"issues_elections_politics"}, CategoryCountries: []string{"us"}}, true, nil, []string{"ISSUES_ELECTIONS_POLITICS"}},
		"a country of nothing":    {advert.PlatformFacebook, TargetingInput{CategoryCountries: []string{"us"}}, false, []string{"special_ad_countries"}, nil},
		"one that there is not":   {advert.PlatformFacebook, TargetingInput{Categories: []string{"toys"}}, false, []string{"special_ad_categories"}, nil},
		"a network without any":   {advert.PlatformPinterest, TargetingInput{Categories: []string{"housing"}}, false, []string{"special_ad_categories"}, nil},
		"a network with some":     {advert.PlatformTikTok, TargetingInput{Categories: []string{"credit"}}, false, nil, []string{"CREDIT"}},
		"and one that it has not": {advert.PlatformTikTok, TargetingInput{Categories: []string{"gambling"}}, false, []string{"special_ad_categories"}, nil},
	} {
		d := &draft{caps: CapsOf(c.platform), plan: &Plan{}}
		d.categories(&c.in, c.in.read(&d.problems), c.lookalike)
		assert.ElementsMatch(t, c.wrong, keysOf(d.problems), name)
		assert.Equal(t, c.categories, d.plan.Categories, name)
	}
}
