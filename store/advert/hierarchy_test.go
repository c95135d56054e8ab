package advert

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

func TestListCampaigns_AWalkShowsEachOnceWhileOthersAreAdded(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		var want []string
		for i := range 7 {
			a.campaign(t, nth("c", i), 1)
			want = append([]string{nth("c", i)}, want...)
		}
		var seen []string
		in := ListCampaigns{Page: Page{Limit: 2}}
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

func TestListCampaigns_PagesByNumber(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		for i := range 5 {
			a.campaign(t, nth("c", i), 1)
		}
		page := func(n int, cursor string) *List[Campaign] {
			return a.campaigns(t, ListCampaigns{Page: Page{Limit: 2, Page: n, Cursor: cursor}})
		}
		second := page(2, "")
		assert.Equal(t, []string{"c002", "c001"}, campaignIDs(second))
		assert.Equal(t, []string{"c000"}, campaignIDs(page(1, second.NextCursor)), "a cursor wins over a page")
		last := page(9, "")
		assert.Empty(t, last.Items)
		assert.False(t, last.HasMore)
	})
}

func TestListCampaigns_RefusesACursorThatIsNotItsOwn(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		for i := range 3 {
			a.campaign(t, nth("c", i), 1)
		}
		cursor := a.campaigns(t, ListCampaigns{Page: Page{Limit: 1}}).NextCursor
		flipped := []byte(cursor)
		flipped[len(flipped)-3] ^= 1
		for name, in := range map[string]ListCampaigns{
			"garbage":       {Page: Page{Cursor: "garbage"}},
			"another row":   {Page: Page{Cursor: string(flipped)}},
			"other filters": {Page: Page{Cursor: cursor}, Source: SourceNative},
			"other states":  {Page: Page{Cursor: cursor}, Statuses: []Status{StatusActive}},
		} {
			in.Limit = 1
			_, err := a.ListCampaigns(t.Context(), a.account, in)
			dbtest.RequireCode(t, err, core.CodeBadRequest)
			assert.Equal(t, "cursor", dbtest.AsError(err).Param, name)
		}
	})
}

func TestListCampaigns_FiltersByTheStateThatIsShown(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		past, future := new(a.Now().Add(-time.Hour)), new(a.Now().Add(time.Hour))
		for i, own := range []*core.Time{nil, past, future} {
			for j, groups := range []*core.Time{nil, past, future} {
				for k, status := range Statuses {
					b := hierarchyOf(nth("c", i*100+j*10+k), AmountUnit)
					b.Campaigns[0].EndsAt, b.Groups[0].EndsAt = own, groups
					b.Campaigns[0].Status, b.Ads[0].Status = status, status
					require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now()))
				}
			}
		}
		all := a.campaigns(t, ListCampaigns{}).Items
		ads, err := a.ListAds(t.Context(), a.account, ListAds{Page: Page{Limit: 100}})
		require.NoError(t, err)
		require.Len(t, all, 63)
		require.Len(t, ads.Items, 63)
		for _, wanted := range [][]Status{{StatusActive}, {StatusCompleted}, {StatusPaused, StatusCompleted}, {StatusRejected, StatusError}, {StatusCancelled}} {
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
			assert.Equal(t, want, campaignIDs(a.campaigns(t, ListCampaigns{Statuses: wanted})), wanted)
			found, err := a.ListAds(t.Context(), a.account, ListAds{Page: Page{Limit: 100}, Statuses: wanted})
			require.NoError(t, err)
			var got []string
			for _, ad := range found.Items {
				got = append(got, ad.PlatformID)
			}
			assert.Equal(t, wantAds, got, wanted)
		}
	})
}

func TestPutBatch_EndsAdsWithWhatTheyAreIn(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		past, future := new(a.Now().Add(-time.Hour)), new(a.Now().Add(time.Hour))
		status := func() Status {
			ad, err := a.GetAd(t.Context(), a.account, "", "c1a")
			require.NoError(t, err)
			return ad.StatusAt(a.Now())
		}
		put := func(b Batch) { require.NoError(t, a.PutBatch(t.Context(), a.in, b, a.Now())) }
		b := hierarchyOf("c1", AmountUnit)
		put(Batch{Ads: b.Ads}) // networks list them in any order
		assert.Equal(t, StatusActive, status())
		b.Groups[0].EndsAt = past
		put(Batch{Groups: b.Groups})
		assert.Equal(t, StatusCompleted, status())
		b.Groups[0].EndsAt = future
		put(Batch{Groups: b.Groups, Campaigns: b.Campaigns})
		assert.Equal(t, StatusActive, status())
		b.Campaigns[0].EndsAt = past
		put(Batch{Campaigns: b.Campaigns})
		assert.Equal(t, StatusCompleted, status())
		put(Batch{Ads: b.Ads})
		assert.Equal(t, StatusCompleted, status())
	})
}

func TestListAds_FiltersAndShowsWhatIsAbove(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 5)
		a.campaign(t, "c2", 7)
		other := newAdvertiser(t, a.Store, a.account, PlatformPinterest)
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
		assert.Empty(t, list(ListAds{Source: SourceNative}))
		assert.Empty(t, list(ListAds{AdAccountID: "act_2"}))
		one := list(ListAds{CampaignID: "c2"})
		require.Len(t, one, 1)
		assert.Equal(t, 7*AmountUnit, one[0].Campaign.BudgetAmount)
		assert.Equal(t, "c2g", one[0].Group.PlatformID)
		assert.Equal(t, "Main", one[0].AdAccount.Name)
		assert.Equal(t, 1, one[0].Campaign.AdGroupCount)
		assert.Equal(t, 1, one[0].Campaign.AdCount)
	})
}

func TestGetCampaign_SaysWhyItCannotBeReached(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		twin := newAdvertiser(t, a.Store, a.account, PlatformPinterest)
		twin.campaign(t, "c1", 1)
		_, err := a.GetCampaign(t.Context(), a.account, "", "c1")
		dbtest.RequireCode(t, err, core.CodeParameterMissing)
		assert.Equal(t, "platform", dbtest.AsError(err).Param)
		c, err := a.GetCampaign(t.Context(), a.account, PlatformPinterest, "c1")
		require.NoError(t, err)
		assert.Equal(t, twin.channel.ID, c.ChannelID)
		_, err = a.GetCampaign(t.Context(), a.account, PlatformGoogle, "c1")
		dbtest.RequireCode(t, err, core.CodeMissing)

		_, err = a.DeactivateSocialAccount(t.Context(), a.account, twin.channel.ID)
		require.NoError(t, err)
		c, err = a.GetCampaign(t.Context(), a.account, "", "c1")
		require.NoError(t, err, "only one of them can be meant now")
		assert.Equal(t, a.channel.ID, c.ChannelID)
		_, err = a.GetCampaign(t.Context(), a.account, PlatformPinterest, "c1")
		dbtest.RequireCode(t, err, core.CodeNotActivated)
		assert.Len(t, a.campaigns(t, ListCampaigns{}).Items, 1)
		_, err = a.ListCampaigns(t.Context(), a.account, ListCampaigns{Page: Page{Limit: 1}, Channel: twin.channel.ID})
		dbtest.RequireCode(t, err, core.CodeNotActivated)

		_, err = a.DeactivateSocialAccount(t.Context(), a.account, a.channel.ID)
		require.NoError(t, err)
		_, err = a.GetCampaign(t.Context(), a.account, "", "nothing")
		dbtest.RequireCode(t, err, core.CodeNotActivated)
	})
}

func TestAds_AreTheirAccountsOwn(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		other := newAdvertiser(t, a.Store, dbtest.Account(t, a.db), PlatformFacebook)
		other.campaign(t, "c1", 3) // the network's ids may be the same
		c, err := a.GetCampaign(t.Context(), a.account, "", "c1")
		require.NoError(t, err)
		assert.Equal(t, AmountUnit, c.BudgetAmount)
		_, err = a.ActivatedChannel(t.Context(), a.account, other.channel.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
		assert.Equal(t, "account_id", dbtest.AsError(err).Param)
		_, err = a.ActivateSocialAccount(t.Context(), a.account, other.channel.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
		total, err := a.committedDaily(t.Context(), a.db, a.account, "usd")
		require.NoError(t, err)
		assert.Equal(t, AmountUnit, total)
	})
}

func TestPutBatch_KeepsWhatIsNewerAndWhatIsOurs(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		begun, err := a.BeginAction(t.Context(), a.account, a.begin(5))
		require.NoError(t, err)
		made := hierarchyOf("c1", 5*AmountUnit)
		made.Ads[0].Extra, made.Ads[0].Goal = NewObject(map[string]any{"note": 1}), GoalEngagement
		before := a.Now()
		_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionDone, Made: made, TargetID: "c1a"})
		require.NoError(t, err)
		first, err := a.GetAd(t.Context(), a.account, "", "c1a")
		require.NoError(t, err)

		require.NoError(t, a.PutBatch(t.Context(), a.in, hierarchyOf("c1", 99*AmountUnit), before.Add(-time.Second)))
		assert.Equal(t, []Amount{5 * AmountUnit}, budgets(a.campaigns(t, ListCampaigns{})), "the network was asked before the ad was made")
		same := hierarchyOf("c1", 5*AmountUnit)
		same.Ads[0].Type = TypeBoost // a network on which every ad shows a post
		require.NoError(t, a.PutBatch(t.Context(), a.in, same, a.Now()))
		ad, err := a.GetAd(t.Context(), a.account, "", "c1a")
		require.NoError(t, err)
		assert.Equal(t, 5*AmountUnit, ad.Campaign.BudgetAmount)
		assert.Equal(t, SourceNative, ad.Source)
		assert.Equal(t, SourceNative, ad.Campaign.Source)
		assert.Equal(t, Object(`{"note":1}`), ad.Extra)
		assert.Equal(t, GoalEngagement, ad.Goal)
		assert.Equal(t, TypeStandalone, ad.Type)
		assert.Equal(t, first.UpdatedAt, ad.UpdatedAt, "nothing has changed")
		assert.Equal(t, first.ID, ad.ID)
		assert.GreaterOrEqual(t, ad.SyncedAt, first.SyncedAt)

		same.Ads[0].Creative.V = Creative{LinkURL: "https://shop.example", CallToAction: "SHOP_NOW"} // of a network that tells no more
		require.NoError(t, a.PutBatch(t.Context(), a.in, same, a.Now()))
		ad, err = a.GetAd(t.Context(), a.account, "", "c1a")
		require.NoError(t, err)
		assert.Equal(t, Creative{Headline: "Read it"}, ad.Creative.V, "what it was told to show")
		theirs := hierarchyOf("c2", 5*AmountUnit)
		theirs.Ads[0].Creative = same.Ads[0].Creative
		require.NoError(t, a.PutBatch(t.Context(), a.in, theirs, a.Now()))
		external, err := a.GetAd(t.Context(), a.account, "", "c2a")
		require.NoError(t, err)
		assert.Equal(t, theirs.Ads[0].Creative.V, external.Creative.V, "all that is known of it")

		same.Ads[0].Name = "Renamed\x00 in the ad manager"
		require.NoError(t, a.PutBatch(t.Context(), a.in, same, a.Now()))
		ad, err = a.GetAd(t.Context(), a.account, "", "c1a")
		require.NoError(t, err)
		assert.Equal(t, "Renamed in the ad manager", ad.Name)
		assert.Greater(t, ad.UpdatedAt, first.UpdatedAt)
	})
}

func TestReads_HaveTheAdAccountOfWhatIsAlone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		batch := hierarchyOf("c1", AmountUnit)
		require.NoError(t, a.PutBatch(t.Context(), a.in, Batch{Ads: batch.Ads}, a.Now()))
		ad, err := a.GetAd(t.Context(), a.account, "", "c1a")
		require.NoError(t, err)
		require.NotNil(t, ad.AdAccount)
		assert.Equal(t, "usd", ad.AdAccount.Currency)
		assert.Nil(t, ad.Group)

		require.NoError(t, a.PutBatch(t.Context(), a.in, Batch{Groups: batch.Groups}, a.Now()))
		ad, err = a.GetAd(t.Context(), a.account, "", "c1a")
		require.NoError(t, err)
		require.NotNil(t, ad.Group)
		require.NotNil(t, ad.AdAccount)
		assert.Nil(t, ad.Campaign)
		g, err := a.GetGroup(t.Context(), a.account, "", "c1g")
		require.NoError(t, err)
		assert.NotNil(t, g.AdAccount)
	})
}

func budgets(list *List[Campaign]) []Amount {
	var amounts []Amount
	for _, c := range list.Items {
		amounts = append(amounts, c.BudgetAmount)
	}
	return amounts
}

func TestFinishSync_CancelsWhatIsGone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		a.campaign(t, "c2", 1)
		began := a.Now().Add(time.Microsecond)
		require.NoError(t, a.PutBatch(t.Context(), a.in, hierarchyOf("c2", AmountUnit), began))
		require.NoError(t, a.FinishSync(t.Context(), a.in, began))
		gone := a.campaigns(t, ListCampaigns{Statuses: []Status{StatusCancelled}})
		assert.Equal(t, []string{"c1"}, campaignIDs(gone))
		assert.Equal(t, []string{"c2"}, campaignIDs(a.campaigns(t, ListCampaigns{Statuses: []Status{StatusActive}})))
		assert.NotNil(t, gone.Items[0].DeletedAt)
		assert.Zero(t, gone.Items[0].AdCount)
		a.campaign(t, "c1", 1) // it was only out of sight
		assert.Len(t, a.campaigns(t, ListCampaigns{Statuses: []Status{StatusActive}}).Items, 2)
	})
}

func TestRecordStates_WritesOnlyWhatIsNew(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		record := func(asked core.Time, state State) *Ad {
			state.PlatformID = "c1a"
			require.NoError(t, a.RecordStates(t.Context(), a.account, PlatformFacebook, LevelAd, []State{state}, asked))
			ad, err := a.GetAd(t.Context(), a.account, "", "c1a")
			require.NoError(t, err)
			return ad
		}
		first := record(a.Now(), State{Status: StatusActive})
		assert.Equal(t, first.CreatedAt, first.UpdatedAt)
		assert.Equal(t, first.UpdatedAt, record(a.Now(), State{Status: StatusPaused, Seen: first.SyncedAt - 1}).UpdatedAt, "somebody has written it since")
		ad := record(a.Now(), State{Status: StatusRejected, Review: ReviewRejected, PlatformStatus: "DISAPPROVED", RejectionReason: "Too loud"})
		assert.Equal(t, StatusRejected, ad.Status)
		assert.Equal(t, "Too loud", ad.RejectionReason)
		assert.Equal(t, ConfiguredActive, ad.ConfiguredStatus, "of which nothing was said")
		assert.Greater(t, ad.UpdatedAt, first.UpdatedAt)
		ad = record(a.Now(), State{Configured: ConfiguredPaused})
		assert.Equal(t, ConfiguredPaused, ad.ConfiguredStatus)
		assert.Equal(t, "Too loud", ad.RejectionReason, "of which nothing was said")
	})
}

func TestPutBatch_MovesToAnotherChannelOnlyWhenItsOwnIsGone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 1)
		second := newAdvertiser(t, a.Store, a.account, PlatformFacebook)
		channel := func() string {
			second.campaign(t, "c1", 1)
			c, err := a.GetCampaign(t.Context(), a.account, "", "c1")
			require.NoError(t, err)
			return c.ChannelID
		}
		assert.Equal(t, a.channel.ID, channel())
		_, err := a.DeactivateSocialAccount(t.Context(), a.account, a.channel.ID)
		require.NoError(t, err)
		assert.Equal(t, second.channel.ID, channel())
	})
}
