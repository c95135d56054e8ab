package tiktok_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func TestTarget_SaysItInTikToksWords(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	words, err := w.driver.Target(everything, own)
	require.NoError(t, err)
	assert.JSONEq(t, `{"location_ids":["5332921","5128581","2921044"],"languages":["en"],"gender":"GENDER_FEMALE","age_groups":["AGE_18_24","AGE_25_34","AGE_35_44"],
		"interest_category_ids":["15"],"audience_ids":["12"],"excluded_audience_ids":["11"],"smart_audience_enabled":true,"smart_interest_behavior_enabled":true,
		"actions":[{"action_scene":"VIDEO_RELATED","action_period":15,"action_category_ids":["28","28101"],"video_user_actions":["WATCHED_TO_END","LIKED","COMMENTED","SHARED"]},
			{"action_scene":"CREATOR_RELATED","action_period":0,"action_category_ids":["35"],"video_user_actions":["FOLLOWING","VIEW_HOMEPAGE"]}],
		"spending_power":"HIGH","network_types":["WIFI"]}`, string(words))
}

func TestTarget_DropsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	for field, c := range map[string]struct {
		to  ads.Targeting
		own advert.Object
	}{
		"targeting.countries":            {to: ads.Targeting{Places: ads.Places{Countries: []string{"AQ"}}}},
		"targeting.placements":           {to: ads.Targeting{Placements: []string{"search"}}},
		"targeting.behaviors":            {to: ads.Targeting{Behaviors: []ads.Option{{ID: "28"}}}},
		"platform_targeting.budget":      {own: `{"budget":1}`},
		"platform_targeting.placements":  {own: `{"placements":["PLACEMENT_TIKTOK"]}`},
		"platform_targeting.campaign_id": {own: `{"campaign_id":"1"}`},
	} {
		_, err := w.driver.Target(c.to, c.own)
		rejection(t, err, field)
	}
}

func TestUpdate_ReplacesWhomAnAdGroupIsShownTo(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	p := w.plan(t, "wide")
	words, err := w.driver.Target(everything, "")
	require.NoError(t, err)
	p.Targeting, p.PlatformTargeting = everything, words
	made := w.create(t, p)
	var told ads.Targeting
	require.NoError(t, made.Group.Targeting.Decode(&told))
	assert.ElementsMatch(t, everything.Placements, told.Placements)
	assert.Equal(t, everything.Countries, told.Countries)
	assert.Equal(t, []any{18, 44, true, everything.Behaviors}, []any{told.AgeMin, told.AgeMax, told.Expand, told.Behaviors})

	ref := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelGroup, ID: made.Group.PlatformID, CampaignID: made.Campaign.PlatformID}
	narrow := ads.Targeting{Places: ads.Places{Countries: []string{"US"}}}
	words, err = w.driver.Target(narrow, "")
	require.NoError(t, err)
	entity, err := w.driver.Update(t.Context(), w.conn, ref, ads.Patch{Currency: "usd", Targeting: &narrow, PlatformTargeting: words})
	require.NoError(t, err)
	assert.JSONEq(t, `{"location_ids":["6252001"]}`, string(entity.Group.PlatformTargeting), "what is not said any more is gone")
	narrow.Placements = []string{"feed"}
	_, err = w.driver.Update(t.Context(), w.conn, ref, ads.Patch{Currency: "usd", Targeting: &narrow, PlatformTargeting: words})
	rejection(t, err, "targeting.placements")
	narrow = ads.Targeting{Places: ads.Places{Zips: []ads.Option{{ID: "10001"}}}}
	words, err = w.driver.Target(narrow, "")
	require.NoError(t, err)
	_, err = w.driver.Update(t.Context(), w.conn, ref, ads.Patch{Currency: "usd", Targeting: &narrow, PlatformTargeting: words})
	rejection(t, err, "targeting.zips")
	assert.Empty(t, w.net.Refused())
}
