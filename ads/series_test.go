package ads_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func (n watched) Series(ctx context.Context, c ads.Conn, adAccount string, q ads.SeriesQuery) ([]ads.PeriodFigures, error) {
	if err := n.count("Series"); err != nil {
		return nil, err
	}
	if n.empty.Load() {
		return nil, nil
	}
	return n.Network.Series(ctx, c, adAccount, q)
}

func TestListMetrics_AWalkEndsThoughThereIsNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad())
		w.line.empty.Store(true)
		for _, by := range []string{"", "age"} {
			in := ads.ListMetrics{From: "2026-01-01", To: "2026-01-31", Breakdown: by, Limit: 7}
			seen := 0
			for range 10 {
				page, err := w.ListMetrics(t.Context(), w.by.Account, advert.LevelAd, ad.Row.PlatformID, in)
				require.NoError(t, err)
				for _, p := range page.Items {
					assert.Equal(t, int64(0), *p.Metrics.Impressions)
					assert.Empty(t, p.Value)
				}
				seen += len(page.Items)
				if in.Cursor = page.NextCursor; !page.HasMore {
					break
				}
			}
			assert.Equal(t, 31, seen)
		}
	})
}

func TestListMetrics_CutsPeriodsAtTheCalendar(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad())
		for interval, want := range map[string][]string{
			"week": {"2026-01-29 2026-02-01", "2026-02-02 2026-02-08", "2026-02-09 2026-02-10"}, "month": {"2026-01-29 2026-01-31", "2026-02-01 2026-02-10"},
			"total": {"2026-01-29 2026-02-10"},
		} {
			page, err := w.ListMetrics(t.Context(), w.by.Account, advert.LevelCampaign, ad.Row.CampaignID, ads.ListMetrics{From: "2026-01-29", To: "2026-02-10", Interval: interval})
			require.NoError(t, err)
			var got []string
			for _, p := range page.Items {
				got = append(got, p.Row.From.String()+" "+p.Row.To.String())
			}
			assert.Equal(t, want, got, interval)
		}
	})
}

func TestListMetrics_SaysThatTheNetworkDoesNotAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad())
		w.line.say("Series", ads.ErrUnauthorized)
		_, err := w.ListMetrics(t.Context(), w.by.Account, advert.LevelAd, ad.Row.PlatformID, ads.ListMetrics{})
		require.Error(t, err)
		channel, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.AdsStatusError, channel.AdsStatus)
	})
}
