package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestAdNetworks_AreSpokenTo takes a channel of a network, not of the sandbox, from its ad accounts to a deleted
// campaign. The network is a fake that refuses what its own descriptions do not have.
func TestAdNetworks_AreSpokenTo(t *testing.T) {
	onStages(t, func(t *testing.T, a *advertiser) {
		a.showsItsAdAccounts(t)
		ad := a.createsAnAd(t)
		a.hasTidyNames(t)
		a.switchesIt(t, ad)
		a.changesBudgets(t, ad)
		a.readsFigures(t, ad)
		a.uploadsPeople(t)
		a.boostsAPost(t)
		a.changesOneAd(t, ad)
		a.knowsWhatThereIs(t, ad)
		a.looksAt(t, ad)
		a.tellsPixels(t)
		a.deletesCampaigns(t)
		assert.Empty(t, a.Refused(), "the network refused something")
		a.hasAskedEverything(t)
		a.keepsSecrets(t)
	})
}

func (a *advertiser) showsItsAdAccounts(t *testing.T) {
	t.Helper()
	channels, err := a.Socials.List(background, nil)
	require.NoError(t, err)
	require.Len(t, channels.Data, 1)
	assert.Equal(t, a.platform, channels.Data[0].Platform)
	accounts, err := a.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: a.channel})
	require.NoError(t, err)
	selectable := 0
	for _, account := range accounts.Data {
		if account.Selectable {
			selectable++
			assert.Equal(t, a.adAccount, account.ID)
			assert.Equal(t, "usd", account.Currency)
		}
	}
	assert.Equal(t, 1, selectable)
}

// createsAnAd plans an ad, of which the network hears nothing, and then makes it.
func (a *advertiser) createsAnAd(t *testing.T) *sdk.Ad {
	t.Helper()
	before := a.heard.written()
	draft := a.draft("Spring")
	draft.AdditionalProperties = map[string]json.RawMessage{
		"utm_source": json.RawMessage(`"unheardOf"`), "-": json.RawMessage(`{"unheardOf":[null]}`), "": json.RawMessage(`"unheardOf"`), "Größe.ß": json.RawMessage(`null`),
		"dailyBudget": json.RawMessage(`987654321`), "Status": json.RawMessage(`"unheardOf"`), "metrics": json.RawMessage(`"unheardOf"`), "end_date": json.RawMessage(`null`),
	}
	plan, err := a.Ads.PlanCreate(background, draft)
	require.NoError(t, err)
	assert.NotEmpty(t, plan.Calls)
	assert.Equal(t, before, a.heard.written(), "a dry run writes to the network")

	ad, err := a.creates(draft, draft.Name)
	require.NoError(t, err)
	for name, sent := range draft.AdditionalProperties {
		if name != "metrics" && name != "end_date" && name != "Status" {
			assert.JSONEq(t, string(sent), string(ad.AdditionalProperties[name]), name)
		}
	}
	assert.Contains(t, fmt.Sprint(ad.Warnings), `"metrics" was ignored`)
	assert.Contains(t, fmt.Sprint(ad.Warnings), `"Status" was ignored: an ad has a field status itself. It does not set status.`)
	assert.Contains(t, fmt.Sprint(ad.Warnings), `"utm_source" is no field of a new ad`)
	assert.Equal(t, ad.Warnings, plan.Warnings)
	for _, word := range []string{"unheardOf", "dailyBudget", "987654321"} {
		assert.NotContains(t, a.heard.text(), word, "the network is told of fields that are no fields")
	}
	campaigns, ads := a.live()
	assert.Equal(t, []int{1, 1}, []int{campaigns, ads})
	assert.Equal(t, "20.00", string(ad.Budget.Amount))
	assert.Equal(t, sdk.AdConfiguredStatusActive, ad.ConfiguredStatus)
	assert.Equal(t, "ACTIVE", a.status("ad_group", ad.AdGroupID))
	return ad
}

func (a *advertiser) switchesIt(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	paused, err := a.AdGroups.Pause(background, ad.AdGroupID, a.body())
	require.NoError(t, err)
	assert.True(t, paused.Changed)
	assert.Equal(t, "PAUSED", a.status("ad_group", ad.AdGroupID))
	resumed, err := a.AdGroups.Resume(background, ad.AdGroupID, a.body())
	require.NoError(t, err)
	assert.True(t, resumed.Changed)
	assert.Equal(t, "ACTIVE", a.status("ad_group", ad.AdGroupID))

	all := &sdk.AdCampaignBulk{Campaigns: []sdk.AdCampaignRef{{ID: ad.CampaignID}}}
	bulk, err := a.AdCampaigns.BulkPause(background, all)
	require.NoError(t, err)
	assert.EqualValues(t, 1, bulk.Totals.Updated)
	assert.Equal(t, "PAUSED", a.status("campaign", ad.CampaignID))
	_, err = a.AdCampaigns.BulkResume(background, all)
	require.NoError(t, err)
	assert.Equal(t, "ACTIVE", a.status("campaign", ad.CampaignID))
}

// changesBudgets gives sixty dollars to the ad's group, and to a campaign that has the budget itself.
func (a *advertiser) changesBudgets(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	sixty := &sdk.AdBudgetInput{Amount: "60", Type: sdk.AdBudgetTypeDaily}
	group, err := a.AdGroups.Update(background, ad.AdGroupID, &sdk.AdGroupUpdate{Budget: sixty})
	require.NoError(t, err)
	assert.Equal(t, "60.00", string(group.Budget.Amount))
	assert.Equal(t, a.dollarsOnTheWire, a.dailyBudget("ad_group", ad.AdGroupID))

	draft := a.draft("Summer")
	draft.BudgetLevel, draft.BudgetAmount, draft.Status = new(sdk.AdCreateBudgetLevelCampaign), new(json.Number("50")), new(sdk.AdConfiguredStatusPaused)
	shared, err := a.creates(draft, draft.Name)
	require.NoError(t, err)
	assert.Equal(t, "PAUSED", a.status("campaign", shared.CampaignID))
	campaign, err := a.AdCampaigns.Update(background, shared.CampaignID, &sdk.AdCampaignUpdate{Budget: sixty})
	require.NoError(t, err)
	assert.Equal(t, "60.00", string(campaign.Budget.Amount))
	assert.Equal(t, a.dollarsOnTheWire, a.dailyBudget("campaign", shared.CampaignID))
}

// uploadsPeople makes a list of customers, of whom the network hears nothing but hashes.
func (a *advertiser) uploadsPeople(t *testing.T) {
	t.Helper()
	list, err := a.AdAudiences.Create(background, &sdk.AdAudienceCreate{AccountID: a.channel, AdAccountID: a.adAccount, Name: "Buyers", Type: "customer_list"})
	require.NoError(t, err)
	people := make([]sdk.AdAudienceUser, 1000)
	for i := range people {
		people[i].Email = new(fmt.Sprintf("person-%d@private.example", i))
	}
	result, err := a.AdAudiences.UploadUsers(background, list.ID, &sdk.AdAudienceUsers{Users: people})
	require.NoError(t, err)
	assert.Equal(t, []int64{1000, 1000, 0, 0}, []int64{result.Received, result.Accepted, result.Invalid, result.Duplicates})
	for _, person := range []string{*people[0].Email, *people[999].Email} {
		hash := sha256.Sum256([]byte(person))
		assert.Contains(t, a.heard.text(), hex.EncodeToString(hash[:]))
	}
	assert.NotContains(t, a.heard.text(), "private.example")
	a.keepsSecrets(t, "private.example")

	uploaded, err := a.AdAudiences.Get(background, list.ID)
	require.NoError(t, err)
	assert.NotNil(t, uploaded.PlatformAudienceID)
	removed, err := a.AdAudiences.RemoveUsers(background, list.ID, &sdk.AdAudienceUsers{Users: people[:10]})
	require.NoError(t, err)
	assert.EqualValues(t, 10, removed.Removed)
	_, err = a.AdAudiences.Delete(background, list.ID)
	require.NoError(t, err)
	left, err := a.AdAudiences.List(background, &sdk.ListAdAudiencesParams{AccountID: a.channel, AdAccountID: a.adAccount})
	require.NoError(t, err)
	assert.Empty(t, left.Data)
}

func (a *advertiser) boostsAPost(t *testing.T) {
	t.Helper()
	posts, err := a.Socials.ListPosts(background, a.channel, nil)
	require.NoError(t, err)
	post := slices.IndexFunc(posts.Data, func(p sdk.SocialPost) bool { return p.PlatformPostID == a.post })
	require.GreaterOrEqual(t, post, 0, "the post is not listed")
	boosted, err := a.Ads.Boost(background, &sdk.AdBoost{
		AccountID: a.channel, AdAccountID: a.adAccount, PostID: posts.Data[post].ID, Name: "Boosted", Goal: sdk.AdGoalEngagement,
		Budget: sdk.AdBudgetInput{Amount: "60", Type: sdk.AdBudgetTypeDaily},
	})
	require.NoError(t, err)
	assert.Equal(t, sdk.AdAdTypeBoost, boosted.AdType)
	assert.Equal(t, a.dollarsOnTheWire, a.dailyBudget("ad_group", boosted.AdGroupID))
}

// changesOneAd renames and switches an ad, and deletes another one of its ad group.
func (a *advertiser) changesOneAd(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	renamed, err := a.Ads.Update(background, ad.ID, &sdk.AdUpdate{Platform: &a.platform, Name: new("Late spring")})
	require.NoError(t, err)
	assert.Equal(t, "Late spring", renamed.Name)
	paused, err := a.Ads.Pause(background, ad.ID, a.body())
	require.NoError(t, err)
	assert.Equal(t, sdk.AdStatusPaused, paused.Status)
	resumed, err := a.Ads.Resume(background, ad.ID, a.body())
	require.NoError(t, err)
	assert.Equal(t, sdk.AdConfiguredStatusActive, resumed.ConfiguredStatus)
	second := a.draft("A second one")
	second.AdGroupID, second.Goal, second.BudgetAmount, second.BudgetType = &ad.AdGroupID, nil, nil, nil
	joined, err := a.creates(second, second.Name)
	require.NoError(t, err)
	assert.Equal(t, ad.AdGroupID, joined.AdGroupID)
	a.hasTidyNames(t) // else the program may find it deleted as it changes its name
	_, err = a.Ads.Delete(background, joined.ID, a.body())
	require.NoError(t, err)
	read, err := a.Ads.Get(background, joined.ID, nil)
	require.NoError(t, err)
	assert.Equal(t, sdk.AdStatusCancelled, read.Status)
}

// knowsWhatThereIs asks for what nothing else here asks for.
func (a *advertiser) knowsWhatThereIs(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	groups, err := a.AdCampaigns.ListAdGroups(background, ad.CampaignID, nil)
	require.NoError(t, err)
	assert.Len(t, groups.Data, 1)
	days, err := a.AdGroups.ListMetrics(background, ad.AdGroupID, &sdk.ListAdGroupMetricsParams{Platform: &a.platform})
	require.NoError(t, err)
	assert.NotEmpty(t, days.Data)
	interested := "Movies"
	if a.platform == sdk.AdPlatformTikTok {
		interested = "Puzzle"
	}
	found, err := a.Ads.SearchTargeting(background, &sdk.SearchAdTargetingParams{AccountID: a.channel, Type: sdk.AdTargetingTypeInterest, Q: &interested})
	require.NoError(t, err)
	require.Len(t, found.Data, 1)
	interest := sdk.AdTargeting{Countries: []string{"US"}, Interests: []sdk.AdTargetingOption{{ID: found.Data[0].ID}}}
	reach, err := a.Ads.EstimateReach(background, &sdk.ReachEstimateCreate{AccountID: a.channel, AdAccountID: a.adAccount, Targeting: interest})
	require.NoError(t, err)
	assert.Equal(t, a.platform != sdk.AdPlatformTikTok, reach.Available)
	_, err = a.AdAccounts.Update(background, a.adAccount, &sdk.AdAccountUpdate{Platform: &a.platform})
	require.NoError(t, err)
	_, err = a.BusinessCenters.List(background, &sdk.ListBusinessCentersParams{AccountID: a.channel})
	if a.can(t).BusinessCenters {
		require.NoError(t, err)
	} else {
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "account_id")
	}
	limits, err := a.AdLimits.Get(background)
	require.NoError(t, err)
	_, err = a.AdLimits.Update(background, &sdk.AdLimitsUpdate{})
	require.NoError(t, err)
	assert.NotEmpty(t, limits.Object)
	actions, err := a.AdActions.List(background, nil)
	require.NoError(t, err)
	assert.NotEmpty(t, actions.Data)
	_, err = a.AdActions.Export(background, nil)
	require.NoError(t, err)
	_, err = a.AdConversions.Export(background, nil)
	require.NoError(t, err)
	_, err = a.AdConversions.ExportDestinations(background, nil)
	require.NoError(t, err)
}

// hasAskedEverything fails if an operation of ads has not succeeded here. Business centers and previews are of networks that have them.
func (a *advertiser) hasAskedEverything(t *testing.T) {
	t.Helper()
	can := a.can(t)
	for _, op := range harness.Operations() {
		lacks := op.ID == "listBusinessCenters" && !can.BusinessCenters || strings.HasPrefix(op.ID, "preview") && !can.Previews
		if strings.HasPrefix(op.Path, "/v1/ads") && !lacks {
			assert.True(t, a.coverage.Answered(op, http.StatusOK, http.StatusCreated), "%s %s has not succeeded", op.Method, op.Path)
		}
	}
}

func (a *advertiser) deletesCampaigns(t *testing.T) {
	t.Helper()
	campaigns, err := a.AdCampaigns.List(background, nil)
	require.NoError(t, err)
	require.Len(t, campaigns.Data, 3)
	for _, campaign := range campaigns.Data {
		gone, err := a.AdCampaigns.Delete(background, campaign.ID, a.body())
		require.NoError(t, err)
		assert.EqualValues(t, 1, gone.AdCount)
	}
	left, ads := a.live()
	assert.Equal(t, []int{0, 0}, []int{left, ads})
}

// hasTidyNames waits until no name at the network shows the token by which the ad was found. A network that once took too long to answer is asked again
// at once, and not after ten minutes.
func (a *advertiser) hasTidyNames(t *testing.T) {
	t.Helper()
	db := harness.OpenDatabase(t, a.database)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		db.Must(t, fmt.Sprintf(`UPDATE ad_actions SET names_due = 0 WHERE names_due > %d`, time.Now().Add(2*time.Minute).UnixMicro()))
		names := a.names()
		assert.NotEmpty(c, names)
		for _, name := range names {
			assert.NotContains(c, name, "adact_")
		}
	}, harness.Patience, 500*time.Millisecond)
}

// TestAdNetworks_WithoutADriverTakeNoToken connects channels of networks that the program does not speak to.
func TestAdNetworks_WithoutADriverTakeNoToken(t *testing.T) {
	t.Parallel()
	s := newSite(t, database.URL(t, "sqlite"))
	s.binary.Env = append(s.binary.Env, "TILLWRIGHT_ADS_NETWORKS=pinterest")
	program := s.binary.Serve(t, "")
	transport := &harness.Transport{T: t, Coverage: &harness.Coverage{}}
	c := sdk.New(s.key, sdk.WithBaseURL(program.URL+"/v1"), sdk.WithHTTPClient(&http.Client{Transport: transport}), sdk.WithRetries(0))
	for _, platform := range []sdk.AdPlatform{sdk.AdPlatformFacebook, sdk.AdPlatformTikTok, sdk.AdPlatformLinkedIn, sdk.AdPlatformGoogle, sdk.AdPlatformTwitter} {
		_, err := c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: platform, Token: new(adToken)})
		e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "token")
		assert.NotEmpty(t, e.Errors["token"])
	}
	_, err := c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: sdk.AdPlatformTikTok})
	require.NoError(t, err, "the sandbox needs no token")
}

// refused checks that a call failed with this status, code and param, and returns the error.
func refused(t *testing.T, err error, status int, code, param string) *sdk.Error {
	t.Helper()
	var e *sdk.Error
	require.True(t, errors.As(err, &e), "%d %s is expected, the error is %v", status, code, err)
	require.Equal(t, []any{status, code, param}, []any{e.Status, e.Code, e.Param}, e.Message)
	return e
}
