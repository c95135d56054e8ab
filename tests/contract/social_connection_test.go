package contract

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// consent begins a connection on a platform, and comes back with the code that the sandbox's page gives for one profile or several.
func consent(t *testing.T, c *sdk.Client, s *harness.Server, platform sdk.AdPlatform, of string) *sdk.SocialConnection {
	t.Helper()
	begun := ok[*sdk.SocialConnection](t)(c.Socials.CreateConnection(background, &sdk.SocialConnectionCreate{
		Platform: platform, Driver: new("sandbox"), ReturnURL: "https://shop.test/back",
	}))
	require.Equal(t, "social_connection", begun.Object, "the connection")
	require.Equal(t, sdk.SocialConnectionStatusPending, begun.Status, "the connection")
	require.NotNil(t, begun.URL, "the connection")
	require.Nil(t, begun.AccountID, "the connection")
	require.Empty(t, begun.Profiles, "the connection")
	page := ok[*url.URL](t)(url.Parse(*begun.URL))
	assert.Equal(t, "shop.test", page.Host, "the page")
	assert.Equal(t, "/connect/"+string(platform)+"/sandbox", page.Path, "the page")
	in := ads.ConsentReturn{Platform: string(platform), State: page.Query().Get("state"), Code: ads.Secret(of + "." + page.Query().Get("code_challenge"))}
	if _, err := s.Ads.FollowConsent(background, in); err != nil {
		t.Fatal(err)
	}
	again, err := s.Ads.FollowConsent(background, in)
	require.NoError(t, err)
	assert.Nil(t, again)
	known := ok[*sdk.SocialConnection](t)(c.Socials.GetConnection(background, begun.ID))
	if known.URL != nil {
		t.Error("the address with the state is told twice")
	}
	return known
}

// hasWebsite gives an account the website to which people are sent back.
func hasWebsite(t *testing.T, c *sdk.Client) {
	t.Helper()
	ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{WebsiteURL: sdk.Set("https://shop.test")}))
}

func TestCreateSocialConnection_ConnectsOnEveryNetwork(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		hasWebsite(t, c)
		for _, platform := range []sdk.AdPlatform{"facebook", "instagram", "tiktok", "linkedin", "pinterest", "google", "twitter"} {
			one := consent(t, c, s, platform, "one")
			require.Equal(t, sdk.SocialConnectionStatusConnected, one.Status, "%s: the connection", platform)
			require.NotNil(t, one.AccountID, "%s: the connection", platform)
			channel := ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: *one.AccountID}))
			require.NotNil(t, channel.TokenExpiresAt, "%s: the channel", platform)
			require.NotEmpty(t, channel.Scopes, "%s: the channel", platform)
			assert.NotNil(t, channel.PlatformAccountID, "%s: the channel", platform)
			campaigns := ok[*sdk.AdCampaignList](t)(c.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AccountID: &channel.ID}))

			several := consent(t, c, s, platform, "several")
			require.Equal(t, sdk.SocialConnectionStatusChoose, several.Status, "%s: the connection", platform)
			require.Len(t, several.Profiles, 2, "%s: the connection", platform)
			require.Nil(t, several.AccountID, "%s: the connection", platform)
			_, err := c.Socials.SelectProfile(background, several.ID, &sdk.SocialProfileSelect{PlatformAccountID: "none"})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform_account_id")
			same := ok[*sdk.SocialConnection](t)(c.Socials.SelectProfile(background, several.ID, &sdk.SocialProfileSelect{PlatformAccountID: *channel.PlatformAccountID}))
			assert.Equal(t, sdk.SocialConnectionStatusConnected, same.Status, "%s: the profile that is connected already", platform)
			assert.Equal(t, channel.ID, *same.AccountID, "%s: the profile that is connected already", platform)
			again := ok[*sdk.AdCampaignList](t)(c.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AccountID: &channel.ID}))
			require.Len(t, again.Data, len(campaigns.Data), platform)
			assert.NotEmpty(t, again.Data, platform)
			_, err = c.Socials.SelectProfile(background, several.ID, &sdk.SocialProfileSelect{PlatformAccountID: several.Profiles[1].PlatformAccountID})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		}
	})
}

func TestCreateSocialConnection_SaysWhatIsWrong(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		for _, wrong := range []string{"https://evil.example/", "http://shop.test/", "shop.test", "https://shop.test@evil.example/"} {
			_, err := c.Socials.CreateConnection(background, &sdk.SocialConnectionCreate{Platform: "facebook", ReturnURL: wrong})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "return_url")
		}
		local := ok[*sdk.SocialConnection](t)(c.Socials.CreateConnection(background, &sdk.SocialConnectionCreate{Platform: "facebook", ReturnURL: "http://localhost:3000/back"}))
		_, err := c.Socials.CreateConnection(background, &sdk.SocialConnectionCreate{Platform: "facebook", Driver: new("meta"), ReturnURL: "https://shop.test"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "driver")
		_, err = c.Socials.SelectProfile(background, local.ID, &sdk.SocialProfileSelect{PlatformAccountID: "1"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")

		page := ok[*url.URL](t)(url.Parse(*local.URL))
		denied, err := s.Ads.FollowConsent(background, ads.ConsentReturn{Platform: "facebook", State: page.Query().Get("state"), Error: "access_denied"})
		require.NoError(t, err)
		require.NotNil(t, denied)
		got := ok[*sdk.SocialConnection](t)(c.Socials.GetConnection(background, local.ID))
		assert.Equal(t, sdk.SocialConnectionStatusDenied, got.Status, "denied")
		assert.Nil(t, got.AccountID, "denied")
	})
}
