package tiktok_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func TestReport_AsksForAYearAtATimeAndSumsExactly(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	busy, idle := w.create(t, w.plan(t, "busy")), w.create(t, w.plan(t, "idle"))
	to := ads.DateOf(noon)
	for back, spend := range map[int]string{0: "33.51", 1: "0.004137", 500: "10"} {
		w.net.Deliver(w.account, busy.Ad.PlatformID, to.AddDays(-back).String(), map[string]string{"spend": spend, "impressions": "7", "reach": "5", "video_play_actions": "-"}, nil)
	}
	ids := []string{busy.Ad.PlatformID, idle.Ad.PlatformID, "404"}
	reports, err := w.driver.Report(t.Context(), w.conn, w.account.ID, advert.LevelAd, ids, to.AddDays(-600), to)
	require.NoError(t, err)
	require.Len(t, reports, 2, "what the network does not know is not there")
	m := reports[ids[0]].Metrics
	assert.Equal(t, []any{advert.Amount(43_514_137), int64(21)}, []any{*m.Spend, *m.Impressions})
	assert.Nil(t, m.Reach, "the same people may be in two spans")
	assert.Nil(t, m.VideoViews, "it is not known")
	assert.Zero(t, *m.Clicks)
	assert.Equal(t, int64(0), *reports[ids[1]].Metrics.Impressions, "nobody saw it")
	assert.Nil(t, reports[ids[1]].Metrics.Actions, "TikTok has none")
	assert.Equal(t, advert.StatusActive, reports[ids[1]].Status)
	assert.Equal(t, 2, count(w.net.Calls(), "GET report/integrated/get"))

	_, err = w.driver.Delete(t.Context(), w.conn, w.campaignRef(busy))
	require.NoError(t, err)
	reports, err = w.driver.Report(t.Context(), w.conn, w.account.ID, advert.LevelAd, ids[:1], to, to)
	require.NoError(t, err)
	assert.Equal(t, int64(7), *reports[ids[0]].Metrics.Impressions, "what is deleted has spent all the same")
	assert.Empty(t, w.net.Refused())
}

func TestSeries_MakesPeriodsOfDays(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	ad := w.create(t, w.plan(t, "busy")).Ad.PlatformID
	today := ads.DateOf(noon)
	for i, n := range []string{"100", "200", "300"} {
		figures := map[string]string{"impressions": n, "reach": "50", "spend": "1"}
		w.net.Deliver(w.account, ad, today.AddDays(-i).String(), figures, nil)
	}
	ask := func(interval ads.Interval, by ads.Breakdown, periods ...ads.Period) []ads.PeriodFigures {
		t.Helper()
		all, err := w.driver.Series(t.Context(), w.conn, w.account.ID, ads.SeriesQuery{Level: advert.LevelAd, ID: ad, Interval: interval, Breakdown: by, Periods: periods})
		require.NoError(t, err)
		return all
	}
	day := func(back int) ads.Period { return ads.Period{From: today.AddDays(-back), To: today.AddDays(-back)} }
	days := ask(ads.IntervalDay, "", day(50), day(2), day(1), day(0))
	assert.Equal(t, []int64{0, 300, 200, 100}, []int64{
		*days[0].Metrics.Impressions, *days[1].Metrics.Impressions, *days[2].Metrics.Impressions, *days[3].Metrics.Impressions,
	})
	assert.Equal(t, int64(50), *days[1].Metrics.Reach)
	assert.Equal(t, 2, count(w.net.Calls(), "GET report/integrated/get"), "thirty days at a time")
	weeks := ask(ads.IntervalWeek, "", ads.Period{From: today.AddDays(-3), To: today.AddDays(-1)}, day(0))
	assert.Equal(t, []int64{500, 100}, []int64{*weeks[0].Metrics.Impressions, *weeks[1].Metrics.Impressions})
	assert.Nil(t, weeks[0].Metrics.Reach, "the same people may be in two days")

	for gender, n := range map[string]string{"FEMALE": "60", "MALE": "40"} {
		w.net.Deliver(w.account, ad, today.String(), map[string]string{"impressions": n}, map[string]string{"gender": gender})
	}
	both := ask(ads.IntervalDay, ads.BreakdownGender, day(1), day(0))
	require.Len(t, both, 2)
	assert.Equal(t, []any{"FEMALE", int64(60), "MALE", int64(40)}, []any{both[0].Value, *both[0].Metrics.Impressions, both[1].Value, *both[1].Metrics.Impressions})
	assert.Nil(t, both[0].Metrics.Reach, "TikTok counts it not by audience")
	assert.Nil(t, both[0].Metrics.PurchaseValue)
	assert.Empty(t, w.net.Refused())
}
