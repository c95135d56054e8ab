package pinterest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestReport_SumsFiguresExactly(t *testing.T) {
	t.Parallel()
	w := newWorld("EUR", nil)
	busy, idle := w.create(t, w.boost("busy")), w.create(t, w.boost("idle"))
	for day, spend := range map[string]float64{"2026-11-20": 33_510_000, "2026-11-21": 4_137, "2026-11-19": 1e12} {
		w.net.Deliver(w.account, busy.Ad.PlatformID, day, map[string]float64{"SPEND_IN_MICRO_DOLLAR": spend, "TOTAL_CONVERSIONS": 0.125})
	}
	ids := []string{busy.Ad.PlatformID, idle.Ad.PlatformID, "404"}
	to := ads.DateOf(noon)
	reports, err := w.driver.Report(t.Context(), w.conn, w.account.ID, advert.LevelAd, ids, to.AddDays(-1), to)
	require.NoError(t, err)
	require.Len(t, reports, 2, "what the network does not know is not there")
	assert.Equal(t, advert.Amount(33_514_137), *reports[ids[0]].Metrics.Spend)
	assert.Equal(t, int64(250), *reports[ids[0]].Metrics.Conversions)
	assert.Nil(t, reports[ids[0]].Metrics.Reach, "it did not say")
	assert.Nil(t, reports[ids[0]].Metrics.VideoViews, "it did not say")
	nothing := advert.NoMetrics()
	nothing.Actions = nil
	assert.Equal(t, nothing, reports[ids[1]].Metrics)
	assert.Equal(t, advert.StatusActive, reports[ids[1]].Status)
	assert.Equal(t, core.TimeOf(noon), reports[ids[1]].SyncedAt)
}

// Figures are there for 90 days: rule P11.
func TestReport_AsksForTheDaysThatPinterestKeeps(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	made := w.create(t, w.boost("old"))
	ids := []string{made.Campaign.PlatformID}
	today := ads.DateOf(noon)
	w.net.Deliver(w.account, made.Ad.PlatformID, today.AddDays(-90).String(), map[string]float64{"TOTAL_IMPRESSION": 7})
	for _, days := range [][2]ads.Date{{today.AddDays(-700), today}, {today.AddDays(-90), today.AddDays(400)}} {
		reports, err := w.driver.Report(t.Context(), w.conn, w.account.ID, advert.LevelCampaign, ids, days[0], days[1])
		require.NoError(t, err)
		assert.Equal(t, int64(7), *reports[ids[0]].Metrics.Impressions)
	}
	for _, days := range [][2]ads.Date{{today.AddDays(-700), today.AddDays(-91)}, {today.AddDays(1), today.AddDays(9)}} {
		w.net.Forget()
		reports, err := w.driver.Report(t.Context(), w.conn, w.account.ID, advert.LevelCampaign, ids, days[0], days[1])
		require.NoError(t, err)
		assert.Equal(t, advert.Metrics{}, reports[ids[0]].Metrics, "nobody knows")
		assert.Equal(t, advert.StatusActive, reports[ids[0]].Status, "its state is told all the same")
		assert.Equal(t, []string{"campaigns/list"}, w.net.Calls())
	}
}

func TestReport_DoesNotAskPerAd(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	home := w.create(t, w.boost("home"))
	ids := []string{home.Ad.PlatformID}
	for i := range 99 {
		joins := w.boost(fmt.Sprint(i))
		joins.AdGroupID, joins.CampaignID = home.Group.PlatformID, home.Campaign.PlatformID
		ids = append(ids, w.create(t, joins).Ad.PlatformID)
	}
	w.net.Forget()
	reports, err := w.driver.Report(t.Context(), w.conn, w.account.ID, advert.LevelAd, ids, ads.DateOf(noon), ads.DateOf(noon))
	require.NoError(t, err)
	assert.Len(t, reports, 100)
	assert.Equal(t, []string{"ads/list", "ad_groups/list", "campaigns/list", "ads/analytics"}, w.net.Calls())
}

func TestReport_TellsReviewAndWhatStandsAbove(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	made := w.create(t, w.boost("mug"))
	id := made.Ad.PlatformID
	report := func() ads.Report {
		reports, err := w.driver.Report(t.Context(), w.conn, w.account.ID, advert.LevelAd, []string{id}, ads.DateOf(noon), ads.DateOf(noon))
		require.NoError(t, err)
		return reports[id]
	}
	w.net.Review(w.account, id, "PENDING")
	assert.Equal(t, advert.StatusPendingReview, report().Status)
	assert.Equal(t, advert.ReviewInReview, report().Review)
	w.net.Review(w.account, id, "OTHER")
	assert.Equal(t, advert.ReviewWithIssues, report().Review)
	w.net.Review(w.account, id, "REJECTED", "URGENCY", "APP")
	assert.Equal(t, advert.StatusRejected, report().Status)
	assert.Equal(t, "URGENCY, APP", report().RejectionReason)
	w.net.Review(w.account, id, "APPROVED")
	campaign := ads.Ref{AdAccount: w.account.ID, Level: advert.LevelCampaign, ID: made.Campaign.PlatformID}
	_, err := w.driver.SetStatus(t.Context(), w.conn, []ads.Ref{campaign}, advert.ConfiguredPaused)
	require.NoError(t, err)
	assert.Equal(t, advert.StatusPaused, report().Status)
	assert.Equal(t, advert.ConfiguredActive, report().Configured)
	assert.Equal(t, "APPROVED", report().PlatformStatus)
}

func TestSync_ReturnsEverythingOnceWithItsState(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	refs := w.campaigns(t, 120)
	over := w.boost("over")
	over.StartsAt, over.EndsAt = at(noon.AddDate(0, 0, -9)), at(noon.AddDate(0, 0, -2))
	w.create(t, over)
	_, err := w.driver.Delete(t.Context(), w.conn, refs[3])
	require.NoError(t, err)
	w.net.Forget()
	whole, err := w.walk(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 3, count(w.net.Calls(), "campaigns/list"), "50 campaigns at a time")
	assert.Len(t, whole.Campaigns, 121)
	assert.Len(t, whole.Groups, 121)
	assert.Len(t, whole.Ads, 121)
	for i, ref := range refs {
		assert.Equal(t, ref.ID, whole.Campaigns[i].PlatformID)
	}
	assert.Equal(t, advert.StatusCancelled, whole.Campaigns[3].Status)
	assert.Equal(t, advert.StatusCompleted, whole.Groups[120].Status)
	assert.Equal(t, advert.StatusCompleted, whole.Ads[120].Status)

	_, _, err = w.driver.Sync(t.Context(), w.conn, w.account.ID, "garbage")
	require.ErrorAs(t, err, new(*ads.Rejected))
}

func TestSync_OfADisabledAccountHasNothingActive(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	w.create(t, w.boost("mug"))
	w.account.Disabled = true
	whole, err := w.walk(t.Context())
	require.NoError(t, err)
	assert.Equal(t, advert.StatusError, whole.Campaigns[0].Status)
	assert.Equal(t, advert.StatusError, whole.Ads[0].Status)
}

func TestAdAccounts_SaysWhichCanBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld("JPY", nil)
	w.net.AddAccount(secret, "Looks only", "USD", "ANALYST")
	w.net.AddAccount(secret, "Unknown money", "UNK", "OWNER")
	accounts, err := w.driver.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err)
	require.Len(t, accounts, 3)
	assert.Equal(t, "jpy", accounts[0].Currency)
	assert.True(t, accounts[0].IsSelectable())
	assert.False(t, accounts[1].IsSelectable())
	assert.False(t, accounts[2].IsSelectable())

	w.conn.AdAccounts = []string{accounts[1].PlatformID}
	accounts, err = w.driver.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err)
	require.Len(t, accounts, 1)
	assert.Equal(t, "Looks only", accounts[0].Name)
}

// stuck answers with the same bookmark for ever.
type stuck struct{}

func (stuck) RoundTrip(*http.Request) (*http.Response, error) {
	return answer(http.StatusOK, `{"items": [], "bookmark": "again"}`), nil
}

func TestList_EndsWhenTheNetworkGoesInCircles(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", func(http.RoundTripper) http.RoundTripper { return stuck{} })
	_, err := w.driver.AdAccounts(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnavailable)
}
