package contract

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		assert.Equal(t, "social_account", made.Object, "the channel")
		assert.Equal(t, sdk.AdPlatformPinterest, made.Platform, "the channel")
		assert.Equal(t, "The Go Shop", made.DisplayName, "the channel")
		assert.Equal(t, sdk.SocialAdsStatusInactive, made.AdsStatus, "the channel")
		require.Nil(t, made.AdsActivatedAt, "the channel")
		assert.True(t, slices.Equal(made.ScopedAdAccountIDs, []string{"549755813888"}), "the channel")
		channel := ok[*sdk.SocialAccount](t)(c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: sdk.AdPlatformFacebook}))
		active := ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: channel.ID}))
		assert.Equal(t, channel.ID, active.ID, "activated, the channel")
		assert.Equal(t, sdk.SocialAdsStatusActive, active.AdsStatus, "activated, the channel")
		assert.NotNil(t, active.AdsActivatedAt, "activated, the channel")
		again := ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: channel.ID}))
		assert.Equal(t, *active.AdsActivatedAt, *again.AdsActivatedAt, "activated")
		assert.Equal(t, active.UpdatedAt, again.UpdatedAt, "activated")
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
		require.Len(t, some.Data, 1)
		assert.Equal(t, sdk.AdPlatformGoogle, some.Data[0].Platform)
		assert.Empty(t, none.Data)
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
			require.NoError(t, err)
			assert.Equal(t, other.ID, campaign.AccountID)
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
		assert.Equal(t, a.channel, synced.ID, "the channel")
		assert.Equal(t, sdk.SocialAdsStatusActive, synced.AdsStatus, "the channel")
		after := ok[*sdk.AdCampaign](t)(a.AdCampaigns.Get(background, renamed.CampaignID, nil))
		assert.True(t, strings.HasPrefix(after.Name, "Renamed"), "after the sync, the campaign")
		assert.Equal(t, sdk.AdConfiguredStatusPaused, after.ConfiguredStatus, "after the sync, the campaign")
		assert.Equal(t, sdk.AdSourceNative, after.Source, "after the sync, the campaign")
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
			assert.Equal(t, channel.ID, post.AccountID, "a post")
			assert.NotEmpty(t, post.PlatformPostID, "a post")
			assert.Equal(t, "social_post", post.Object, "a post")
			statuses[post.Status]++
		}
		assert.Equal(t, 3, statuses[sdk.SocialPostStatusPublished], "the posts")
		assert.Equal(t, 1, statuses[sdk.SocialPostStatusDraft], "the posts")
	})
}

func TestUpdateSocialAccount_TakesATokenOfTheSameProfileOnly(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformPinterest)
		list := a.audience(t, "Buyers")
		renewed := ok[*sdk.SocialAccount](t)(c.Socials.Update(background, a.channel, &sdk.SocialAccountUpdate{Token: "first"}))
		assert.Equal(t, a.channel, renewed.ID, "the channel")
		assert.Equal(t, sdk.SocialAdsStatusActive, renewed.AdsStatus, "the channel")
		require.NotNil(t, renewed.PlatformAccountID, "the channel")
		assert.Nil(t, renewed.LastError, "the channel")
		_, err := c.Socials.Update(background, a.channel, &sdk.SocialAccountUpdate{Token: "second"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "token")
		_, err = c.Socials.Update(background, a.channel, &sdk.SocialAccountUpdate{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "token")
		_, err = c.Socials.Update(background, randomID("sacct"), &sdk.SocialAccountUpdate{Token: "first"})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		again := ok[*sdk.SocialAccount](t)(c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: sdk.AdPlatformPinterest, Driver: new("sandbox"), Token: new("first")}))
		assert.Equal(t, a.channel, again.ID, "connected again, the channel")
		assert.Equal(t, sdk.SocialAdsStatusActive, again.AdsStatus, "connected again, the channel")
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
		assert.Equal(t, a.channel, deleted.ID, "the confirmation")
		assert.True(t, bool(deleted.Deleted), "the confirmation")
		assert.GreaterOrEqual(t, deleted.RunningCampaignCount, int64(1), "the confirmation")
		assert.GreaterOrEqual(t, deleted.RunningAdCount, int64(1), "the confirmation")
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
		assert.Equal(t, a.channel, again.ID, "connected again, the channel")
		assert.Equal(t, sdk.SocialAdsStatusInactive, again.AdsStatus, "connected again, the channel")
		ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: a.channel}))
		if got := ok[*sdk.AdCampaign](t)(c.AdCampaigns.Get(background, ad.CampaignID, nil)); got.ID != ad.CampaignID {
			t.Errorf("the campaign is %+v", got)
		}
	})
}
