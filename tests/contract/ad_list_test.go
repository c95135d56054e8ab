package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// withMetrics are the reads that show figures of some days.
func (n onNetwork) withMetrics(t *testing.T) []string {
	t.Helper()
	ad := n.ad(t, "Figures")
	campaign := "/v1/ads/campaigns/" + percentEncoded(ad.CampaignID)
	return []string{"/v1/ads", "/v1/ads/campaigns", campaign, campaign + "/ad-groups", "/v1/ads/ad-groups/" + percentEncoded(ad.AdGroupID)}
}

func TestAdMetrics_AreOfDaysThatThereAre(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformLinkedIn, func(t *testing.T, n onNetwork) {
		n.server.Clock.Stop() // today stays today
		tomorrow := n.server.Clock.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)
		for _, path := range n.withMetrics(t) {
			for _, c := range []struct{ query, param string }{
				{"from=2026-02-30", "from"}, {"to=2026-02-30", "to"}, {"from=01.02.2026", "from"}, {"to=2026-2-3", "to"}, {"from=", "from"},
				{"from=2026-13-01", "from"}, {"to=today", "to"}, {"from=2026-01-02T00:00:00Z", "from"},
				{"from=2026-03-02&to=2026-03-01", "from"}, {"from=2024-01-01&to=2026-01-01", "from"}, {"from=" + tomorrow, "from"},
			} {
				n.refusedText(t, http.MethodGet, path+"?"+c.query, "", http.StatusBadRequest, sdk.CodeBadRequest, c.param)
			}
			for _, query := range []string{"from=2026-03-01&to=2026-03-01", "from=2024-01-02&to=2025-12-31", "to=2026-03-01", "from=" + n.server.Clock.Now().UTC().AddDate(0, 0, -729).Format(time.DateOnly)} {
				n.raw.Must(t, http.MethodGet, path+"?"+query, nil)
			}
		}
	})
}

// TestAdMetrics_AreOfTheLastNinetyDays looks at the default, where the ad account is, and that the last day counts.
func TestAdMetrics_AreOfTheLastNinetyDays(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		last := n.lastDay(t)
		if n.platform == sdk.AdPlatformPinterest {
			last = func(days int) string { return n.server.Clock.Now().UTC().AddDate(0, 0, days-1).Format(time.DateOnly) } // its days are UTC's everywhere
		}
		campaign := n.external(t, sdk.AdStatusCompleted)
		assert.Equal(t, last(-88), *campaign.Metrics.From)
		assert.Equal(t, last(1), *campaign.Metrics.To)
		day := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, campaign.ID, &sdk.GetAdCampaignParams{From: new(last(-17)), To: new(last(-17))}))
		assert.Equal(t, *day.Metrics.To, *day.Metrics.From, "of a single day the figures")
		assert.NotEqualValues(t, "0.00", *day.Metrics.Spend, "of a single day the figures")
		assert.NotZero(t, *day.Metrics.Impressions, "of a single day the figures")
		running := n.external(t, sdk.AdStatusActive)
		today := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, running.ID, &sdk.GetAdCampaignParams{From: new(last(1)), To: new(last(1))}))
		if *today.Metrics.To != last(1) {
			t.Errorf("the figures of today are %+v", today.Metrics)
		}
	})
}

// isNothing reports whether there are no figures. Pinterest does not know those of long ago.
func isNothing(m *sdk.AdMetrics, platform sdk.AdPlatform) bool {
	if platform == sdk.AdPlatformPinterest {
		return m.Impressions == nil && m.Spend == nil && m.From == nil && len(m.Warnings) == 1
	}
	return *m.Impressions == 0 && *m.Spend == "0.00" && m.From != nil && len(m.Warnings) == 0
}

func TestAdMetrics_HideNoRows(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		n.ad(t, "New")
		ids := func(from, to *string) []string {
			var all []string
			for ad, err := range sdk.All(background, n.Ads.List, &sdk.ListAdsParams{AccountID: &n.channel, From: from, To: to, Limit: new(int64(7))}) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, ad.ID)
				if from != nil && (!isNothing(ad.Metrics, n.platform) || ad.Metrics.CPC != nil || ad.Metrics.ROAS != nil) {
					t.Errorf("before it was made, %s had %+v", ad.ID, ad.Metrics)
				}
			}
			return all
		}
		now, long := ids(nil, nil), ids(new("2024-01-01"), new("2024-01-02"))
		assert.GreaterOrEqual(t, len(now), 13)
		assert.True(t, slices.Equal(now, long))
	})
}

// adLists are the lists that have cursors, with what each needs.
func (n onNetwork) adLists(t *testing.T) []string {
	t.Helper()
	list := n.audience(t, "One")
	ok[*sdk.AdAudienceUpload](t)(n.upload(list.ID, people(1)))
	n.audience(t, "Two")
	return []string{
		"/v1/ads?", "/v1/ads/campaigns?", "/v1/ads/campaigns/" + percentEncoded(n.external(t, sdk.AdStatusPaused).ID) + "/ad-groups?",
		"/v1/ads/ad-accounts?account_id=" + n.channel + "&", "/v1/ads/audiences?account_id=" + n.channel + "&ad_account_id=" + n.account + "&",
		"/v1/ads/business-centers?account_id=" + n.channel + "&",
	}
}

func TestAdLists_AreReadInPages(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformTikTok, func(t *testing.T, n onNetwork) {
		for _, path := range n.adLists(t) {
			for _, limit := range []string{"0", "-1", "101", "x", "1.5", ""} {
				n.refusedText(t, http.MethodGet, path+"limit="+limit, "", http.StatusBadRequest, sdk.CodeBadRequest, "limit")
			}
			for _, page := range []string{"0", "-1", "x", "1.5"} {
				n.refusedText(t, http.MethodGet, path+"page="+page, "", http.StatusBadRequest, sdk.CodeBadRequest, "page")
			}
			first := n.raw.Must(t, http.MethodGet, path+"limit=1", nil)
			cursor, _ := first["next_cursor"].(string)
			assert.Equal(t, "list", first["object"], "%s: the first page", path)
			assert.Equal(t, true, first["has_more"], "%s: the first page", path)
			assert.NotEmpty(t, cursor, "%s: the first page", path)
			assert.Len(t, first["data"].([]any), 1, "%s: the first page", path)
			for _, wrong := range []string{"x", "%00", cursor + "A", cursor[1:], strings.ToUpper(cursor) + "_", "", "AAAA"} {
				n.refusedText(t, http.MethodGet, path+"cursor="+wrong, "", http.StatusBadRequest, sdk.CodeBadRequest, "cursor")
			}
			second := n.raw.Must(t, http.MethodGet, path+"limit=1&cursor="+cursor, nil)
			byPage := n.raw.Must(t, http.MethodGet, path+"limit=1&page=2", nil)
			won := n.raw.Must(t, http.MethodGet, path+"limit=1&page=900&cursor="+cursor, nil)
			a, b, c := idsOf(second), idsOf(byPage), idsOf(won)
			assert.Equal(t, b, a, "%s: the second page", path)
			assert.Equal(t, c, a, "%s: the second page", path)
			assert.NotEqual(t, idsOf(first), a, "%s: the second page", path)
			past := n.raw.Must(t, http.MethodGet, path+"page=900", nil)
			next, there := past["next_cursor"]
			require.Empty(t, past["data"].([]any), "%s: past the end there", path)
			assert.Equal(t, false, past["has_more"], "%s: past the end there", path)
			assert.Nil(t, next, "%s: past the end there", path)
			assert.True(t, there, "%s: past the end there", path)
		}
		twenty := n.raw.Must(t, http.MethodGet, "/v1/ads", nil)["data"].([]any)
		hundred := n.raw.Must(t, http.MethodGet, "/v1/ads?limit=100", nil)["data"].([]any)
		assert.Len(t, twenty, 20)
		assert.Greater(t, len(hundred), 20)
	})
}

// idsOf returns the ids of a page.
func idsOf(page map[string]any) string {
	ids := ""
	for _, item := range page["data"].([]any) {
		ids += " " + item.(map[string]any)["id"].(string)
	}
	return ids
}

// TestAdCursor_IsOfItsFilters takes a cursor to other filters, lists and accounts.
func TestAdCursor_IsOfItsFilters(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		paused := &sdk.ListAdsParams{AccountID: &n.channel, Status: []sdk.AdStatus{"paused", "completed"}, Limit: new(int64(1))}
		cursor := ok[*sdk.AdList](t)(n.Ads.List(background, paused)).NextCursor
		ok[*sdk.AdList](t)(n.Ads.List(background, &sdk.ListAdsParams{AccountID: &n.channel, Status: []sdk.AdStatus{"completed", "paused"}, Cursor: cursor}))
		native := sdk.AdSourceScopeNative
		for what, params := range map[string]*sdk.ListAdsParams{
			"no filters": {}, "no status": {AccountID: &n.channel}, "another status": {AccountID: &n.channel, Status: []sdk.AdStatus{"active"}},
			"source": {AccountID: &n.channel, Status: paused.Status, Source: &native}, "platform": {AccountID: &n.channel, Status: paused.Status, Platform: &n.platform},
			"ad account": {AccountID: &n.channel, Status: paused.Status, AdAccountID: &n.account},
		} {
			params.Cursor = cursor
			_, err := n.Ads.List(background, params)
			t.Log(what)
			refused(t, err, http.StatusBadRequest, sdk.CodeBadRequest, "cursor")
		}
		_, err := n.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{Cursor: cursor})
		refused(t, err, http.StatusBadRequest, sdk.CodeBadRequest, "cursor")
	})
}

// TestAdCursor_WalksTheWholeSetOnce walks while ads are made between the pages: what was there is met once, what is new
// stands before the beginning. The pages by number are the same while nothing changes.
func TestAdCursor_WalksTheWholeSetOnce(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		var before []string
		for i := range 4 {
			before = append(before, n.ad(t, fmt.Sprint("Before ", i)).ID)
		}
		slices.Reverse(before)
		for ad, err := range sdk.All(background, n.Ads.List, &sdk.ListAdsParams{AccountID: &n.channel, Limit: new(int64(100))}) {
			if err != nil {
				t.Fatal(err)
			}
			if ad.IsExternal {
				before = append(before, ad.ID)
			}
		}
		var walked, numbered []string
		params := &sdk.ListAdsParams{AccountID: &n.channel, Limit: new(int64(5))}
		for more := true; more; {
			page := ok[*sdk.AdList](t)(n.Ads.List(background, params))
			for _, ad := range page.Data {
				walked = append(walked, ad.ID)
			}
			n.ad(t, "Meanwhile")
			if params.Cursor, more = page.NextCursor, page.HasMore; more != (page.NextCursor != nil) {
				t.Errorf("has_more is %t, next_cursor %v", more, page.NextCursor)
			}
		}
		assert.GreaterOrEqual(t, len(before), 40)
		assert.True(t, slices.Equal(walked, before))
		for page := int64(1); ; page++ {
			list := ok[*sdk.AdList](t)(n.Ads.List(background, &sdk.ListAdsParams{AccountID: &n.channel, Limit: new(int64(7)), Page: &page}))
			for _, ad := range list.Data {
				numbered = append(numbered, ad.ID)
			}
			if !list.HasMore {
				break
			}
		}
		once := slices.Compact(slices.Sorted(slices.Values(numbered)))
		require.Len(t, once, len(numbered), "by number there")
		require.Greater(t, len(numbered), len(before), "by number there")
		assert.True(t, slices.Equal(numbered[len(numbered)-len(before):], before), "by number there")
	})
}

func TestAdFilters_AreWordsThatThereAre(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		n.ad(t, "Filtered")
		for _, path := range []string{"/v1/ads", "/v1/ads/campaigns"} {
			for query, param := range map[string]string{
				"status=live": "status", "status=active,live": "status", "status=ACTIVE": "status", "status=": "status", "source=external": "source", "source=Native": "source",
			} {
				f := n.raw.Do(t, http.MethodGet, path+"?"+query, nil).Fault(t, http.StatusBadRequest, sdk.CodeBadRequest)
				if f.Param != param && !strings.HasPrefix(f.Param, param+".") {
					t.Errorf("%s?%s: param is %q", path, query, f.Param)
				}
			}
			all, sum := map[string]bool{}, 0
			for _, status := range []string{"active", "paused", "pending_review", "rejected", "completed", "cancelled", "error", "active,paused,rejected,completed,error"} {
				page := n.raw.Must(t, http.MethodGet, path+"?limit=100&status="+status, nil)["data"].([]any)
				for _, item := range page {
					item := item.(map[string]any)
					if !strings.Contains(","+status+",", ","+item["status"].(string)+",") {
						t.Errorf("%s?status=%s shows one that is %s", path, status, item["status"])
					}
					if !strings.Contains(status, ",") {
						all[item["id"].(string)] = true
					}
				}
				sum = len(page)
			}
			assert.GreaterOrEqual(t, len(all), 7, "%s: by one status each there", path)
			assert.Equal(t, len(all), sum, "%s: by one status each there", path)
		}
	})
}

// TestAdSource_OfWhatIsPutIntoAnExternalCampaign puts an ad into a campaign that was made in the ad manager.
func TestAdSource_OfWhatIsPutIntoAnExternalCampaign(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		campaign := n.external(t, sdk.AdStatusActive)
		group := n.groups(t, campaign.ID)[0]
		draft := n.draft("Guest")
		draft.AdGroupID, draft.Goal, draft.BudgetAmount, draft.BudgetType = &group.ID, nil, nil, nil
		guest, own := ok[*sdk.Ad](t)(n.Ads.Create(background, draft)), n.ad(t, "Own")
		assert.Equal(t, sdk.AdSourceNative, guest.Source, "the guest")
		assert.False(t, guest.IsExternal, "the guest")
		assert.Equal(t, campaign.ID, guest.CampaignID, "the guest")
		host := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, campaign.ID, nil))
		assert.Equal(t, sdk.AdSourceExternal, host.Source, "the campaign")
		assert.Equal(t, campaign.AdCount+1, host.AdCount, "the campaign")
		if native := n.natives(t); !slices.Equal(native, []string{own.ID, guest.ID}) {
			t.Errorf("native are %v", native)
		}
		ids := func(source *sdk.AdSourceScope) (all []string) {
			for campaign, err := range sdk.All(background, n.AdCampaigns.List, &sdk.ListAdCampaignsParams{Source: source}) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, campaign.ID)
			}
			return all
		}
		unasked, every, native := ids(nil), ids(new(sdk.AdSourceScopeAll)), ids(new(sdk.AdSourceScopeNative))
		assert.True(t, slices.Equal(unasked, every))
		assert.Len(t, every, 10)
		assert.True(t, slices.Equal(native, []string{own.CampaignID}))
	})
}
