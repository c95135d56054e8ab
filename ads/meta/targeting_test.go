package meta_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// words are targetings of one word each, with what Meta is sent for it.
var words = map[string]struct {
	targeting ads.Targeting
	sent      string
}{
	"countries":         {ads.Targeting{Places: ads.Places{Countries: []string{"US", "CA"}}}, `{"geo_locations":{"countries":["US","CA"]}}`},
	"regions":           {ads.Targeting{Places: ads.Places{Regions: []ads.Option{{ID: "3847"}}}}, `{"geo_locations":{"regions":[{"key":"3847"}]}}`},
	"cities":            {ads.Targeting{Places: ads.Places{Cities: []ads.City{{Option: ads.Option{ID: "2418779"}, RadiusKM: 30}}}}, `{"geo_locations":{"cities":[{"key":"2418779","radius":30,"distance_unit":"kilometer"}]}}`},
	"zips":              {ads.Targeting{Places: ads.Places{Zips: []ads.Option{{ID: "US:94107"}}}}, `{"geo_locations":{"zips":[{"key":"US:94107"}]}}`},
	"metros":            {ads.Targeting{Places: ads.Places{Metros: []ads.Option{{ID: "DMA:807"}}}}, `{"geo_locations":{"geo_markets":[{"key":"DMA:807"}]}}`},
	"excluded":          {ads.Targeting{Excluded: &ads.Places{Regions: []ads.Option{{ID: "3847"}}}}, `{"excluded_geo_locations":{"regions":[{"key":"3847"}]}}`},
	"age_min":           {ads.Targeting{AgeMin: 25}, `{"age_min":25}`},
	"age_max":           {ads.Targeting{AgeMax: 54}, `{"age_max":54}`},
	"genders":           {ads.Targeting{Genders: []string{"female"}}, `{"genders":[2]}`},
	"languages":         {ads.Targeting{Languages: []string{"en", "pt-BR", "51"}}, `{"locales":[1001,16,51]}`},
	"interests":         {ads.Targeting{Interests: []ads.Option{{ID: "6003107902433", Name: "Books"}}}, `{"flexible_spec":[{"interests":[{"id":"6003107902433","name":"Books"}]}]}`},
	"behaviors":         {ads.Targeting{Behaviors: []ads.Option{{ID: "6002714895372"}}}, `{"flexible_spec":[{"behaviors":[{"id":"6002714895372"}]}]}`},
	"audiences.include": {ads.Targeting{Audiences: &ads.TargetAudiences{Include: []string{"77"}}}, `{"custom_audiences":[{"id":"77"}]}`},
	"audiences.exclude": {ads.Targeting{Audiences: &ads.TargetAudiences{Exclude: []string{"78"}}}, `{"excluded_custom_audiences":[{"id":"78"}]}`},
	"placements":        {ads.Targeting{Placements: []string{"feed", "stories"}}, ``},
	"devices":           {ads.Targeting{Devices: []string{"mobile"}}, `{"device_platforms":["mobile"]}`},
	"expand":            {ads.Targeting{Expand: true}, `{"targeting_automation":{"advantage_audience":1}}`},
}

// TestTarget_SaysEachWord sends each word that Meta has by a create, and reads it again. A word without a place gets one.
func TestTarget_SaysEachWord(t *testing.T) {
	t.Parallel()
	positions := map[advert.Platform]string{
		advert.PlatformFacebook:  `{"publisher_platforms":["facebook"],"facebook_positions":["feed","story"]}`,
		advert.PlatformInstagram: `{"publisher_platforms":["instagram"],"instagram_positions":["stream","story"]}`,
	}
	for _, p := range platforms {
		for _, word := range ads.CapsOf(p).Targeting.Words {
			c, known := words[word]
			require.True(t, known, word)
			if word == "placements" {
				c.sent = positions[p]
			}
			wants := map[string]any{"targeting_automation": map[string]any{"advantage_audience": 0.0}, "publisher_platforms": []any{string(p)}}
			place := ""
			if _, isPlace := wantsOf(t, c.sent)["geo_locations"]; !isPlace {
				c.targeting.Countries, place = []string{"US"}, `{"geo_locations":{"countries":["US"]}}`
			}
			for _, part := range []string{c.sent, place} {
				for key, value := range wantsOf(t, part) {
					wants[key] = value
				}
			}
			w := newWorld(t, p)
			said, err := w.net.Target(c.targeting, "")
			require.NoError(t, err, word)
			w.create(t, plan(func(a *ads.Plan) { a.Targeting, a.PlatformTargeting = c.targeting, said }))
			assert.Equal(t, wants, wantsOf(t, w.sent(t, "POST", "adsets").Get("targeting")), word)
			assert.JSONEq(t, advert.NewObject(c.targeting).Text(), w.group(t).Targeting.Text(), word)
		}
	}
}

func wantsOf(t *testing.T, text string) map[string]any {
	t.Helper()
	wants := map[string]any{}
	if text != "" {
		require.NoError(t, json.Unmarshal([]byte(text), &wants), text)
	}
	return wants
}

// group returns the only ad group, as a sync reads it.
func (w *world) group(t *testing.T) advert.Group {
	t.Helper()
	var groups []advert.Group
	for cursor := ""; ; {
		batch, next, err := w.net.Sync(t.Context(), w.conn, dollars, cursor)
		require.NoError(t, err)
		if groups, cursor = append(groups, batch.Groups...), next; cursor == "" {
			require.Len(t, groups, 1)
			return groups[0]
		}
	}
}

// What the caller says in Meta's words is sent as it is, and wins over what nobody said.
func TestTarget_AddsTheCallersOwnWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	said, err := w.net.Target(ads.Targeting{AgeMin: 21}, `{"geo_locations":{"country_groups":["asia"]},"user_os":["iOS"],"targeting_automation":{"advantage_audience":1}}`)
	require.NoError(t, err)
	assert.JSONEq(t, `{"geo_locations":{"country_groups":["asia"]},"user_os":["iOS"],"targeting_automation":{"advantage_audience":1},"age_min":21,
		"publisher_platforms":["facebook"]}`, said.Text())

	_, err = w.net.Target(ads.Targeting{AgeMin: 21}, `{"age_min":25}`)
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "platform_targeting.age_min", refused.Field)
}

// A targeting that others made in the ads manager has more forms than the unified one: what it cannot say is left out.
func TestSync_ReadsATargetingOfOthers(t *testing.T) {
	t.Parallel()
	for theirs, unified := range map[string]string{
		`{"geo_locations":{"cities":[{"key":"1","name":"Berlin","radius":10,"distance_unit":"mile"}]},"age_min":18,"age_max":65}`:     `{"cities":[{"id":"1","name":"Berlin","radius_km":16}],"age_min":18,"age_max":65}`,
		`{"flexible_spec":[{"interests":[{"id":"1","name":"A"}]},{"behaviors":[{"id":"2"}]}],"geo_locations":{"countries":["FR"]}}`:   `{"countries":["FR"]}`,
		`{"interests":[{"id":"1","name":"A"}],"geo_locations":{"countries":["FR"],"location_types":["home"]},"genders":[1,2]}`:        `{"countries":["FR"],"genders":["female","male"],"interests":[{"id":"1","name":"A"}]}`,
		`{"geo_locations":{"countries":["US"]},"publisher_platforms":["facebook","audience_network"],"facebook_positions":["story"]}`: `{"countries":["US"],"placements":["network","stories"]}`,
	} {
		w := newWorld(t, advert.PlatformFacebook)
		made := w.create(t, plan(nil))
		w.fake.Set(made.Group.PlatformID, "targeting", json.RawMessage(theirs))
		g := w.group(t)
		assert.JSONEq(t, unified, g.Targeting.Text(), theirs)
		assert.JSONEq(t, theirs, g.PlatformTargeting.Text())
	}
}

// Rules C2, G3, G4 and G5: what the plan says of categories and of who profits is sent, and Meta's refusals come back by field.
func TestCreate_SaysWhatTheLawWants(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	eu := ads.Targeting{Places: ads.Places{Countries: []string{"DE"}}, Interests: []ads.Option{{ID: metafake.RetiredInterest}}}
	said, err := w.net.Target(eu, "")
	require.NoError(t, err)
	lawful := plan(func(a *ads.Plan) {
		a.PlatformTargeting, a.Categories, a.CategoryCountries = said, []string{"ISSUES_ELECTIONS_POLITICS"}, []string{"DE"}
		a.DSABeneficiary, a.DSAPayor = "Ada", "Grace"
	})
	_, err = w.net.Create(t.Context(), w.conn, lawful)
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused, "the interest is no more")

	eu.Interests = nil
	lawful.PlatformTargeting, err = w.net.Target(eu, "")
	require.NoError(t, err)
	w.create(t, lawful)
	campaigns, groups := w.calls("POST", "campaigns"), w.calls("POST", "adsets")
	campaign, group := campaigns[len(campaigns)-1].Params, groups[len(groups)-1].Params
	assert.Equal(t, []string{`["ISSUES_ELECTIONS_POLITICS"]`, `["DE"]`, "Ada", "Grace"},
		[]string{campaign.Get("special_ad_categories"), campaign.Get("special_ad_category_country"), group.Get("dsa_beneficiary"), group.Get("dsa_payor")})
}

// A targeting is replaced whole, with who profits and who pays.
func TestUpdate_ReplacesTheTargeting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	next := ads.Targeting{Places: ads.Places{Countries: []string{"FR"}}, AgeMin: 30}
	said, err := w.net.Target(next, "")
	require.NoError(t, err)
	e, err := w.net.Update(t.Context(), w.conn, ads.Ref{AdAccount: dollars, Level: advert.LevelGroup, ID: made.Group.PlatformID},
		ads.Patch{Currency: "usd", Targeting: &next, PlatformTargeting: said, DSABeneficiary: "Ada", DSAPayor: "Grace"})
	require.NoError(t, err)
	assert.JSONEq(t, `{"countries":["FR"],"age_min":30}`, e.Group.Targeting.Text())
}

func TestBeneficiaries_AreThoseThatMetaRecommends(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	names, err := w.net.Beneficiaries(t.Context(), w.conn, dollars)
	require.NoError(t, err)
	assert.Equal(t, []string{metafake.Beneficiary}, names)
}
