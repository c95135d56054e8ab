package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

var adGoals = []sdk.AdGoal{
	"engagement", "traffic", "awareness", "video_views", "lead_generation", "lead_conversion", "conversions", "app_promotion", "catalog_sales", "job_applicants",
}

// TestAdGoal_IsOneOfTheNetwork tries every goal on every network, and what is none.
func TestAdGoal_IsOneOfTheNetwork(t *testing.T) {
	common := []sdk.AdGoal{"engagement", "traffic", "awareness", "video_views"}
	more := map[sdk.AdPlatform][]sdk.AdGoal{
		"facebook":  {"lead_generation", "lead_conversion", "conversions", "app_promotion", "catalog_sales"},
		"instagram": {"lead_generation", "lead_conversion", "conversions", "app_promotion", "catalog_sales"},
		"tiktok":    {"lead_generation", "conversions", "app_promotion"},
		"linkedin":  {"lead_generation", "conversions", "job_applicants"},
		"pinterest": {"conversions"},
		"twitter":   {"app_promotion"},
	}
	onNetworks(t, func(t *testing.T, n onNetwork) {
		known := slices.Concat(common, more[n.platform])
		post := n.post(t, sdk.SocialPostStatusPublished)
		for _, goal := range append(slices.Clone(adGoals), "fame", "TRAFFIC") {
			draft, boost := n.draft("Goal"), n.boost(post)
			draft.Goal, boost.Goal = &goal, goal
			if slices.Contains(known, goal) {
				n.pursue(t, draft, boost)
				continue
			}
			_, err := n.Ads.Create(background, draft)
			e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "goal")
			if !slices.Contains(adGoals, goal) {
				continue
			}
			for _, allowed := range known {
				if !strings.Contains(e.Message, string(allowed)) {
					t.Errorf("the refusal of %s does not name %s: %s", goal, allowed, e.Message)
				}
			}
			_, err = n.Ads.Boost(background, boost)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "goal")
		}
	})
}

// rule returns what the network says that a goal needs.
func (n onNetwork) rule(goal sdk.AdGoal) sdk.AdGoalRule {
	return n.can.GoalRules[slices.IndexFunc(n.can.GoalRules, func(r sdk.AdGoalRule) bool { return r.Goal == goal })]
}

// promotes returns a promoted object that has what a goal needs, nil if it needs none. without leaves a key out.
func (n onNetwork) promotes(t *testing.T, goal sdk.AdGoal, without string) *json.RawMessage {
	t.Helper()
	object := map[string]string{}
	for _, keys := range n.rule(goal).Requires {
		if keys[0] != without {
			object[keys[0]] = "https://apps.example/1"
		}
	}
	if len(object) == 0 {
		return nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return new(json.RawMessage(text))
}

// pursue makes an ad for the goal of a draft and of a boost in each way that the network says it can be made. The other ways are refused, and so is
// whatever lacks what the network says it needs.
func (n onNetwork) pursue(t *testing.T, draft *sdk.AdCreate, boost *sdk.AdBoost) {
	t.Helper()
	goal := *draft.Goal
	if slices.Contains(n.can.Media.VideoGoals, goal) {
		film(draft, "https://example.com/go.mp4")
	}
	makes := map[sdk.AdGoalRuleMadeBy]func(*json.RawMessage) (*sdk.Ad, error){
		sdk.AdGoalRuleMadeByAd: func(promoted *json.RawMessage) (*sdk.Ad, error) {
			draft.PromotedObject = promoted
			return n.Ads.Create(background, draft)
		},
		sdk.AdGoalRuleMadeByBoost: func(promoted *json.RawMessage) (*sdk.Ad, error) {
			boost.PromotedObject = promoted
			return n.Ads.Boost(background, boost)
		},
	}
	for by, create := range makes {
		ad, err := create(n.promotes(t, goal, ""))
		if !slices.Contains(n.rule(goal).MadeBy, by) {
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "goal")
			continue
		}
		require.NoError(t, err, by)
		assert.Equal(t, goal, *ad.Goal, by)
		for _, keys := range n.rule(goal).Requires {
			_, err := create(n.promotes(t, goal, keys[0]))
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "promoted_object."+keys[0])
		}
	}
}

func TestAdAccount_MustBeThereAndInUse(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		post, disabled := n.post(t, sdk.SocialPostStatusPublished), ""
		for _, account := range ok[*sdk.AdAccountList](t)(n.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: n.channel})).Data {
			if !account.Selectable {
				disabled = account.ID
			}
		}
		create := func(account string) map[string]error {
			draft, boost := n.draft("x"), n.boost(post)
			draft.AdAccountID, boost.AdAccountID = account, account
			errs := map[string]error{}
			_, errs["ad"] = n.Ads.Create(background, draft)
			_, errs["plan"] = n.Ads.PlanCreate(background, draft)
			_, errs["boost"] = n.Ads.Boost(background, boost)
			_, errs["audience"] = n.AdAudiences.Create(background, &sdk.AdAudienceCreate{AccountID: n.channel, AdAccountID: account, Name: "x", Type: "customer_list"})
			return errs
		}
		elsewhere := advertise(t, n.Client, n.platform).account
		for _, unknown := range []string{"act_1", "nothing", elsewhere, n.account + "0"} {
			for what, err := range create(unknown) {
				t.Log(what)
				refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "ad_account_id")
			}
			_, err := n.AdAudiences.List(background, &sdk.ListAdAudiencesParams{AccountID: n.channel, AdAccountID: unknown})
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "ad_account_id")
		}
		for what, err := range create(disabled) {
			t.Log(what)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "ad_account_id")
		}
	})
}

func TestBoost_NeedsAPublishedPostOfTheChannel(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		other := newOnNetwork(t, n.server, n.platform) // of another tenant
		second := n
		second.advertiser = advertise(t, n.Client, n.platform) // of the same one
		for _, c := range []struct {
			post   string
			status int
			code   string
		}{
			{randomID("spost"), http.StatusNotFound, sdk.CodeResourceMissing},
			{"nothing", http.StatusNotFound, sdk.CodeResourceMissing},
			{other.post(t, sdk.SocialPostStatusPublished), http.StatusNotFound, sdk.CodeResourceMissing},
			{n.post(t, sdk.SocialPostStatusDraft), http.StatusUnprocessableEntity, sdk.CodeValidationFailed},
			{second.post(t, sdk.SocialPostStatusPublished), http.StatusUnprocessableEntity, sdk.CodeValidationFailed},
		} {
			_, err := n.Ads.Boost(background, n.boost(c.post))
			refused(t, err, c.status, c.code, "post_id")
		}
		post := n.post(t, sdk.SocialPostStatusPublished)
		ad := ok[*sdk.Ad](t)(n.Ads.Boost(background, n.boost(post)))
		assert.Equal(t, sdk.AdAdTypeBoost, ad.AdType, "the boost")
		assert.Equal(t, post, *ad.PostID, "the boost")
		assert.Equal(t, n.platform, ad.Platform, "the boost")
		assert.Equal(t, sdk.AdSourceNative, ad.Source, "the boost")
		again := ok[*sdk.Ad](t)(n.Ads.Boost(background, n.boost(*ad.PlatformPostID)))
		assert.Equal(t, post, *again.PostID, "the boost by the network's id")
		assert.NotEqual(t, ad.ID, again.ID, "the boost by the network's id")
	})
}

func TestAdPlatform_IsOneOfSeven(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "Platform")
		campaign, group := "/v1/ads/campaigns/"+ad.CampaignID, "/v1/ads/ad-groups/"+ad.AdGroupID
		for _, path := range []string{"/v1/ads", "/v1/ads/campaigns", "/v1/ads/audiences?account_id=" + n.channel + "&ad_account_id=" + n.account, campaign, campaign + "/ad-groups", group} {
			mark := "?"
			if strings.Contains(path, "?") {
				mark = "&"
			}
			for _, none := range []string{"myspace", "Facebook", "meta", "x"} {
				n.refusedText(t, http.MethodGet, path+mark+"platform="+none, "", http.StatusBadRequest, sdk.CodeBadRequest, "platform")
			}
		}
		none := sdk.AdPlatform("myspace")
		draft, boost := n.draft("x"), n.boost(n.post(t, sdk.SocialPostStatusPublished))
		draft.Platform, boost.Platform = &none, &none
		body, errs := &sdk.AdPlatformBody{Platform: &none}, map[string]error{}
		_, errs["create"] = n.Ads.Create(background, draft)
		_, errs["boost"] = n.Ads.Boost(background, boost)
		_, errs["update campaign"] = n.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Platform: &none})
		_, errs["update ad group"] = n.AdGroups.Update(background, ad.AdGroupID, &sdk.AdGroupUpdate{Platform: &none})
		_, errs["pause"] = n.AdGroups.Pause(background, ad.AdGroupID, body)
		_, errs["resume"] = n.AdGroups.Resume(background, ad.AdGroupID, body)
		_, errs["delete"] = n.AdCampaigns.Delete(background, ad.CampaignID, body)
		_, errs["connect"] = n.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: none})
		for what, err := range errs {
			t.Log(what)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		}
	})
}

// TestAdPlatform_IsAPartOfTheID asks for what there is on a network that does not have it.
func TestAdPlatform_IsAPartOfTheID(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad, elsewhere := n.ad(t, "Here"), n.otherPlatform()
		there := &sdk.AdPlatformBody{Platform: &elsewhere}
		errs := map[string]error{}
		_, errs["get campaign"] = n.AdCampaigns.Get(background, ad.CampaignID, &sdk.GetAdCampaignParams{Platform: &elsewhere})
		_, errs["get ad group"] = n.AdGroups.Get(background, ad.AdGroupID, &sdk.GetAdGroupParams{Platform: &elsewhere})
		_, errs["list ad groups"] = n.AdCampaigns.ListAdGroups(background, ad.CampaignID, &sdk.ListAdCampaignAdGroupsParams{Platform: &elsewhere})
		_, errs["update campaign"] = n.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Platform: &elsewhere})
		_, errs["update ad group"] = n.AdGroups.Update(background, ad.AdGroupID, &sdk.AdGroupUpdate{Platform: &elsewhere})
		_, errs["pause"] = n.AdGroups.Pause(background, ad.AdGroupID, there)
		_, errs["resume"] = n.AdGroups.Resume(background, ad.AdGroupID, there)
		_, errs["delete"] = n.AdCampaigns.Delete(background, ad.CampaignID, there)
		for what, err := range errs {
			t.Log(what)
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		}
		draft, boost := n.draft("x"), n.boost(n.post(t, sdk.SocialPostStatusPublished))
		draft.Platform, boost.Platform = &elsewhere, &elsewhere
		_, err := n.Ads.Create(background, draft)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		_, err = n.Ads.Boost(background, boost)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		ads := ok[*sdk.AdList](t)(n.Ads.List(background, &sdk.ListAdsParams{AccountID: &n.channel, Platform: &elsewhere}))
		campaigns := ok[*sdk.AdCampaignList](t)(n.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AccountID: &n.channel, Platform: &elsewhere}))
		assert.LessOrEqual(t, len(ads.Data)+len(campaigns.Data), 0)
		assert.False(t, ads.HasMore)
		assert.Nil(t, ads.NextCursor)
	})
}

// TestAdPlatform_IsFoundUnlessTwoNetworksHaveTheID makes two networks call their campaigns and ad groups the same.
func TestAdPlatform_IsFoundUnlessTwoNetworksHaveTheID(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		ad, elsewhere := n.budgeted(t, "Same"), n.otherPlatform()
		change := &sdk.AdCampaignUpdate{Budget: &sdk.AdBudgetInput{Amount: json.Number("30"), Type: "daily"}}
		changed := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Update(background, ad.CampaignID, change))
		assert.Equal(t, n.platform, changed.Platform, "found and changed")
		assert.EqualValues(t, "30.00", changed.Budget.Amount, "found and changed")
		twin := advertise(t, n.Client, elsewhere)
		other := ok[*sdk.AdCampaignList](t)(twin.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AccountID: &twin.channel})).Data[0]
		group := ok[*sdk.AdGroupList](t)(twin.AdCampaigns.ListAdGroups(background, other.ID, nil)).Data[0]
		n.server.Must(t, `UPDATE ad_campaigns SET platform_id = '`+ad.CampaignID+`' WHERE platform_id = '`+other.ID+`' AND platform = '`+string(elsewhere)+`'`)
		n.server.Must(t, `UPDATE ad_groups SET platform_id = '`+ad.AdGroupID+`' WHERE platform_id = '`+group.ID+`' AND platform = '`+string(elsewhere)+`'`)
		errs := map[string]error{}
		_, errs["get campaign"] = n.AdCampaigns.Get(background, ad.CampaignID, nil)
		_, errs["update campaign"] = n.AdCampaigns.Update(background, ad.CampaignID, change)
		_, errs["get ad group"] = n.AdGroups.Get(background, ad.AdGroupID, nil)
		_, errs["list ad groups"] = n.AdCampaigns.ListAdGroups(background, ad.CampaignID, nil)
		for what, err := range errs {
			t.Log(what)
			refused(t, err, http.StatusBadRequest, sdk.CodeParameterMissing, "platform")
		}
		paused := ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, ad.AdGroupID, n.body()))
		assert.Equal(t, n.platform, paused.Platform)
		assert.True(t, paused.Changed)
		if mine := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ad.CampaignID, &sdk.GetAdCampaignParams{Platform: &n.platform})); mine.Name != "Same" {
			t.Errorf("it is %+v", mine)
		}
		result := ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, &sdk.AdCampaignBulk{Campaigns: []sdk.AdCampaignRef{{ID: ad.CampaignID}, {ID: ad.CampaignID, Platform: string(n.platform)}}}))
		first := result.Results[0]
		require.NotNil(t, first.Error, "the results")
		assert.Equal(t, sdk.CodeParameterMissing, first.Error.Code, "the results")
		assert.Equal(t, "platform", *first.Error.Param, "the results")
		assert.EqualValues(t, "updated", result.Results[1].Outcome, "the results")
		n.server.Must(t, `UPDATE ad_campaigns SET platform_id = '`+other.ID+`' WHERE platform_id = '`+ad.CampaignID+`' AND platform = '`+string(elsewhere)+`'`)
		n.server.Must(t, `UPDATE ad_groups SET platform_id = '`+group.ID+`' WHERE platform_id = '`+ad.AdGroupID+`' AND platform = '`+string(elsewhere)+`'`)
	})
}

func TestAd_ThatTheNetworkRefusesIsNotMade(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		_, err := n.Ads.Create(background, n.draft("Refused"), fault("reject"))
		e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		words := strings.Join(e.Errors["platform"], " ")
		assert.Contains(t, words, "The sandbox was told to refuse this.", "the network's words")
		assert.NotContains(t, words, "adact_", "the network's words")
		if made := n.natives(t); len(made) != 0 {
			t.Errorf("it made %v", made)
		}
		action := ok[*sdk.AdActionList](t)(n.AdActions.List(background, nil)).Data[0]
		assert.Equal(t, sdk.AdActionStateRefused, action.State, "the action")
		assert.Nil(t, action.TargetID, "the action")
		draft := n.draft("Reviewed")
		draft.Body = new("[reject] Learn Go.")
		draft.Headline = new("[reject] Learn Go.")
		made := n.advertiser.adOf(t, draft)
		assert.Equal(t, sdk.AdStatusRejected, made.Status)
		assert.Equal(t, sdk.AdReviewStatusRejected, *made.ReviewStatus)
		assert.NotNil(t, made.RejectionReason)
	})
}

// adOf creates an ad and reads it again.
func (a advertiser) adOf(t *testing.T, draft *sdk.AdCreate) sdk.Ad {
	t.Helper()
	made := ok[*sdk.Ad](t)(a.Ads.Create(background, draft))
	for _, ad := range ok[*sdk.AdList](t)(a.Ads.List(background, &sdk.ListAdsParams{CampaignID: &made.CampaignID})).Data {
		if ad.ID == made.ID {
			return ad
		}
	}
	t.Fatalf("the ad %s is not listed", made.ID)
	return sdk.Ad{}
}
