package store

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
)

func TestListAdCampaigns_AWalkShowsEachOnceWhileOthersAreAdded(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var want []string
		for i := range 7 {
			a.campaign(t, nth("c", i), 1)
			want = append([]string{nth("c", i)}, want...)
		}
		var seen []string
		in := ListAdCampaigns{AdPage: AdPage{Limit: 2}}
		for more := true; more; {
			list := a.campaigns(t, in)
			seen, in.Cursor, more = append(seen, campaignIDs(list)...), list.NextCursor, list.HasMore
			require.Equal(t, more, in.Cursor != "")
			a.campaign(t, nth("new", len(seen)), 1)
			a.campaign(t, "c003", 2) // changes, and keeps its place
		}
		assert.Equal(t, want, seen)
	})
}

func TestListAdCampaigns_PagesByNumber(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		for i := range 5 {
			a.campaign(t, nth("c", i), 1)
		}
		page := func(n int, cursor string) *AdList[AdCampaign] {
			return a.campaigns(t, ListAdCampaigns{AdPage: AdPage{Limit: 2, Page: n, Cursor: cursor}})
		}
		second := page(2, "")
		assert.Equal(t, []string{"c002", "c001"}, campaignIDs(second))
		assert.Equal(t, []string{"c000"}, campaignIDs(page(1, second.NextCursor)), "a cursor wins over a page")
		last := page(9, "")
		assert.Empty(t, last.Items)
		assert.False(t, last.HasMore)
	})
}

func TestListAdCampaigns_RefusesACursorThatIsNotItsOwn(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		for i := range 3 {
			a.campaign(t, nth("c", i), 1)
		}
		cursor := a.campaigns(t, ListAdCampaigns{AdPage: AdPage{Limit: 1}}).NextCursor
		flipped := []byte(cursor)
		flipped[len(flipped)-3] ^= 1
		for name, in := range map[string]ListAdCampaigns{
			"garbage":       {AdPage: AdPage{Cursor: "garbage"}},
			"another row":   {AdPage: AdPage{Cursor: string(flipped)}},
			"other filters": {AdPage: AdPage{Cursor: cursor}, Source: AdSourceNative},
			"other states":  {AdPage: AdPage{Cursor: cursor}, Statuses: []AdStatus{AdStatusActive}},
		} {
			in.Limit = 1
			_, err := a.ListAdCampaigns(t.Context(), a.account, in)
			requireCode(t, err, core.CodeBadRequest)
			assert.Equal(t, "cursor", asError(err).Param, name)
		}
	})
}

func TestListAdCampaigns_FiltersByTheStateThatIsShown(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		past, future := new(a.Now().Add(-time.Hour)), new(a.Now().Add(time.Hour))
		for i, own := range []*core.Time{nil, past, future} {
			for j, groups := range []*core.Time{nil, past, future} {
				for k, status := range AdStatuses {
					b := hierarchyOf(nth("c", i*100+j*10+k), AdUnit)
					b.Campaigns[0].EndsAt, b.Groups[0].EndsAt = own, groups
					b.Campaigns[0].Status, b.Ads[0].Status = status, status
					require.NoError(t, a.PutAdBatch(t.Context(), a.in, b, a.Now()))
				}
			}
		}
		all := a.campaigns(t, ListAdCampaigns{}).Items
		ads, err := a.ListAds(t.Context(), a.account, ListAds{AdPage: AdPage{Limit: 100}})
		require.NoError(t, err)
		require.Len(t, all, 63)
		require.Len(t, ads.Items, 63)
		for _, wanted := range [][]AdStatus{{AdStatusActive}, {AdStatusCompleted}, {AdStatusPaused, AdStatusCompleted}, {AdStatusRejected, AdStatusError}, {AdStatusCancelled}} {
			var want, wantAds []string
			for _, c := range all {
				if slices.Contains(wanted, c.StatusAt(a.Now())) {
					want = append(want, c.PlatformID)
				}
			}
			for _, ad := range ads.Items {
				if slices.Contains(wanted, ad.StatusAt(a.Now())) {
					wantAds = append(wantAds, ad.PlatformID)
				}
			}
			assert.Equal(t, want, campaignIDs(a.campaigns(t, ListAdCampaigns{Statuses: wanted})), wanted)
			found, err := a.ListAds(t.Context(), a.account, ListAds{AdPage: AdPage{Limit: 100}, Statuses: wanted})
			require.NoError(t, err)
			var got []string
			for _, ad := range found.Items {
				got = append(got, ad.PlatformID)
			}
			assert.Equal(t, wantAds, got, wanted)
		}
	})
}

func TestPutAdBatch_EndsAdsWithWhatTheyAreIn(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		past, future := new(a.Now().Add(-time.Hour)), new(a.Now().Add(time.Hour))
		status := func() AdStatus {
			ad, err := a.GetAd(t.Context(), a.account, "", "c1a")
			require.NoError(t, err)
			return ad.StatusAt(a.Now())
		}
		put := func(b AdBatch) { require.NoError(t, a.PutAdBatch(t.Context(), a.in, b, a.Now())) }
		b := hierarchyOf("c1", AdUnit)
		put(AdBatch{Ads: b.Ads}) // networks list them in any order
		assert.Equal(t, AdStatusActive, status())
		b.Groups[0].EndsAt = past
		put(AdBatch{Groups: b.Groups})
		assert.Equal(t, AdStatusCompleted, status())
		b.Groups[0].EndsAt = future
		put(AdBatch{Groups: b.Groups, Campaigns: b.Campaigns})
		assert.Equal(t, AdStatusActive, status())
		b.Campaigns[0].EndsAt = past
		put(AdBatch{Campaigns: b.Campaigns})
		assert.Equal(t, AdStatusCompleted, status())
		put(AdBatch{Ads: b.Ads})
		assert.Equal(t, AdStatusCompleted, status())
	})
}

func TestListAds_FiltersAndShowsWhatIsAbove(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 5)
		a.campaign(t, "c2", 7)
		other := newAdvertiser(t, a.shop, PlatformPinterest)
		other.campaign(t, "p1", 9)
		list := func(in ListAds) []Ad {
			in.Limit = 10
			found, err := a.ListAds(t.Context(), a.account, in)
			require.NoError(t, err)
			return found.Items
		}
		assert.Len(t, list(ListAds{}), 3)
		assert.Len(t, list(ListAds{Channel: a.channel.ID}), 2)
		assert.Len(t, list(ListAds{Platform: PlatformPinterest}), 1)
		assert.Empty(t, list(ListAds{Platform: PlatformPinterest, Channel: a.channel.ID}), "filters that contradict each other")
		assert.Empty(t, list(ListAds{Source: AdSourceNative}))
		assert.Empty(t, list(ListAds{AdAccountID: "act_2"}))
		one := list(ListAds{CampaignID: "c2"})
		require.Len(t, one, 1)
		assert.Equal(t, 7*AdUnit, one[0].Campaign.BudgetAmount)
		assert.Equal(t, "c2g", one[0].Group.PlatformID)
		assert.Equal(t, "Main", one[0].AdAccount.Name)
		assert.Equal(t, 1, one[0].Campaign.AdGroupCount)
		assert.Equal(t, 1, one[0].Campaign.AdCount)
	})
}

func TestGetAdCampaign_SaysWhyItCannotBeReached(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		twin := newAdvertiser(t, a.shop, PlatformPinterest)
		twin.campaign(t, "c1", 1)
		_, err := a.GetAdCampaign(t.Context(), a.account, "", "c1")
		requireCode(t, err, core.CodeParameterMissing)
		assert.Equal(t, "platform", asError(err).Param)
		c, err := a.GetAdCampaign(t.Context(), a.account, PlatformPinterest, "c1")
		require.NoError(t, err)
		assert.Equal(t, twin.channel.ID, c.ChannelID)
		_, err = a.GetAdCampaign(t.Context(), a.account, PlatformGoogle, "c1")
		requireCode(t, err, core.CodeMissing)

		_, err = a.DeactivateSocialAccount(t.Context(), a.account, twin.channel.ID)
		require.NoError(t, err)
		c, err = a.GetAdCampaign(t.Context(), a.account, "", "c1")
		require.NoError(t, err, "only one of them can be meant now")
		assert.Equal(t, a.channel.ID, c.ChannelID)
		_, err = a.GetAdCampaign(t.Context(), a.account, PlatformPinterest, "c1")
		requireCode(t, err, core.CodeNotActivated)
		assert.Len(t, a.campaigns(t, ListAdCampaigns{}).Items, 1)
		_, err = a.ListAdCampaigns(t.Context(), a.account, ListAdCampaigns{AdPage: AdPage{Limit: 1}, Channel: twin.channel.ID})
		requireCode(t, err, core.CodeNotActivated)

		_, err = a.DeactivateSocialAccount(t.Context(), a.account, a.channel.ID)
		require.NoError(t, err)
		_, err = a.GetAdCampaign(t.Context(), a.account, "", "nothing")
		requireCode(t, err, core.CodeNotActivated)
	})
}

func TestAds_AreTheirAccountsOwn(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		stranger, err := a.CreateAccount(t.Context(), NewAccount{Name: "Other", Email: "other@example.com"})
		require.NoError(t, err)
		other := newAdvertiser(t, &shop{a.Store, stranger.ID}, PlatformFacebook)
		other.campaign(t, "c1", 3) // the network's ids may be the same
		c, err := a.GetAdCampaign(t.Context(), a.account, "", "c1")
		require.NoError(t, err)
		assert.Equal(t, AdUnit, c.BudgetAmount)
		_, err = a.ActivatedChannel(t.Context(), a.account, other.channel.ID)
		requireCode(t, err, core.CodeMissing)
		assert.Equal(t, "account_id", asError(err).Param)
		_, err = a.ActivateSocialAccount(t.Context(), a.account, other.channel.ID)
		requireCode(t, err, core.CodeMissing)
		total, err := a.committedDaily(t.Context(), a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, AdUnit, total)
	})
}

func TestPutAdBatch_KeepsWhatIsNewerAndWhatIsOurs(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		begun, err := a.BeginAdAction(t.Context(), a.account, a.begin(5))
		require.NoError(t, err)
		made := hierarchyOf("c1", 5*AdUnit)
		made.Ads[0].Extra, made.Ads[0].Goal = NewAdObject(map[string]any{"note": 1}), AdGoalEngagement
		before := a.Now()
		_, err = a.SettleAdAction(t.Context(), a.account, begun.Action.ID, AdOutcome{State: AdActionDone, Made: made, TargetID: "c1a"})
		require.NoError(t, err)
		first, err := a.GetAd(t.Context(), a.account, "", "c1a")
		require.NoError(t, err)

		require.NoError(t, a.PutAdBatch(t.Context(), a.in, hierarchyOf("c1", 99*AdUnit), before.Add(-time.Second)))
		assert.Equal(t, []AdAmount{5 * AdUnit}, budgets(a.campaigns(t, ListAdCampaigns{})), "the network was asked before the ad was made")
		same := hierarchyOf("c1", 5*AdUnit)
		same.Ads[0].Type = AdTypeBoost // a network on which every ad shows a post
		require.NoError(t, a.PutAdBatch(t.Context(), a.in, same, a.Now()))
		ad, err := a.GetAd(t.Context(), a.account, "", "c1a")
		require.NoError(t, err)
		assert.Equal(t, 5*AdUnit, ad.Campaign.BudgetAmount)
		assert.Equal(t, AdSourceNative, ad.Source)
		assert.Equal(t, AdSourceNative, ad.Campaign.Source)
		assert.Equal(t, AdObject(`{"note":1}`), ad.Extra)
		assert.Equal(t, AdGoalEngagement, ad.Goal)
		assert.Equal(t, AdTypeStandalone, ad.Type)
		assert.Equal(t, first.UpdatedAt, ad.UpdatedAt, "nothing has changed")
		assert.Equal(t, first.ID, ad.ID)
		assert.GreaterOrEqual(t, ad.SyncedAt, first.SyncedAt)

		same.Ads[0].Name = "Renamed\x00 in the ad manager"
		require.NoError(t, a.PutAdBatch(t.Context(), a.in, same, a.Now()))
		ad, err = a.GetAd(t.Context(), a.account, "", "c1a")
		require.NoError(t, err)
		assert.Equal(t, "Renamed in the ad manager", ad.Name)
		assert.Greater(t, ad.UpdatedAt, first.UpdatedAt)
	})
}

func budgets(list *AdList[AdCampaign]) []AdAmount {
	var amounts []AdAmount
	for _, c := range list.Items {
		amounts = append(amounts, c.BudgetAmount)
	}
	return amounts
}

func TestFinishAdSync_CancelsWhatIsGone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		a.campaign(t, "c2", 1)
		began := a.Now().Add(time.Microsecond)
		require.NoError(t, a.PutAdBatch(t.Context(), a.in, hierarchyOf("c2", AdUnit), began))
		require.NoError(t, a.FinishAdSync(t.Context(), a.in, began))
		gone := a.campaigns(t, ListAdCampaigns{Statuses: []AdStatus{AdStatusCancelled}})
		assert.Equal(t, []string{"c1"}, campaignIDs(gone))
		assert.Equal(t, []string{"c2"}, campaignIDs(a.campaigns(t, ListAdCampaigns{Statuses: []AdStatus{AdStatusActive}})))
		assert.NotNil(t, gone.Items[0].DeletedAt)
		assert.Zero(t, gone.Items[0].AdCount)
		a.campaign(t, "c1", 1) // it was only out of sight
		assert.Len(t, a.campaigns(t, ListAdCampaigns{Statuses: []AdStatus{AdStatusActive}}).Items, 2)
	})
}

func TestRecordAdStates_WritesOnlyWhatIsNew(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		record := func(asked core.Time, state AdState) *Ad {
			state.PlatformID = "c1a"
			require.NoError(t, a.RecordAdStates(t.Context(), a.account, PlatformFacebook, AdLevelAd, []AdState{state}, asked))
			ad, err := a.GetAd(t.Context(), a.account, "", "c1a")
			require.NoError(t, err)
			return ad
		}
		first := record(a.Now(), AdState{Status: AdStatusActive})
		assert.Equal(t, first.CreatedAt, first.UpdatedAt)
		assert.Equal(t, first.UpdatedAt, record(first.SyncedAt-1, AdState{Status: AdStatusPaused}).UpdatedAt, "it was heard of later")
		ad := record(a.Now(), AdState{Status: AdStatusRejected, Review: AdReviewRejected, PlatformStatus: "DISAPPROVED", RejectionReason: "Too loud"})
		assert.Equal(t, AdStatusRejected, ad.Status)
		assert.Equal(t, "Too loud", ad.RejectionReason)
		assert.Equal(t, AdConfiguredActive, ad.ConfiguredStatus, "of which nothing was said")
		assert.Greater(t, ad.UpdatedAt, first.UpdatedAt)
		ad = record(a.Now(), AdState{Configured: AdConfiguredPaused})
		assert.Equal(t, AdConfiguredPaused, ad.ConfiguredStatus)
		assert.Equal(t, "Too loud", ad.RejectionReason, "of which nothing was said")
	})
}

func TestPutAdBatch_MovesToAnotherChannelOnlyWhenItsOwnIsGone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		second := newAdvertiser(t, a.shop, PlatformFacebook)
		channel := func() string {
			second.campaign(t, "c1", 1)
			c, err := a.GetAdCampaign(t.Context(), a.account, "", "c1")
			require.NoError(t, err)
			return c.ChannelID
		}
		assert.Equal(t, a.channel.ID, channel())
		_, err := a.DeactivateSocialAccount(t.Context(), a.account, a.channel.ID)
		require.NoError(t, err)
		assert.Equal(t, second.channel.ID, channel())
	})
}
