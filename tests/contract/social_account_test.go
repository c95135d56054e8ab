package contract

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// activated connects a channel and activates it for ads.
func activated(t *testing.T, c *sdk.Client, platform sdk.AdPlatform) *sdk.SocialAccount {
	t.Helper()
	channel := ok[*sdk.SocialAccount](t)(c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: platform}))
	return ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: channel.ID}))
}

func TestConnectSocialAccount_IsInactiveUntilItIsActivated(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.SocialAccount](t)(c.Socials.Connect(background, &sdk.SocialAccountConnect{
			Platform: sdk.AdPlatformPinterest, DisplayName: new("The Go Shop"), Driver: new("sandbox"), Token: new("secret"), ScopedAdAccountIDs: []string{"549755813888"},
		}))
		if made.Object != "social_account" || made.Platform != sdk.AdPlatformPinterest || made.DisplayName != "The Go Shop" ||
			made.AdsStatus != sdk.SocialAdsStatusInactive || made.AdsActivatedAt != nil || !slices.Equal(made.ScopedAdAccountIDs, []string{"549755813888"}) {
			t.Errorf("the channel is %+v", made)
		}
		channel := ok[*sdk.SocialAccount](t)(c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: sdk.AdPlatformFacebook}))
		active := ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: channel.ID}))
		if active.ID != channel.ID || active.AdsStatus != sdk.SocialAdsStatusActive || active.AdsActivatedAt == nil {
			t.Errorf("activated, the channel is %+v", active)
		}
		again := ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: channel.ID}))
		if *again.AdsActivatedAt != *active.AdsActivatedAt || again.UpdatedAt != active.UpdatedAt {
			t.Errorf("activated again, it is %+v", again)
		}
		if got := ok[*sdk.SocialAccount](t)(c.Socials.Get(background, channel.ID)); got.AdsStatus != sdk.SocialAdsStatusActive {
			t.Errorf("read, it is %+v", got)
		}
	})
}

func TestConnectSocialAccount_KnowsTheSevenNetworks(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for _, platform := range []sdk.AdPlatform{"facebook", "instagram", "tiktok", "linkedin", "pinterest", "google", "twitter"} {
			activated(t, c, platform)
		}
		_, err := c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: "myspace"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		_, err = c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: randomID("sacct")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "account_id")
		var listed []sdk.AdPlatform
		for channel, err := range sdk.All(background, c.Socials.List, &sdk.ListSocialAccountsParams{Limit: new(int64(3))}) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, channel.Platform)
		}
		if !slices.Equal(listed, []sdk.AdPlatform{"twitter", "google", "pinterest", "linkedin", "tiktok", "instagram", "facebook"}) {
			t.Errorf("the list is %v", listed)
		}
		some := ok[*sdk.SocialAccountList](t)(c.Socials.List(background, &sdk.ListSocialAccountsParams{Platform: new(sdk.AdPlatformGoogle)}))
		none := ok[*sdk.SocialAccountList](t)(c.Socials.List(background, &sdk.ListSocialAccountsParams{AdsStatus: new(sdk.SocialAdsStatusInactive)}))
		if len(some.Data) != 1 || some.Data[0].Platform != sdk.AdPlatformGoogle || len(none.Data) != 0 {
			t.Errorf("filtered, the lists are %+v and %+v", some.Data, none.Data)
		}
	})
}

func TestDeactivateSocialAccount_EndsTheAccessToItsAds(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		channel := activated(t, c, sdk.AdPlatformFacebook)
		other := activated(t, c, sdk.AdPlatformGoogle)
		found := ok[*sdk.AdCampaignList](t)(c.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AccountID: &channel.ID}))
		if len(found.Data) == 0 {
			t.Fatal("the activated channel has no campaigns")
		}
		off := ok[*sdk.SocialAccount](t)(c.Socials.Deactivate(background, channel.ID))
		if off.AdsStatus != sdk.SocialAdsStatusInactive {
			t.Errorf("deactivated, the channel is %+v", off)
		}
		_, err := c.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AccountID: &channel.ID})
		refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
		_, err = c.AdCampaigns.Get(background, found.Data[0].ID, nil)
		refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
		_, err = c.Socials.Sync(background, channel.ID)
		refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
		for campaign, err := range sdk.All(background, c.AdCampaigns.List, nil) {
			if err != nil || campaign.AccountID != other.ID {
				t.Errorf("the list of every channel shows %+v, %v", campaign, err)
			}
		}
		ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: channel.ID}))
		ok[*sdk.AdCampaign](t)(c.AdCampaigns.Get(background, found.Data[0].ID, nil))
	})
}

func TestSyncSocialAccount_FindsWhatChangedElsewhere(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		renamed, deleted := a.ad(t, "Here"), a.ad(t, "Gone")
		a.drift(t, renamed.CampaignID, sdk.AdDriftKindRename)
		a.drift(t, renamed.CampaignID, sdk.AdDriftKindPause)
		a.drift(t, deleted.CampaignID, sdk.AdDriftKindDelete)
		if before := ok[*sdk.AdCampaign](t)(a.AdCampaigns.Get(background, renamed.CampaignID, nil)); before.Name != "Here" {
			t.Errorf("before the sync, the campaign is called %s", before.Name)
		}
		synced := ok[*sdk.SocialAccount](t)(a.Socials.Sync(background, a.channel))
		if synced.ID != a.channel || synced.AdsStatus != sdk.SocialAdsStatusActive {
			t.Errorf("the channel is %+v", synced)
		}
		after := ok[*sdk.AdCampaign](t)(a.AdCampaigns.Get(background, renamed.CampaignID, nil))
		if !strings.HasPrefix(after.Name, "Renamed") || after.ConfiguredStatus != sdk.AdConfiguredStatusPaused || after.Source != sdk.AdSourceNative {
			t.Errorf("after the sync, the campaign is %+v", after)
		}
		if gone := ok[*sdk.AdCampaign](t)(a.AdCampaigns.Get(background, deleted.CampaignID, nil)); gone.Status != sdk.AdStatusCancelled {
			t.Errorf("the campaign that was deleted elsewhere is %s", gone.Status)
		}
	})
}

func TestListSocialPosts_ShowsWhatCanBeBoosted(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		channel := activated(t, c, sdk.AdPlatformInstagram)
		statuses := map[sdk.SocialPostStatus]int{}
		for post, err := range sdk.All(background, func(ctx context.Context, p *sdk.ListSocialPostsParams, o ...sdk.Option) (*sdk.SocialPostList, error) {
			return c.Socials.ListPosts(ctx, channel.ID, p, o...)
		}, &sdk.ListSocialPostsParams{Limit: new(int64(1))}) {
			if err != nil {
				t.Fatal(err)
			}
			if post.AccountID != channel.ID || post.PlatformPostID == "" || post.Object != "social_post" {
				t.Errorf("a post is %+v", post)
			}
			statuses[post.Status]++
		}
		if statuses[sdk.SocialPostStatusPublished] != 3 || statuses[sdk.SocialPostStatusDraft] != 1 {
			t.Errorf("the posts are %v", statuses)
		}
	})
}

func TestUpdateSocialAccount_TakesATokenOfTheSameProfileOnly(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformPinterest)
		list := a.audience(t, "Buyers")
		renewed := ok[*sdk.SocialAccount](t)(c.Socials.Update(background, a.channel, &sdk.SocialAccountUpdate{Token: "first"}))
		if renewed.ID != a.channel || renewed.AdsStatus != sdk.SocialAdsStatusActive || renewed.PlatformAccountID == nil || renewed.LastError != nil {
			t.Errorf("the channel is %+v", renewed)
		}
		_, err := c.Socials.Update(background, a.channel, &sdk.SocialAccountUpdate{Token: "second"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "token")
		_, err = c.Socials.Update(background, a.channel, &sdk.SocialAccountUpdate{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "token")
		_, err = c.Socials.Update(background, randomID("sacct"), &sdk.SocialAccountUpdate{Token: "first"})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		again := ok[*sdk.SocialAccount](t)(c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: sdk.AdPlatformPinterest, Driver: new("sandbox"), Token: new("first")}))
		if again.ID != a.channel || again.AdsStatus != sdk.SocialAdsStatusActive {
			t.Errorf("connected again, the channel is %+v", again)
		}
		if kept := ok[*sdk.AdAudience](t)(c.AdAudiences.Get(background, list.ID)); kept.AccountID != a.channel {
			t.Errorf("the audience is %+v", kept)
		}
	})
}

func TestDeleteSocialAccount_SaysWhatRunsOnAndComesBackWhenItIsConnected(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		connect := &sdk.SocialAccountConnect{Platform: sdk.AdPlatformFacebook, Driver: new("sandbox"), Token: new("first")}
		ok[*sdk.SocialAccount](t)(c.Socials.Update(background, a.channel, &sdk.SocialAccountUpdate{Token: *connect.Token}))
		ad := a.ad(t, "Runs on")
		deleted := ok[*sdk.DeletedSocialAccount](t)(c.Socials.Delete(background, a.channel))
		if deleted.ID != a.channel || !deleted.Deleted || deleted.RunningCampaignCount < 1 || deleted.RunningAdCount < 1 {
			t.Errorf("the confirmation is %+v", deleted)
		}
		_, err := c.Socials.Get(background, a.channel)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		_, err = c.Socials.Delete(background, a.channel)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		_, err = c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: a.channel})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "account_id")
		if left := ok[*sdk.SocialAccountList](t)(c.Socials.List(background, nil)); len(left.Data) != 0 {
			t.Errorf("the list is %+v", left.Data)
		}
		again := ok[*sdk.SocialAccount](t)(c.Socials.Connect(background, connect))
		if again.ID != a.channel || again.AdsStatus != sdk.SocialAdsStatusInactive {
			t.Errorf("connected again, the channel is %+v", again)
		}
		ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: a.channel}))
		if got := ok[*sdk.AdCampaign](t)(c.AdCampaigns.Get(background, ad.CampaignID, nil)); got.ID != ad.CampaignID {
			t.Errorf("the campaign is %+v", got)
		}
	})
}
