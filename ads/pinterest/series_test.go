package pinterest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func TestSeries_MakesPeriodsOfDays(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	ad := w.create(t, w.boost("busy")).Ad.PlatformID
	today := ads.DateOf(noon)
	for i := range 3 {
		w.net.Deliver(w.account, ad, today.AddDays(-i).String(), map[string]float64{"TOTAL_IMPRESSION": float64(100 * (i + 1)), "TOTAL_IMPRESSION_USER": 50})
	}
	ask := func(interval ads.Interval, by ads.Breakdown, periods ...ads.Period) []ads.PeriodFigures {
		t.Helper()
		all, err := w.driver.Series(t.Context(), w.conn, w.account.ID, ads.SeriesQuery{Level: advert.LevelAd, ID: ad, Interval: interval, Breakdown: by, Periods: periods})
		require.NoError(t, err)
		return all
	}
	day := func(back int) ads.Period { return ads.Period{From: today.AddDays(-back), To: today.AddDays(-back)} }
	days := ask(ads.IntervalDay, "", day(3), day(2), day(1), day(0))
	require.Len(t, days, 4)
	nothing := advert.NoMetrics()
	nothing.Actions = nil
	assert.Equal(t, nothing, days[0].Metrics, "what did not happen is 0")
	assert.Equal(t, []int64{300, 200, 100}, []int64{*days[1].Metrics.Impressions, *days[2].Metrics.Impressions, *days[3].Metrics.Impressions})
	assert.Equal(t, int64(50), *days[1].Metrics.Reach)

	weeks := ask(ads.IntervalWeek, "", ads.Period{From: today.AddDays(-3), To: today.AddDays(-1)}, day(0))
	assert.Equal(t, []int64{500, 100}, []int64{*weeks[0].Metrics.Impressions, *weeks[1].Metrics.Impressions})
	assert.Nil(t, weeks[0].Metrics.Reach, "the same people may be in two days")
	total := ask(ads.IntervalTotal, "", ads.Period{From: today.AddDays(-3), To: today})
	assert.Equal(t, int64(600), *total[0].Metrics.Impressions, "the sum of the days")

	w.net.DeliverTo(w.account, ad, today.String(), "GENDER", "female", map[string]float64{"TOTAL_IMPRESSION": 60})
	w.net.DeliverTo(w.account, ad, today.String(), "GENDER", "male", map[string]float64{"TOTAL_IMPRESSION": 40})
	women := ask(ads.IntervalDay, ads.BreakdownGender, day(1), day(0))
	require.Len(t, women, 2)
	assert.Equal(t, []any{"female", int64(60), "male", int64(40)}, []any{women[0].Value, *women[0].Metrics.Impressions, women[1].Value, *women[1].Metrics.Impressions})
	assert.Empty(t, w.net.Refused())
}
