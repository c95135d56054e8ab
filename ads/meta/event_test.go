package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// What an ad set does not promote is not its conversion: rule I5.
func TestReport_CountsWhatTheAdSetIsFor(t *testing.T) {
	t.Parallel()
	done := map[string]int64{"omni_purchase": 2, "purchase": 2, "lead": 1, "onsite_conversion.lead_grouped": 5, "omni_add_to_cart": 7,
		"offsite_conversion.custom.77": 4, "offsite_conversion.fb_pixel_custom.Nap": 3}
	for _, c := range []struct {
		goal     advert.Goal
		promoted advert.Object
		want     *int64
	}{
		{advert.GoalTraffic, "", nil},
		{advert.GoalConversions, `{"pixel_id":"6060"}`, new(int64(2000))},
		{advert.GoalConversions, `{"pixel_id":"6060","custom_event_type":"ADD_TO_CART"}`, new(int64(7000))},
		{advert.GoalConversions, `{"pixel_id":"6060","custom_event_type":"SUBSCRIBE"}`, new(int64(0))},
		{advert.GoalConversions, `{"pixel_id":"6060","custom_event_type":"OTHER","custom_event_str":"Nap"}`, new(int64(3000))},
		{advert.GoalConversions, `{"custom_conversion_id":"77"}`, new(int64(4000))},
		{advert.GoalLeadConversion, `{"pixel_id":"6060"}`, new(int64(1000))},
	} {
		w := newWorld(t, advert.PlatformFacebook)
		made := w.create(t, plan(func(p *ads.Plan) { p.Goal, p.PromotedObject = c.goal, c.promoted }))
		w.fake.Deliver(made.Ad.PlatformID, "2026-11-01", metafake.Delivery{Impressions: 10, Spend: "1.00", Actions: done})
		for level, id := range idsOf(made) {
			reports, err := w.net.Report(t.Context(), w.conn, dollars, level, []string{id}, date(11, 1), date(11, 2))
			require.NoError(t, err)
			assert.Equal(t, c.want, reports[id].Metrics.Conversions, "%s of %s %s", level, c.goal, c.promoted)
			assert.Equal(t, int64(1000), reports[id].Metrics.Actions["lead"], "it is an action all the same")
		}
	}
}

func idsOf(made ads.Created) map[advert.Level]string {
	return map[advert.Level]string{advert.LevelCampaign: made.Campaign.PlatformID, advert.LevelGroup: made.Group.PlatformID, advert.LevelAd: made.Ad.PlatformID}
}

func TestReport_AddsNoDifferentConversions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	campaign, group, ad := w.external(dollars, "Mixed")
	other := w.fake.AddExternal("AdSet", map[string]any{"account_id": dollars[len("act_"):], "campaign_id": campaign, "name": "Other", "status": "ACTIVE",
		"optimization_goal": "APP_INSTALLS"})
	w.fake.Deliver(ad, "2026-11-01", metafake.Delivery{Impressions: 10, Spend: "1.00", Actions: map[string]int64{"omni_app_install": 3}})
	conversions := func() *int64 {
		reports, err := w.net.Report(t.Context(), w.conn, dollars, advert.LevelCampaign, []string{campaign}, date(11, 1), date(11, 2))
		require.NoError(t, err)
		return reports[campaign].Metrics.Conversions
	}
	assert.Nil(t, conversions(), "one is for clicks, one for installs")
	w.fake.Set(group, "optimization_goal", "APP_INSTALLS")
	w.fake.Set(other, "status", "ARCHIVED")
	assert.Equal(t, new(int64(3000)), conversions())
}

// Figures are there for 37 months: rule I1.
func TestReport_AsksForTheMonthsThatMetaKeeps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	id := made.Ad.PlatformID
	w.fake.Deliver(id, "2023-11-20", metafake.Delivery{Impressions: 7, Spend: "1.00"})
	long := ads.Date{Year: 2020, Month: 1, Day: 1}
	reports, err := w.net.Report(t.Context(), w.conn, dollars, advert.LevelAd, []string{id}, long, date(11, 2))
	require.NoError(t, err)
	assert.Equal(t, new(int64(7)), reports[id].Metrics.Impressions)
	reports, err = w.net.Report(t.Context(), w.conn, dollars, advert.LevelAd, []string{id}, long, long.AddDays(30))
	require.NoError(t, err)
	assert.Equal(t, advert.Metrics{}, reports[id].Metrics, "nobody knows")
	assert.Equal(t, advert.StatusActive, reports[id].Status)
}
