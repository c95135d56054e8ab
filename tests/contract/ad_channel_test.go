package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// byChannel are the operations that name a channel, given its id.
func (n onNetwork) byChannel(channel string) map[string]error {
	a := n.advertiser
	a.channel = channel
	boost := n.boost("spost")
	boost.AccountID = channel
	errs := map[string]error{}
	_, errs["list ads"] = n.Ads.List(background, &sdk.ListAdsParams{AccountID: &channel})
	_, errs["list campaigns"] = n.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AccountID: &channel})
	_, errs["list ad accounts"] = n.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: channel})
	_, errs["list audiences"] = n.AdAudiences.List(background, &sdk.ListAdAudiencesParams{AccountID: channel, AdAccountID: n.account})
	_, errs["list business centers"] = n.BusinessCenters.List(background, &sdk.ListBusinessCentersParams{AccountID: channel})
	_, errs["create ad"] = n.Ads.Create(background, a.draft("x"))
	_, errs["plan ad"] = n.Ads.PlanCreate(background, a.draft("x"))
	_, errs["boost"] = n.Ads.Boost(background, boost)
	_, errs["create audience"] = n.AdAudiences.Create(background, &sdk.AdAudienceCreate{AccountID: channel, AdAccountID: n.account, Name: "x", Type: "customer_list"})
	return errs
}

// byID are the operations that name something of a network, given its ids.
func (n onNetwork) byID(campaign, group, audience string) map[string]error {
	bulk := &sdk.AdCampaignBulk{Campaigns: []sdk.AdCampaignRef{{ID: campaign}}}
	errs := map[string]error{}
	_, errs["get campaign"] = n.AdCampaigns.Get(background, campaign, nil)
	_, errs["update campaign"] = n.AdCampaigns.Update(background, campaign, &sdk.AdCampaignUpdate{Platform: &n.platform})
	_, errs["delete campaign"] = n.AdCampaigns.Delete(background, campaign, n.body())
	_, errs["list ad groups"] = n.AdCampaigns.ListAdGroups(background, campaign, nil)
	_, errs["get ad group"] = n.AdGroups.Get(background, group, nil)
	_, errs["update ad group"] = n.AdGroups.Update(background, group, &sdk.AdGroupUpdate{Platform: &n.platform})
	_, errs["pause ad group"] = n.AdGroups.Pause(background, group, n.body())
	_, errs["resume ad group"] = n.AdGroups.Resume(background, group, n.body())
	_, errs["get audience"] = n.AdAudiences.Get(background, audience)
	_, errs["delete audience"] = n.AdAudiences.Delete(background, audience)
	_, errs["remove users"] = n.AdAudiences.RemoveUsers(background, audience, &sdk.AdAudienceUsers{Users: []sdk.AdAudienceUser{{Email: new("ada@example.com")}}})
	_, errs["upload users"] = n.AdAudiences.UploadUsers(background, audience, &sdk.AdAudienceUsers{Users: []sdk.AdAudienceUser{{Email: new("ada@example.com")}}})
	_, errs["bulk pause"] = n.AdCampaigns.BulkPause(background, bulk)
	_, errs["bulk resume"] = n.AdCampaigns.BulkResume(background, bulk)
	return errs
}

// TestAds_AnswerAlikeForEveryChannelThatIsNotTheirs is so that nobody can ask which channels others have.
func TestAds_AnswerAlikeForEveryChannelThatIsNotTheirs(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		stranger := newOnNetwork(t, n.server, n.platform)
		idle := ok[*sdk.SocialAccount](t)(stranger.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: n.platform})).ID
		told := map[string]string{}
		for _, id := range []string{randomID("sacct"), stranger.channel, idle, "12345", randomID("prod"), strings.TrimPrefix(n.channel, "sacct_")} {
			for what, err := range n.byChannel(id) {
				e := refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "account_id")
				message := strings.ReplaceAll(e.Message, id, "X")
				if told[what] == "" {
					told[what] = message
				}
				assert.Equal(t, told[what], message, id)
				assert.Equal(t, "invalid_request_error", e.Type, id)
			}
		}
	})
}

func TestAds_NameTheActivationThatAChannelLacks(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		idle := ok[*sdk.SocialAccount](t)(n.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: n.platform})).ID
		for what, err := range n.byChannel(idle) {
			e := refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
			assert.Equal(t, "invalid_request_error", e.Type, what)
			assert.Contains(t, e.Message, "POST /socials/activate", what)
		}
	})
}

// TestAds_NeedAnActivatedChannelBeforeAnythingElse asks without one for what there is not, and for everything.
func TestAds_NeedAnActivatedChannelBeforeAnythingElse(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		n.Client = n.server.SDK(t)
		check := func() {
			errs := n.byID("1", "1", randomID("aud"))
			_, errs["list ads"] = n.Ads.List(background, nil)
			_, errs["list campaigns"] = n.AdCampaigns.List(background, nil)
			for what, err := range errs {
				t.Log(what)
				refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
			}
		}
		check()
		ok[*sdk.SocialAccount](t)(n.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: n.platform}))
		check()
	})
}

func TestAds_OfADeactivatedChannelAreOutOfReach(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad, audience := n.ad(t, "Left behind"), n.audience(t, "Left behind")
		other := advertise(t, n.Client, n.otherPlatform())
		ok[*sdk.SocialAccount](t)(n.Socials.Deactivate(background, n.channel))
		for what, err := range n.byID(ad.CampaignID, ad.AdGroupID, audience.ID) {
			switch what {
			case "bulk pause", "bulk resume": // they have a result for each
			default:
				refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
			}
		}
		result := ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, &sdk.AdCampaignBulk{Campaigns: []sdk.AdCampaignRef{{ID: ad.CampaignID}}}))
		item := result.Results[0]
		assert.Equal(t, sdk.AdBulkItemOutcomeFailed, item.Outcome)
		assert.Equal(t, sdk.CodeAccountNotActivated, item.Error.Code)
		assert.False(t, item.Error.Retryable)
		for what, err := range n.byChannel(n.channel) {
			t.Log(what)
			refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
		}
		shown := 0
		for ad, err := range sdk.All(background, n.Ads.List, nil) {
			require.NoError(t, err)
			require.Equal(t, other.channel, ad.AccountID)
			shown++
		}
		if shown == 0 {
			t.Error("the list of all channels is empty")
		}
		ok[*sdk.SocialAccount](t)(n.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: n.channel}))
		again := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ad.CampaignID, nil))
		assert.Equal(t, sdk.AdStatusActive, again.Status, "activated again, the channel's campaign")
		assert.Equal(t, sdk.AdSourceNative, again.Source, "activated again, the channel's campaign")
	})
}

func TestAdLists_NeedTheirChannel(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformTikTok, func(t *testing.T, n onNetwork) {
		for path, param := range map[string]string{
			"/v1/ads/ad-accounts": "account_id", "/v1/ads/business-centers": "account_id", "/v1/ads/audiences?ad_account_id=1": "account_id",
			"/v1/ads/audiences?account_id=" + n.channel: "ad_account_id", "/v1/ads/audiences": "account_id",
		} {
			n.refusedText(t, http.MethodGet, path, "", http.StatusBadRequest, sdk.CodeParameterMissing, param)
		}
	})
}

// TestAdPaths_AreNotTakenForIDs asks for every fixed path under /ads with the wrong method, and for what is none.
func TestAdPaths_AreNotTakenForIDs(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		fixed := map[string]bool{}
		for _, op := range harness.Operations() {
			if strings.HasPrefix(op.Path, "/v1/ads") && !strings.Contains(op.Path, "{") {
				fixed[op.Path] = true
			}
		}
		if len(fixed) < 10 {
			t.Fatalf("the fixed paths are %v", fixed)
		}
		for path := range fixed {
			n.raw.Do(t, http.MethodPut, path, map[string]any{}).Fault(t, http.StatusMethodNotAllowed, sdk.CodeMethodNotAllowed)
		}
		n.raw.Do(t, http.MethodGet, "/v1/ads/boost", nil).Fault(t, http.StatusMethodNotAllowed, sdk.CodeMethodNotAllowed)
		n.raw.Do(t, http.MethodGet, "/v1/ads/nothing/"+n.ad(t, "Alone").ID, nil).Fault(t, http.StatusNotFound, sdk.CodeResourceMissing)
	})
}

// TestAdIDs_AreOpaque asks for what each network calls by an id of its own kind.
func TestAdIDs_AreOpaque(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "Own id")
		if want := map[sdk.AdPlatform]string{"facebook": "act_", "instagram": "act_", "linkedin": "urn:li:"}[n.platform]; !strings.HasPrefix(n.account, want) {
			t.Errorf("the ad account is %s", n.account)
		}
		one := ok[*sdk.AdAccountList](t)(n.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: n.channel, AdAccountID: &n.account}))
		require.Len(t, one.Data, 1, "the ad account is listed")
		assert.Equal(t, n.account, one.Data[0].ID, "the ad account is listed")
		if campaign := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ad.CampaignID, nil)); campaign.ID != ad.CampaignID {
			t.Errorf("the campaign is %s", campaign.ID)
		}
		group := ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, ad.AdGroupID, nil))
		assert.Equal(t, ad.AdGroupID, group.ID, "the ad group")
		assert.Equal(t, ad.CampaignID, group.CampaignID, "the ad group")
		encoded := n.raw.Must(t, http.MethodGet, "/v1/ads/campaigns/"+percentEncoded(ad.CampaignID)+"/ad-groups", nil)["data"].([]any)
		require.Len(t, encoded, 1, "the ad groups")
		assert.Equal(t, ad.AdGroupID, encoded[0].(map[string]any)["id"], "the ad groups")
	})
}
