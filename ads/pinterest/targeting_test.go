package pinterest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// words are targetings of one word each, with what Pinterest is sent for it: fields of the ad group, and its targeting_spec.
var words = map[string]struct {
	targeting ads.Targeting
	group     pinterestfake.Object
	spec      map[string]any
}{
	"countries":         {ads.Targeting{Places: ads.Places{Countries: []string{"US", "CA"}}}, nil, map[string]any{"LOCATION": []any{"US", "CA"}}},
	"metros":            {ads.Targeting{Places: ads.Places{Metros: []ads.Option{{ID: "807"}}}}, nil, map[string]any{"LOCATION": []any{"807"}}},
	"regions":           {ads.Targeting{Places: ads.Places{Regions: []ads.Option{{ID: "BE-VOV"}}}}, nil, map[string]any{"GEO": []any{"BE-VOV"}}},
	"zips":              {ads.Targeting{Places: ads.Places{Zips: []ads.Option{{ID: "US-94107"}}}}, nil, map[string]any{"GEO": []any{"US-94107"}}},
	"age_min":           {ads.Targeting{AgeMin: 25, AgeMax: 65}, nil, map[string]any{"MINIMUM_AGE": "25", "MAXIMUM_AGE": "65+"}},
	"age_max":           {ads.Targeting{AgeMin: 18, AgeMax: 54}, nil, map[string]any{"MINIMUM_AGE": "18", "MAXIMUM_AGE": "54"}},
	"genders":           {ads.Targeting{Genders: []string{"female", "unknown"}}, nil, map[string]any{"GENDER": []any{"female", "unknown"}}},
	"languages":         {ads.Targeting{Languages: []string{"de"}}, nil, map[string]any{"LOCALE": []any{"de"}}},
	"interests":         {ads.Targeting{Interests: []ads.Option{{ID: "925056443165"}}}, nil, map[string]any{"INTEREST": []any{"925056443165"}}},
	"audiences.include": {ads.Targeting{Audiences: &ads.TargetAudiences{Include: []string{"77"}}}, nil, map[string]any{"AUDIENCE_INCLUDE": []any{"77"}}},
	"audiences.exclude": {ads.Targeting{Audiences: &ads.TargetAudiences{Exclude: []string{"78"}}}, nil, map[string]any{"AUDIENCE_EXCLUDE": []any{"78"}}},
	"placements":        {ads.Targeting{Placements: []string{"search"}}, pinterestfake.Object{"placement_group": "SEARCH"}, nil},
	"devices":           {ads.Targeting{Devices: []string{"desktop"}}, nil, map[string]any{"APPTYPE": []any{"web"}}},
	"expand":            {ads.Targeting{Expand: true}, pinterestfake.Object{"auto_targeting_enabled": true}, nil},
}

// TestTarget_SaysEachWord sends each word that Pinterest has by a create, and reads it again. A word without a place gets one: rule P1.
func TestTarget_SaysEachWord(t *testing.T) {
	t.Parallel()
	for _, word := range ads.CapsOf(advert.PlatformPinterest).Targeting.Words {
		c, known := words[word]
		require.True(t, known, word)
		spec := map[string]any{}
		for key, value := range c.spec {
			spec[key] = value
		}
		if spec["LOCATION"] == nil && spec["GEO"] == nil {
			c.targeting.Countries, spec["LOCATION"] = []string{"US"}, []any{"US"}
		}
		w := newWorld("USD", nil)
		if a := c.targeting.Audiences; a != nil {
			uploaded, err := w.driver.UploadUsers(t.Context(), w.conn, w.buyers(100))
			require.NoError(t, err)
			id := *uploaded.Audience.PlatformID
			for _, ids := range [][]string{a.Include, a.Exclude} {
				for i := range ids {
					ids[i] = id
				}
			}
			for key := range c.spec {
				spec[key] = []any{id}
			}
		}
		said, err := w.driver.Target(c.targeting, "")
		require.NoError(t, err, word)
		p := w.boost("word")
		p.Targeting, p.PlatformTargeting = c.targeting, said
		w.create(t, p)
		group := w.net.Groups(w.account)[0]
		assert.Equal(t, spec, group["targeting_spec"], word)
		assert.Equal(t, word == "expand", group["auto_targeting_enabled"], "unless the caller wants it, it is not shown to others")
		for field, value := range c.group {
			assert.Equal(t, value, group[field], word)
		}
		whole, err := w.walk(t.Context())
		require.NoError(t, err)
		assert.JSONEq(t, advert.NewObject(c.targeting).Text(), whole.Groups[0].Targeting.Text(), word)
	}
}

// An age without its other end gets it, because the two go together: rule P2.
func TestTarget_CompletesAges(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	for targeting, wants := range map[[2]int]string{
		{21, 0}: `{"MINIMUM_AGE":"21","MAXIMUM_AGE":"65+"}`, {0, 40}: `{"MINIMUM_AGE":"18","MAXIMUM_AGE":"40"}`, {65, 65}: `{"MINIMUM_AGE":"65","MAXIMUM_AGE":"65+"}`,
	} {
		said, err := w.driver.Target(ads.Targeting{AgeMin: targeting[0], AgeMax: targeting[1]}, "")
		require.NoError(t, err)
		assert.JSONEq(t, wants, said.Text())
	}
	_, err := w.driver.Target(ads.Targeting{AgeMin: 21}, `{"MAXIMUM_AGE":"50"}`)
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "platform_targeting.MAXIMUM_AGE", refused.Field)
}

// A targeting is replaced whole, also what stands in other fields of the ad group.
func TestUpdate_ReplacesTheTargeting(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	p := w.boost("old")
	p.Targeting = ads.Targeting{Expand: true, Placements: []string{"search"}}
	made := w.create(t, p)
	next := ads.Targeting{Places: ads.Places{Countries: []string{"CA"}}, Genders: []string{"male"}}
	said, err := w.driver.Target(next, "")
	require.NoError(t, err)
	e, err := w.driver.Update(t.Context(), w.conn, ads.Ref{AdAccount: w.ad.PlatformID, Level: advert.LevelGroup, ID: made.Group.PlatformID},
		ads.Patch{Currency: "usd", Targeting: &next, PlatformTargeting: said})
	require.NoError(t, err)
	assert.JSONEq(t, `{"countries":["CA"],"genders":["male"]}`, e.Group.Targeting.Text())
	group := w.net.Groups(w.account)[0]
	assert.Equal(t, []any{false, "ALL"}, []any{group["auto_targeting_enabled"], group["placement_group"]})
}
