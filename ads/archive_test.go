package ads_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func (n watched) OrderReport(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, days ads.Period) (string, error) {
	if err := n.count("OrderReport"); err != nil {
		return "", err
	}
	return n.Network.(ads.Archive).OrderReport(ctx, c, adAccount, level, days)
}

func (n watched) ReadReport(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, id string) ([]advert.DayFigures, bool, error) {
	if err := n.count("ReadReport"); err != nil {
		return nil, false, err
	}
	return n.Network.(ads.Archive).ReadReport(ctx, c, adAccount, level, id)
}

// aged is an ad on Pinterest that has been delivered for so many days.
func (w *world) aged(days int) (ad *ads.ShownAd, begin ads.Date) {
	w.t.Helper()
	begin = ads.DateOf(w.Advert.Now().Time())
	ad = w.create(w.ad())
	w.advance.Add(int64(days) * int64(24*time.Hour))
	return ad, begin
}

// months returns the metrics of an ad in an interval.
func (w *world) metrics(level advert.Level, id string, in ads.ListMetrics) []ads.ShownPeriod {
	w.t.Helper()
	page, err := w.ListMetrics(w.t.Context(), w.by.Account, level, id, in)
	require.NoError(w.t, err)
	return page.Items
}

// fetch lets the worker go on as often as a report needs that nothing is wrong with.
func (w *world) fetch() {
	w.t.Helper()
	for range 2 {
		require.NoError(w.t, w.FetchFigures(w.t.Context()))
		w.advance.Add(int64(10 * time.Second))
	}
}

func TestFetchFigures_HasOldDaysByReport(t *testing.T) {
	onPinterest(t, func(t *testing.T, w *world) {
		ad, begin := w.aged(20)
		from, to := begin.AddDays(1), begin.AddDays(9)
		in := ads.ListMetrics{From: from.String(), To: to.String()}
		young := w.metrics(advert.LevelAd, ad.Row.PlatformID, in)
		require.Len(t, young, 9)
		in.Interval = "total"
		whole := w.metrics(advert.LevelCampaign, ad.Row.CampaignID, in)[0].Metrics
		require.NotZero(t, *whole.Spend)

		w.advance.Add(int64(110 * 24 * time.Hour))
		in.Interval = ""
		for _, day := range w.metrics(advert.LevelAd, ad.Row.PlatformID, in) {
			assert.Equal(t, advert.Metrics{}, *day.Metrics, "never 0")
			assert.True(t, day.Days.From.IsZero())
			require.Len(t, day.Days.Warnings, 1)
			assert.Contains(t, day.Days.Warnings[0], "which is being fetched")
		}
		w.fetch()
		old := w.metrics(advert.LevelAd, ad.Row.PlatformID, in)
		for i, day := range old {
			young[i].Metrics.Actions = nil // reports have none
			assert.Equal(t, young[i].Metrics, day.Metrics, day.Row.From)
			assert.Equal(t, young[i].Days, day.Days)
		}

		in.Interval = "total"
		w.metrics(advert.LevelCampaign, ad.Row.CampaignID, in)
		w.fetch()
		total := w.metrics(advert.LevelCampaign, ad.Row.CampaignID, in)[0]
		assert.Equal(t, *whole.Spend, *total.Metrics.Spend)
		assert.Equal(t, *whole.Impressions, *total.Metrics.Impressions)
		assert.Nil(t, total.Metrics.Reach, "the same people may be in two days")
		assert.Equal(t, ads.Days{From: from, To: to}, total.Days)
	})
}

// A window that begins before the days that are counted and ends today is one sum of both, in lists as well.
func TestFetchFigures_JoinsOldDaysWithThoseThatAreCounted(t *testing.T) {
	onPinterest(t, func(t *testing.T, w *world) {
		ad, begin := w.aged(150)
		today := begin.AddDays(150)
		in := ads.ListMetrics{From: begin.String(), To: today.AddDays(-1).String(), Interval: "total"}
		list := func() ads.ShownAd {
			page, err := w.Service.ListAds(t.Context(), w.by.Account, ads.ListAds{AccountID: w.channel.ID, Source: "native", From: in.From, To: in.To})
			require.NoError(t, err)
			require.Len(t, page.Items, 1)
			return page.Items[0]
		}
		before := list()
		assert.Equal(t, today.AddDays(-90), before.Days.From, "only what the network counts")
		require.Len(t, before.Days.Warnings, 1)
		assert.Contains(t, before.Days.Warnings[0], "from "+begin.String()+" to "+today.AddDays(-91).String())
		w.fetch()
		after := list()
		assert.Empty(t, after.Days.Warnings)
		assert.Equal(t, begin, after.Days.From)
		total := w.metrics(advert.LevelAd, ad.Row.PlatformID, in)[0]
		assert.Equal(t, after.Days, total.Days)
		assert.Equal(t, *total.Metrics.Spend, *after.Metrics.Spend)

		in.Interval = "day"
		var sum advert.Amount
		for in.Limit = 100; ; {
			page, err := w.ListMetrics(t.Context(), w.by.Account, advert.LevelAd, ad.Row.PlatformID, in)
			require.NoError(t, err)
			for _, day := range page.Items {
				sum += *day.Metrics.Spend
			}
			if in.Cursor = page.NextCursor; !page.HasMore {
				break
			}
		}
		assert.Equal(t, *total.Metrics.Spend, sum, "the parts are the whole")
		assert.Greater(t, *after.Metrics.Spend, *before.Metrics.Spend)
	})
}

// However many ask for whatever of a month, and however many replicas fetch it, it is one report, once.
func TestFetchFigures_IsOneReportForAMonth(t *testing.T) {
	onPinterest(t, func(t *testing.T, w *world) {
		ad, begin := w.aged(200)
		day := ads.Date{Year: begin.Year, Month: begin.Month + 2, Day: 3}.AddDays(0)
		for i := range 3 {
			for range 2 {
				w.metrics(advert.LevelAd, ad.Row.PlatformID, ads.ListMetrics{From: day.AddDays(i).String(), To: day.AddDays(9 * i).AddDays(1).String()})
			}
		}
		replicas := func() {
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() { assert.NoError(t, w.FetchFigures(context.WithoutCancel(t.Context()))) })
			}
			all.Wait()
			w.advance.Add(int64(10 * time.Second))
		}
		for range 4 {
			replicas()
		}
		assert.Equal(t, 1, w.line.of("OrderReport"))
		assert.Equal(t, 1, w.line.of("ReadReport"))
		w.metrics(advert.LevelAd, ad.Row.PlatformID, ads.ListMetrics{From: day.String(), To: day.String()})
		replicas()
		assert.Equal(t, 1, w.line.of("OrderReport"), "it is kept")

		w.advance.Add(int64(800 * 24 * time.Hour))
		kept := w.metrics(advert.LevelAd, ad.Row.PlatformID, ads.ListMetrics{From: day.String(), To: day.String()})[0]
		assert.NotZero(t, *kept.Metrics.Spend, "also when the network tells it no more")
		assert.Empty(t, kept.Days.Warnings)
		lost := w.metrics(advert.LevelAd, ad.Row.PlatformID, ads.ListMetrics{From: begin.String(), To: begin.String()})[0]
		assert.Nil(t, lost.Metrics.Spend)
		assert.Contains(t, lost.Days.Warnings[0], "older than 914 days")
		replicas()
		assert.Equal(t, 1, w.line.of("OrderReport"), "what is too old is not asked for")
	})
}

func TestFetchFigures_DividesNothingOld(t *testing.T) {
	onPinterest(t, func(t *testing.T, w *world) {
		ad, begin := w.aged(150)
		rows := w.metrics(advert.LevelAd, ad.Row.PlatformID, ads.ListMetrics{From: begin.String(), To: begin.String(), Breakdown: "age"})
		require.Len(t, rows, 1)
		assert.Nil(t, rows[0].Metrics.Spend)
		assert.Contains(t, rows[0].Days.Warnings[0], "divides no figures that are older than 90 days")
		w.fetch()
		assert.Zero(t, w.line.of("OrderReport"))
	})
}

func TestFetchFigures_TriesAgainAndGivesUp(t *testing.T) {
	onPinterest(t, func(t *testing.T, w *world) {
		ad, begin := w.aged(150)
		warning := func() string {
			day := w.metrics(advert.LevelAd, ad.Row.PlatformID, ads.ListMetrics{From: begin.String(), To: begin.String()})[0]
			if day.Metrics.Spend != nil {
				return ""
			}
			return day.Days.Warnings[0]
		}
		later := func(d time.Duration) {
			_ = w.FetchFigures(t.Context()) // logged
			w.advance.Add(int64(d))
		}
		warning()
		w.line.say("OrderReport", &ads.RateLimited{After: time.Minute})
		for range 7 {
			later(2 * time.Minute)
		}
		assert.Equal(t, 7, w.line.of("OrderReport"))
		assert.Contains(t, warning(), "Ask again in some minutes.", "a limit is no failure")

		w.line.say("ReadReport", fmt.Errorf("gone: %w", ads.ErrNotFound))
		for range 5 {
			w.advance.Add(int64(65 * time.Minute)) // the longest pause
			later(10 * time.Second)                // ordered
			later(10 * time.Second)                // and lost
			assert.Contains(t, warning(), "pinterest did not make its report.")
		}
		orders := w.line.of("OrderReport")
		assert.Equal(t, 5, w.line.of("ReadReport"))
		assert.Contains(t, warning(), "could not be fetched: pinterest did not make its report.")
		w.line.say("", nil)
		later(10 * time.Second)
		assert.Equal(t, orders, w.line.of("OrderReport"), "it is given up")
		w.advance.Add(int64(2 * time.Hour))
		warning()
		w.fetch()
		assert.Empty(t, warning(), "who asks again later has it")
	})
}

func TestFetchFigures_GivesUpAtOnceWhatIsRefused(t *testing.T) {
	onPinterest(t, func(t *testing.T, w *world) {
		ad, begin := w.aged(150)
		in := ads.ListMetrics{From: begin.String(), To: begin.String()}
		w.metrics(advert.LevelAd, ad.Row.PlatformID, in)
		w.line.say("OrderReport", &ads.Rejected{Message: "No such column."})
		w.fetch()
		assert.Equal(t, 1, w.line.of("OrderReport"))
		assert.Contains(t, w.metrics(advert.LevelAd, ad.Row.PlatformID, in)[0].Days.Warnings[0], "No such column.")
	})
}

// A month of which only the end can still be had is fetched as far as it can.
func TestFetchFigures_CutsTheOldestMonth(t *testing.T) {
	onPinterest(t, func(t *testing.T, w *world) {
		ad, _ := w.aged(915)
		today := ads.DateOf(w.Advert.Now().Time())
		oldest := today.AddDays(-914)
		for oldest.Day < 2 || oldest.Day > 26 {
			w.advance.Add(int64(24 * time.Hour))
			today, oldest = today.AddDays(1), oldest.AddDays(1)
		}
		in := ads.ListMetrics{From: oldest.AddDays(-1).String(), To: oldest.AddDays(1).String()}
		w.metrics(advert.LevelAd, ad.Row.PlatformID, in)
		w.fetch()
		days := w.metrics(advert.LevelAd, ad.Row.PlatformID, in)
		assert.Nil(t, days[0].Metrics.Spend)
		assert.Contains(t, days[0].Days.Warnings[0], "older than 914 days")
		assert.NotNil(t, days[1].Metrics.Spend)
		in.Interval = "total"
		total := w.metrics(advert.LevelAd, ad.Row.PlatformID, in)[0]
		assert.Equal(t, oldest, total.Days.From)
		assert.Equal(t, *days[1].Metrics.Spend+*days[2].Metrics.Spend, *total.Metrics.Spend)
	})
}
