package sandbox

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestAdAccounts_AreTwoAndADisabledOneInThreeCurrencies(t *testing.T) {
	each(t, store.PlatformTikTok, Options{}, func(t *testing.T, n *network) {
		found, err := n.AdAccounts(t.Context(), n.conn)
		require.NoError(t, err)
		var currencies []string
		usable := 0
		for _, a := range found {
			currencies = append(currencies, a.Currency)
			if a.IsSelectable() {
				usable++
			}
			assert.Positive(t, a.AmountSpent, "what the seeded campaigns have spent")
			assert.NotEmpty(t, a.BusinessCenterID)
			assert.Equal(t, 20*store.AdUnit, a.MinimumDailyBudget)
		}
		assert.Equal(t, 2, usable)
		assert.Equal(t, "usd", currencies[0])
		slices.Sort(currencies)
		assert.Equal(t, []string{"eur", "jpy", "usd"}, currencies)

		n.conn.AdAccounts = []string{found[1].PlatformID}
		limited, err := n.AdAccounts(t.Context(), n.conn)
		require.NoError(t, err)
		assert.Equal(t, found[1:2], limited)
		_, _, err = n.Sync(t.Context(), n.conn, found[0].PlatformID, "")
		assert.ErrorIs(t, err, ads.ErrNotFound)
	})
}

func TestBusinessCenters_AreTwoOnTikTokAlone(t *testing.T) {
	each(t, store.PlatformTikTok, Options{}, func(t *testing.T, n *network) {
		centers, err := n.BusinessCenters(t.Context(), n.conn)
		require.NoError(t, err)
		require.Len(t, centers, 2)
		assert.Equal(t, int64(3), *centers[0].AdvertiserCount)
		assert.Nil(t, centers[1].AdvertiserCount)
		_, err = New(n.store, store.PlatformGoogle, Options{}).BusinessCenters(t.Context(), n.conn)
		assert.ErrorIs(t, err, ads.ErrUnsupported)
	})
}

func TestPosts_AreThreeAndADraft(t *testing.T) {
	each(t, store.PlatformInstagram, Options{}, func(t *testing.T, n *network) {
		posts, err := n.Posts(t.Context(), n.conn)
		require.NoError(t, err)
		var published, drafts int
		for _, p := range posts {
			if p.Status == store.SocialPostPublished {
				published++
				assert.Less(t, p.PublishedAt.Time(), n.now)
			} else {
				drafts++
				assert.Nil(t, p.PublishedAt)
			}
		}
		assert.Equal(t, []int{3, 1}, []int{published, drafts})

		plan := n.plan("adact_1")
		plan.Post, plan.Creative = &posts[0], store.AdCreative{}
		boost := n.create(plan)
		assert.Equal(t, store.AdTypeBoost, boost.Ad.Type)
		assert.Equal(t, posts[0].PlatformID, boost.Ad.PlatformPostID)
		plan.Post = &posts[3]
		_, err = n.Create(t.Context(), n.conn, plan)
		requireRejected(t, err, "post_id")
	})
}

func requireRejected(t *testing.T, err error, field string) {
	t.Helper()
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	require.Equal(t, field, rejected.Field, rejected.Message)
}

func TestSeed_HasEveryStateInEveryAdAccount(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		for _, account := range n.accounts(n.conn) {
			all := n.walk(account.PlatformID)
			assert.Len(t, all.Campaigns, 3)
			assert.Len(t, all.Groups, 6)
			assert.Len(t, all.Ads, 12)
			states := map[store.AdStatus]bool{}
			for _, ad := range all.Ads {
				states[ad.Status] = true
			}
			want := map[store.AdStatus]bool{store.AdStatusActive: true, store.AdStatusPaused: true, store.AdStatusRejected: true, store.AdStatusCompleted: true}
			if account.Status == store.AdAccountDisabled {
				want = map[store.AdStatus]bool{store.AdStatusError: true, store.AdStatusRejected: true, store.AdStatusCompleted: true}
			}
			assert.Equal(t, want, states)
			ran, err := n.Report(t.Context(), n.conn, account.PlatformID, store.AdLevelCampaign, []string{all.Campaigns[0].PlatformID, "1"}, ads.Date{Year: 2025, Month: 11, Day: 1}, ads.DateOf(n.now))
			require.NoError(t, err)
			require.Len(t, ran, 1)
			metrics := ran[all.Campaigns[0].PlatformID].Metrics
			assert.Less(t, *metrics.Reach, metrics.Impressions)
			assert.Positive(t, metrics.PurchaseValue)
			ran, err = n.Report(t.Context(), n.conn, account.PlatformID, store.AdLevelAd, []string{all.Campaigns[0].PlatformID}, ads.Date{}, ads.DateOf(n.now))
			require.NoError(t, err)
			assert.Empty(t, ran, "it is no ad")
		}
	})
}

func TestSeed_IsAFunctionOfAccountAndChannel(t *testing.T) {
	t.Parallel()
	d := New(nil, store.PlatformTwitter, Options{})
	conn := ads.Conn{Account: testAccount, Channel: testChannel, Now: func() time.Time { return begin }}
	now := store.TimeOf(begin)
	first := text(t, d.seed(conn, now))
	assert.Equal(t, first, text(t, New(nil, store.PlatformTwitter, Options{}).seed(conn, now.Add(time.Hour))))
	for _, other := range []ads.Conn{{Account: "acct_2", Channel: testChannel}, {Account: testAccount, Channel: "sacct_2"}} {
		assert.NotEqual(t, d.seed(conn, now).Entities[0].ID, d.seed(other, now).Entities[0].ID)
	}
}

func TestIDs_LookLikeTheNetworksOwnAndDiffer(t *testing.T) {
	t.Parallel()
	forms := map[store.Platform][3]string{ // ad account, ad group, post
		store.PlatformFacebook:  {`^act_\d{15}$`, `^1202\d{14}$`, `^1\d{14}_1\d{16}$`},
		store.PlatformInstagram: {`^act_\d{15}$`, `^1202\d{14}$`, `^17\d{15}$`},
		store.PlatformTikTok:    {`^7\d{18}$`, `^7\d{18}$`, `^7\d{18}$`},
		store.PlatformLinkedIn:  {`^urn:li:sponsoredAccount:\d{9}$`, `^urn:li:sponsoredCampaign:\d{9}$`, `^urn:li:share:7\d{18}$`},
		store.PlatformPinterest: {`^\d{12}$`, `^626\d{10}$`, `^\d{18}$`},
		store.PlatformGoogle:    {`^\d{10}$`, `^2\d{11}$`, `^[0-9a-z]{11}$`},
		store.PlatformTwitter:   {`^[0-9a-z]{8}$`, `^[0-9a-z]{8}$`, `^1\d{18,19}$`},
	}
	for _, p := range store.Platforms {
		seen := map[string]bool{}
		for i, k := range []kind{kindAccount, kindGroup, kindPost} {
			form := regexp.MustCompile(forms[p][i])
			for n := range int64(2000) {
				id := platformID(p, testAccount, testChannel, k, n)
				require.True(t, form.MatchString(id), id)
				require.False(t, seen[id], "%s twice", id)
				seen[id] = true
			}
		}
	}
}

func TestSync_WalksEveryCampaignOnceWhileOthersAreMade(t *testing.T) {
	each(t, store.PlatformGoogle, Options{}, func(t *testing.T, n *network) {
		mine := n.mine().PlatformID
		made := map[string]int{}
		for _, c := range n.walk(mine).Campaigns {
			made[c.PlatformID] = 0
		}
		for i := range 2*syncPage + 3 {
			made[n.create(n.planCampaign(fmt.Sprint("adact_", i))).Campaign.PlatformID] = 0
		}
		cursor, pages := "", 0
		for {
			page, next, err := n.Sync(t.Context(), n.conn, mine, cursor)
			require.NoError(t, err)
			for _, c := range page.Campaigns {
				made[c.PlatformID]++
			}
			assert.LessOrEqual(t, len(page.Campaigns), syncPage)
			if pages++; pages == 1 {
				n.create(n.planCampaign("adact_later"))
			}
			if cursor = next; next == "" {
				break
			}
		}
		assert.Equal(t, 3, pages)
		for id, times := range made {
			assert.Equal(t, 1, times, id)
		}
		_, _, err := n.Sync(t.Context(), n.conn, mine, "elsewhere")
		assert.Error(t, err)
	})
}

// planCampaign returns a campaign with a budget of its own.
func (n *network) planCampaign(token string) ads.Plan {
	plan := n.plan(token)
	plan.BudgetLevel = store.BudgetLevelCampaign
	return plan
}

func TestReplicas_AnswerAlikeToTheByte(t *testing.T) {
	each(t, store.PlatformLinkedIn, Options{ReviewDelay: time.Hour}, func(t *testing.T, n *network) {
		other := connect(t, n.url, store.PlatformLinkedIn, Options{ReviewDelay: time.Hour})
		made := n.create(n.planCampaign("adact_1"))
		n.now = n.now.Add(50 * time.Hour)
		n.turn(n.campaignRef(made.Campaign.PlatformID), store.AdConfiguredPaused)
		n.now = n.now.Add(time.Hour)
		other.now = n.now
		assert.Equal(t, n.everything(), other.everything())
	})
}

func TestTwoNetworks_WithTheSameSeedAndClockAreAlikeToTheByte(t *testing.T) {
	t.Parallel()
	var told []string
	for _, engine := range append(database.Engines, database.Engines...) {
		n := connect(t, database.URL(t, engine), store.PlatformPinterest, Options{})
		require.NoError(t, n.store.Migrate(t.Context()))
		made := n.create(n.planCampaign("adact_1"))
		n.join(made.Group, "second")
		n.now = n.now.Add(30*time.Hour + 123*time.Microsecond)
		n.turn(n.groupRef(made.Group), store.AdConfiguredPaused)
		n.now = n.now.Add(30 * time.Hour)
		n.turn(n.groupRef(made.Group), store.AdConfiguredActive)
		n.now = n.now.Add(7 * time.Hour)
		told = append(told, n.everything())
	}
	for _, other := range told[1:] {
		assert.Equal(t, told[0], other)
	}
}

// everything returns all that the network tells.
func (n *network) everything() string {
	n.t.Helper()
	accounts, err := n.AdAccounts(n.t.Context(), n.conn)
	require.NoError(n.t, err)
	posts, err := n.Posts(n.t.Context(), n.conn)
	require.NoError(n.t, err)
	all := n.walk(n.mine().PlatformID)
	var ids [3][]string
	for _, c := range all.Campaigns {
		ids[0] = append(ids[0], c.PlatformID)
	}
	for _, g := range all.Groups {
		ids[1] = append(ids[1], g.PlatformID)
	}
	for _, a := range all.Ads {
		ids[2] = append(ids[2], a.PlatformID)
	}
	told := []any{accounts, posts, all}
	for i, level := range []store.AdLevel{store.AdLevelCampaign, store.AdLevelGroup, store.AdLevelAd} {
		told = append(told, n.reports(level, ids[i]...))
	}
	return text(n.t, told)
}

func TestReview_TakesItsTimeAndRefuses(t *testing.T) {
	each(t, store.PlatformFacebook, Options{ReviewDelay: time.Hour}, func(t *testing.T, n *network) {
		made := n.create(n.plan("adact_1"))
		refused := n.join(made.Group, "This is [reject] it")
		assert.Equal(t, store.AdStatusPendingReview, made.Ad.Status)
		assert.Equal(t, store.AdReviewInReview, made.Ad.ReviewStatus)
		assert.Equal(t, store.AdStatusPendingReview, made.Campaign.Status)
		assert.Empty(t, refused.RejectionReason, "nobody has looked at it yet")

		n.now = n.now.Add(time.Hour - time.Second)
		early := n.report(store.AdLevelCampaign, made.Campaign.PlatformID)
		assert.Equal(t, store.AdStatusPendingReview, early.Status)
		assert.Zero(t, early.Metrics.Spend)

		n.now = n.now.Add(5 * time.Hour)
		late := n.report(store.AdLevelAd, made.Ad.PlatformID)
		assert.Equal(t, store.AdStatusActive, late.Status)
		assert.Equal(t, store.AdReviewApproved, late.Review)
		assert.Positive(t, late.Metrics.Spend)
		no := n.report(store.AdLevelAd, refused.PlatformID)
		assert.Equal(t, store.AdStatusRejected, no.Status)
		assert.Contains(t, no.RejectionReason, "[reject]")
		assert.Zero(t, no.Metrics.Spend)
		assert.Equal(t, store.AdReviewWithIssues, n.report(store.AdLevelGroup, made.Group.PlatformID).Review)
	})
}

func TestCampaign_CompletesAtItsEndAndWhenItsBudgetIsSpent(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		plan := n.planCampaign("adact_1")
		plan.BudgetType, plan.BudgetAmount = store.BudgetTypeLifetime, 100*store.AdUnit
		plan.EndsAt = ref(store.TimeOf(n.now.Add(5 * 24 * time.Hour)))
		ending := n.create(plan).Campaign
		plan.EndsAt = ref(store.TimeOf(n.now.Add(50 * 24 * time.Hour)))
		cut := n.create(plan).Campaign
		assert.Equal(t, store.AdStatusActive, ending.Status)
		assert.Equal(t, *plan.EndsAt, *cut.EndsAt)

		n.now = n.now.Add(4 * 24 * time.Hour)
		_, err := n.Update(t.Context(), n.conn, n.campaignRef(cut.PlatformID), ads.Patch{Budget: &ads.Budget{Amount: 1 * store.AdUnit, Type: store.BudgetTypeLifetime}})
		require.NoError(t, err)
		spent := n.report(store.AdLevelCampaign, cut.PlatformID)
		assert.Equal(t, store.AdStatusCompleted, spent.Status)
		assert.True(t, spent.BudgetSpent)
		n.now = n.now.Add(24 * time.Hour)
		assert.Equal(t, spent.Metrics, n.report(store.AdLevelCampaign, cut.PlatformID).Metrics)

		ended := n.report(store.AdLevelCampaign, ending.PlatformID)
		assert.Equal(t, store.AdStatusCompleted, ended.Status)
		assert.Equal(t, "ACTIVE", ended.PlatformStatus, "as Meta has it")
		assert.Equal(t, 100*store.AdUnit, ended.Metrics.Spend)
	})
}

func TestCreate_RefusesWhatNoNetworkTakes(t *testing.T) {
	each(t, store.PlatformPinterest, Options{}, func(t *testing.T, n *network) {
		past := store.TimeOf(n.now.Add(-time.Hour))
		for field, spoil := range map[string]func(*ads.Plan){
			"ad_account_id": func(p *ads.Plan) { p.AdAccount = n.accounts(n.conn)[2] },
			"goal":          func(p *ads.Plan) { p.Goal = store.AdGoalJobApplicants },
			"budget_amount": func(p *ads.Plan) { p.BudgetAmount = 5*store.AdUnit - 1 },
			"end_date":      func(p *ads.Plan) { p.BudgetType = store.BudgetTypeLifetime },
			"budget_type":   func(p *ads.Plan) { p.BudgetType = "hourly" },
		} {
			plan := n.plan("adact_" + field)
			spoil(&plan)
			_, err := n.Create(t.Context(), n.conn, plan)
			requireRejected(t, err, field)
		}
		plan := n.plan("adact_past")
		plan.EndsAt = &past
		_, err := n.Create(t.Context(), n.conn, plan)
		requireRejected(t, err, "end_date")
		plan = n.plan("adact_group")
		plan.AdGroupID = "626"
		_, err = n.Create(t.Context(), n.conn, plan)
		assert.ErrorIs(t, err, ads.ErrNotFound)
		plan.AdAccount.PlatformID = "549"
		_, err = n.Create(t.Context(), n.conn, plan)
		assert.ErrorIs(t, err, ads.ErrNotFound)
	})
}

func TestCreate_TwiceMakesTwo(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		first, second := n.create(n.plan("adact_1")), n.create(n.plan("adact_1"))
		assert.NotEqual(t, first.Campaign.PlatformID, second.Campaign.PlatformID)
	})
}

func TestSetStatus_CountsTheAdsWhoseDeliveryMoved(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		made := n.create(n.planCampaign("adact_1"))
		n.join(made.Group, "[reject]")
		n.join(made.Group, "third")
		paused := n.turn(n.campaignRef(made.Campaign.PlatformID), store.AdConfiguredPaused)
		assert.Equal(t, []any{2, 1, []string{"rejected"}}, []any{paused.Updated, paused.Skipped, paused.Reasons})
		require.Len(t, paused.State.Ads, 3)
		assert.Equal(t, store.AdStatusPaused, paused.State.Campaigns[0].Status)
		assert.Equal(t, "CAMPAIGN_PAUSED", paused.State.Ads[0].PlatformStatus)
		assert.Equal(t, store.AdConfiguredActive, paused.State.Ads[0].ConfiguredStatus)

		again := n.turn(n.groupRef(made.Group), store.AdConfiguredPaused)
		assert.Equal(t, []any{0, 3}, []any{again.Updated, again.Skipped})
		resumed := n.turn(n.campaignRef(made.Campaign.PlatformID), store.AdConfiguredActive)
		assert.Equal(t, 0, resumed.Updated, "their ad group is paused")
		assert.Equal(t, store.AdStatusPaused, resumed.State.Campaigns[0].Status)

		results, err := n.SetStatus(t.Context(), n.conn, []ads.Ref{n.campaignRef("1"), n.groupRef(made.Group)}, store.AdConfiguredActive)
		require.NoError(t, err)
		assert.ErrorIs(t, results[0].Err, ads.ErrNotFound)
		assert.Equal(t, 2, results[1].Updated)
	})
}

func TestSetStatus_OfAnAdIsNotThereWhereTheNetworkHasNoSwitch(t *testing.T) {
	each(t, store.PlatformTwitter, Options{}, func(t *testing.T, n *network) {
		plan := n.plan("adact_1")
		plan.Configured = store.AdConfiguredPaused
		made := n.create(plan)
		assert.Equal(t, store.AdConfiguredPaused, made.Group.ConfiguredStatus)
		assert.Equal(t, store.AdConfiguredActive, made.Ad.ConfiguredStatus)
		assert.Equal(t, store.AdStatusPaused, made.Ad.Status)
		results, err := n.SetStatus(t.Context(), n.conn, []ads.Ref{{AdAccount: n.mine().PlatformID, Level: store.AdLevelAd, ID: made.Ad.PlatformID}}, store.AdConfiguredActive)
		require.NoError(t, err)
		assert.ErrorIs(t, results[0].Err, ads.ErrUnsupported)
	})
}

func TestUpdate_ChangesWhatThePatchNames(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		made := n.create(n.plan("adact_1"))
		ends := store.TimeOf(n.now.Add(24 * time.Hour))
		changed, err := n.Update(t.Context(), n.conn, n.groupRef(made.Group), ads.Patch{
			Budget: &ads.Budget{Amount: 30 * store.AdUnit, Type: store.BudgetTypeDaily}, EndsAt: &ends,
			BidStrategy: ref(store.BidStrategyCostCap), BidAmount: ref(2 * store.AdUnit),
		})
		require.NoError(t, err)
		want := *made.Group
		want.BudgetAmount, want.EndsAt, want.BidStrategy, want.BidAmount = 30*store.AdUnit, &ends, store.BidStrategyCostCap, 2*store.AdUnit
		assert.Equal(t, want, *changed.Group)

		campaign := n.campaignRef(made.Campaign.PlatformID)
		for field, refused := range map[string]struct {
			ref   ads.Ref
			patch ads.Patch
		}{
			"budget":        {campaign, ads.Patch{Budget: &ads.Budget{Amount: 30 * store.AdUnit, Type: store.BudgetTypeDaily}}},
			"end_date":      {campaign, ads.Patch{EndsAt: &ends}},
			"budget.type":   {n.groupRef(made.Group), ads.Patch{Budget: &ads.Budget{Amount: 30 * store.AdUnit, Type: store.BudgetTypeLifetime}}},
			"budget_amount": {n.groupRef(made.Group), ads.Patch{Budget: &ads.Budget{Amount: 1, Type: store.BudgetTypeDaily}}},
		} {
			_, err := n.Update(t.Context(), n.conn, refused.ref, refused.patch)
			requireRejected(t, err, field)
		}
		assert.Equal(t, 30*store.AdUnit, n.walk(n.mine().PlatformID).Groups[6].BudgetAmount, "what was refused changed nothing")
	})
}

func TestDelete_CancelsAllBelowAndKeepsWhatWasSpent(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		made := n.create(n.plan("adact_1"))
		n.join(made.Group, "second")
		n.now = n.now.Add(10 * time.Hour)
		campaign := n.campaignRef(made.Campaign.PlatformID)
		deleted, err := n.Delete(t.Context(), n.conn, campaign)
		require.NoError(t, err)
		assert.Equal(t, ads.Deleted{AdGroups: 1, Ads: 2}, deleted)
		gone := n.report(store.AdLevelCampaign, made.Campaign.PlatformID)
		assert.Equal(t, store.AdStatusCancelled, gone.Status)
		assert.Equal(t, "DELETED", gone.PlatformStatus)
		assert.Positive(t, gone.Metrics.Spend)
		n.now = n.now.Add(10 * time.Hour)
		assert.Equal(t, gone.Metrics, n.report(store.AdLevelCampaign, made.Campaign.PlatformID).Metrics)
		assert.Len(t, n.walk(n.mine().PlatformID).Campaigns, 3)
		_, err = n.Delete(t.Context(), n.conn, campaign)
		assert.ErrorIs(t, err, ads.ErrNotFound)
		_, err = n.Update(t.Context(), n.conn, n.groupRef(made.Group), ads.Patch{})
		assert.ErrorIs(t, err, ads.ErrNotFound)
	})
}

func TestManage_DriftsFromTheMirror(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		mine := n.mine().PlatformID
		before := n.walk(mine)
		campaign, group := before.Campaigns[0], before.Groups[2]
		require.NoError(t, n.Manage(t.Context(), n.conn, n.campaignRef(campaign.PlatformID), Edit{Name: ref("Renamed"), Configured: ref(store.AdConfiguredPaused)}))
		require.NoError(t, n.Manage(t.Context(), n.conn, n.groupRef(&group), Edit{Delete: true}))
		require.NoError(t, n.Manage(t.Context(), n.conn, n.campaignRef(before.Campaigns[1].PlatformID), Edit{Budget: ref(77 * store.AdUnit)}))
		after := n.walk(mine)
		assert.Equal(t, "Renamed", after.Campaigns[0].Name)
		assert.Equal(t, store.AdStatusPaused, after.Campaigns[0].Status)
		assert.Equal(t, 77*store.AdUnit, after.Campaigns[1].BudgetAmount)
		assert.Len(t, after.Groups, 5)
		assert.Len(t, after.Ads, 10)
		refused := before.Ads[slices.IndexFunc(before.Ads, func(a store.Ad) bool { return a.Status == store.AdStatusRejected })]
		ad := ads.Ref{AdAccount: mine, Level: store.AdLevelAd, ID: refused.PlatformID}
		require.NoError(t, n.Manage(t.Context(), n.conn, ad, Edit{Rejection: ref("")}))
		assert.Equal(t, store.AdStatusPaused, n.report(store.AdLevelAd, refused.PlatformID).Status, "approved, and its campaign is paused")
	})
}

func TestWords_MeanWhatTheyAreReadAs(t *testing.T) {
	t.Parallel()
	for _, p := range store.Platforms {
		campaign := &thing{SandboxEntity: store.SandboxEntity{Kind: store.AdLevelCampaign}}
		group := &thing{SandboxEntity: store.SandboxEntity{Kind: store.AdLevelGroup}, parent: campaign}
		ad := &thing{SandboxEntity: store.SandboxEntity{Kind: store.AdLevelAd}, parent: group}
		for _, off := range []*thing{{}, ad, group, campaign} {
			off.Off = true
			for _, status := range store.AdStatuses {
				isMeta := p == store.PlatformFacebook || p == store.PlatformInstagram
				if raw := word(p, ad, status); isMeta && status == store.AdStatusCompleted {
					assert.Equal(t, store.AdStatusActive, ads.StatusOf(p, raw))
				} else {
					assert.Equal(t, status, ads.StatusOf(p, raw), "%s: %s", p, raw)
				}
			}
			off.Off = false
		}
	}
}

func TestCalls_CommitWhateverBecomesOfTheRequest(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		account, err := n.store.CreateAccount(t.Context(), store.NewAccount{Name: "Ada", Email: "ada@example.com"})
		require.NoError(t, err)
		n.conn.Account = account.ID
		key := &store.Key{Account: account.ID, Key: "k", External: true}
		_, _, err = n.store.Request(t.Context(), key, func(ctx context.Context) (*store.Answer, error) {
			_, err := n.Create(ctx, n.conn, n.plan("adact_1"))
			return nil, err
		})
		require.ErrorContains(t, err, "a transaction is open")
		_, found, err := n.Find(t.Context(), n.conn, n.mine().PlatformID, "adact_1")
		require.NoError(t, err)
		assert.False(t, found)

		killed := errors.New("killed")
		_, _, err = n.store.Request(t.Context(), key, func(ctx context.Context) (*store.Answer, error) {
			if _, err := n.store.PutTestCharge(ctx, store.TestCharge{AccountID: account.ID, ID: "a step", Status: "succeeded"}); err != nil {
				return nil, err
			}
			if _, err := n.Create(ctx, n.conn, n.plan("adact_1")); err != nil {
				return nil, err
			}
			return nil, killed
		})
		require.ErrorIs(t, err, killed)
		_, found, err = n.Find(t.Context(), n.conn, n.mine().PlatformID, "adact_1")
		require.NoError(t, err)
		assert.True(t, found)
	})
}

func TestReport_OfAPageIsQuick(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		var ids []string
		for i := range 100 {
			ids = append(ids, n.create(n.plan(fmt.Sprint("adact_", i))).Ad.PlatformID)
		}
		n.now = n.now.Add(90 * 24 * time.Hour)
		assert.Len(t, n.reports(store.AdLevelAd, ids...), 100)
		started := time.Now()
		n.reports(store.AdLevelAd, ids...)
		t.Log("100 ads over 90 days took", time.Since(started))
		assert.Less(t, time.Since(started), 10*time.Second)
	})
}

func TestReplicas_ChangeThingsAtTheSameTime(t *testing.T) {
	each(t, store.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		replicas := []*network{n, connect(t, n.url, n.platform, n.options)}
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				r := replicas[i%2]
				made, err := r.Create(t.Context(), r.conn, r.plan(fmt.Sprint("adact_", i)))
				if !assert.NoError(t, err) {
					return
				}
				_, err = r.SetStatus(t.Context(), r.conn, []ads.Ref{r.groupRef(made.Group)}, store.AdConfiguredPaused)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		found := n.walk(n.mine().PlatformID)
		assert.Len(t, found.Campaigns, 3+16)
		assert.Len(t, found.Ads, 12+16)
		for _, campaign := range found.Campaigns[3:] {
			assert.Equal(t, store.AdStatusPaused, campaign.Status)
		}
	})
}
