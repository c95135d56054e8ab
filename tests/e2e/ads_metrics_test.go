package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func (a *advertiser) readsFigures(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	a.deliver(ad.ID, time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))
	check := func(m *sdk.AdMetrics) {
		t.Helper()
		require.NotNil(t, m)
		assert.Equal(t, []any{"12.34", int64(1000), int64(30)}, []any{string(*m.Spend), *m.Impressions, *m.Clicks})
	}
	listed, err := a.Ads.List(background, &sdk.ListAdsParams{CampaignID: &ad.CampaignID})
	require.NoError(t, err)
	require.Len(t, listed.Data, 1)
	check(listed.Data[0].Metrics)
	group, err := a.AdGroups.Get(background, ad.AdGroupID, nil)
	require.NoError(t, err)
	check(group.Metrics)
	campaign, err := a.AdCampaigns.Get(background, ad.CampaignID, nil)
	require.NoError(t, err)
	check(campaign.Metrics)
	a.readsDays(t, ad)
}

// readsDays asks for the days of a week, of which one had figures, in every interval and by every breakdown.
func (a *advertiser) readsDays(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	now := time.Now().UTC()
	from, to := now.AddDate(0, 0, -6).Format(time.DateOnly), now.Format(time.DateOnly)
	for _, interval := range []sdk.AdMetricsInterval{"total", "day", "week", "month"} {
		for _, by := range []sdk.AdMetricsBreakdown{"", "age", "gender", "country", "placement", "device"} {
			params := &sdk.ListAdMetricsParams{From: &from, To: &to, Interval: &interval}
			if by != "" {
				params.Breakdown = &by
			}
			series, err := a.Ads.ListMetrics(background, ad.ID, params)
			require.NoError(t, err, "%s by %s", interval, by)
			var impressions int64
			for _, period := range series.Data {
				impressions += *period.Metrics.Impressions
			}
			if by == "" {
				assert.EqualValues(t, 1000, impressions, interval)
			}
		}
	}
	days, err := a.AdCampaigns.ListMetrics(background, ad.CampaignID, &sdk.ListAdCampaignMetricsParams{From: &from, To: &to})
	require.NoError(t, err)
	assert.Len(t, days.Data, 7)
	a.readsAnOldDay(t, ad)
}

// readsAnOldDay asks for a day that not every network counts any more, until its figures are there.
func (a *advertiser) readsAnOldDay(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	day := time.Now().UTC().AddDate(0, 0, -400).Format(time.DateOnly)
	a.deliver(ad.ID, day)
	series := func() []*sdk.AdMetricsPeriodList {
		of, err := a.Ads.ListMetrics(background, ad.ID, &sdk.ListAdMetricsParams{From: &day, To: &day})
		require.NoError(t, err)
		group, err := a.AdGroups.ListMetrics(background, ad.AdGroupID, &sdk.ListAdGroupMetricsParams{From: &day, To: &day})
		require.NoError(t, err)
		campaign, err := a.AdCampaigns.ListMetrics(background, ad.CampaignID, &sdk.ListAdCampaignMetricsParams{From: &day, To: &day})
		require.NoError(t, err)
		return []*sdk.AdMetricsPeriodList{of, group, campaign}
	}
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(series(), func(l *sdk.AdMetricsPeriodList) bool { return l.Data[0].Metrics.Impressions == nil })
	}, harness.Patience, 500*time.Millisecond)
	for _, l := range series() {
		m := l.Data[0].Metrics
		assert.Equal(t, []any{"12.34", int64(1000), int64(30)}, []any{string(*m.Spend), *m.Impressions, *m.Clicks})
	}
}
