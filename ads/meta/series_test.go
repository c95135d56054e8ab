package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

func TestSeries_HasAFigureForEveryPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.deliver(made.Ad.PlatformID)
	ask := func(level advert.Level, id string, interval ads.Interval, periods ...ads.Period) []ads.PeriodFigures {
		t.Helper()
		all, err := w.net.Series(t.Context(), w.conn, dollars, ads.SeriesQuery{Level: level, ID: id, Interval: interval, Periods: periods})
		require.NoError(t, err)
		return all
	}
	day := func(d int) ads.Period { return ads.Period{From: date(11, d), To: date(11, d)} }
	for level, id := range map[advert.Level]string{advert.LevelCampaign: made.Campaign.PlatformID, advert.LevelGroup: made.Group.PlatformID, advert.LevelAd: made.Ad.PlatformID} {
		days := ask(level, id, ads.IntervalDay, day(1), day(2), day(3))
		require.Len(t, days, 3)
		assert.Equal(t, []int64{1000, 500, 0}, []int64{*days[0].Metrics.Impressions, *days[1].Metrics.Impressions, *days[2].Metrics.Impressions})
		assert.Equal(t, advert.Amount(10_050_000), *days[0].Metrics.Spend)
		weeks := ask(level, id, ads.IntervalWeek, day(1), ads.Period{From: date(11, 2), To: date(11, 8)})
		assert.Equal(t, []int64{1000, 500}, []int64{*weeks[0].Metrics.Impressions, *weeks[1].Metrics.Impressions})
		total := ask(level, id, ads.IntervalTotal, ads.Period{From: date(11, 1), To: date(11, 3)})
		assert.Equal(t, int64(1500), *total[0].Metrics.Impressions, "the sum of the days")
	}
	for _, call := range w.fake.Calls() {
		if call.Edge == "insights" {
			assert.Equal(t, "true", call.Params.Get("use_unified_attribution_setting"), "as the manager of ads counts: rule I5")
		}
	}
	assert.Empty(t, w.fake.Refused())
}

func TestSeries_IsDividedByWhatMetaKnows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	ad := w.create(t, plan(nil)).Ad.PlatformID
	for day, reach := range map[string]int64{"2026-11-01": 8, "2025-09-01": 9} {
		part := metafake.Delivery{Impressions: 10, Reach: reach, Clicks: 1, Spend: "1.00"}
		w.fake.Deliver(ad, day, metafake.Delivery{Impressions: 20, Reach: 2 * reach, Clicks: 2, Spend: "2.00", Split: map[string]metafake.Delivery{
			"age=25-34": part, "age=65+": part, "gender=female": part, "country=US": part, "device_platform=desktop": part,
			"publisher_platform=facebook,platform_position=feed": part, "publisher_platform=instagram,platform_position=story": part,
		}})
	}
	for by, want := range map[ads.Breakdown][]string{
		ads.BreakdownAge: {"25-34", "65+"}, ads.BreakdownGender: {"female"}, ads.BreakdownCountry: {"US"}, ads.BreakdownDevice: {"desktop"},
		ads.BreakdownPlacement: {"facebook feed", "instagram story"},
	} {
		q := ads.SeriesQuery{Level: advert.LevelAd, ID: ad, Interval: ads.IntervalDay, Breakdown: by, Periods: []ads.Period{{From: date(11, 1), To: date(11, 1)}}}
		rows, err := w.net.Series(t.Context(), w.conn, dollars, q)
		require.NoError(t, err, by)
		var values []string
		for _, row := range rows {
			values = append(values, row.Value)
			assert.Equal(t, int64(10), *row.Metrics.Impressions)
			assert.Equal(t, int64(8), *row.Metrics.Reach)
		}
		assert.Equal(t, want, values)
		old := ads.Date{Year: 2025, Month: 9, Day: 1}
		q.Periods = []ads.Period{{From: old, To: old}}
		rows, err = w.net.Series(t.Context(), w.conn, dollars, q)
		require.NoError(t, err, by)
		assert.Nil(t, rows[0].Metrics.Reach, "left out for more than 13 months ago, not 0: rule I2")
	}
	assert.Empty(t, w.fake.Refused())
}
