package contract

import (
	"net/http"
	"net/url"
	"testing"

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
	if begun.Object != "social_connection" || begun.Status != sdk.SocialConnectionStatusPending || begun.URL == nil || begun.AccountID != nil || len(begun.Profiles) != 0 {
		t.Fatalf("the connection is %+v", begun)
	}
	page := ok[*url.URL](t)(url.Parse(*begun.URL))
	if page.Host != "shop.test" || page.Path != "/connect/"+string(platform)+"/sandbox" {
		t.Errorf("the page is at %s", page)
	}
	in := ads.ConsentReturn{Platform: string(platform), State: page.Query().Get("state"), Code: ads.Secret(of + "." + page.Query().Get("code_challenge"))}
	if _, err := s.Ads.FollowConsent(background, in); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Ads.FollowConsent(background, in); err != nil || again != nil {
		t.Errorf("the same answer is taken twice: %+v %v", again, err)
	}
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
			if one.Status != sdk.SocialConnectionStatusConnected || one.AccountID == nil {
				t.Fatalf("%s: the connection is %+v", platform, one)
			}
			channel := ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: *one.AccountID}))
			if channel.TokenExpiresAt == nil || len(channel.Scopes) == 0 || channel.PlatformAccountID == nil {
				t.Errorf("%s: the channel is %+v", platform, channel)
			}
			campaigns := ok[*sdk.AdCampaignList](t)(c.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AccountID: &channel.ID}))

			several := consent(t, c, s, platform, "several")
			if several.Status != sdk.SocialConnectionStatusChoose || len(several.Profiles) != 2 || several.AccountID != nil {
				t.Fatalf("%s: the connection is %+v", platform, several)
			}
			_, err := c.Socials.SelectProfile(background, several.ID, &sdk.SocialProfileSelect{PlatformAccountID: "none"})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform_account_id")
			same := ok[*sdk.SocialConnection](t)(c.Socials.SelectProfile(background, several.ID, &sdk.SocialProfileSelect{PlatformAccountID: *channel.PlatformAccountID}))
			if same.Status != sdk.SocialConnectionStatusConnected || *same.AccountID != channel.ID {
				t.Errorf("%s: the profile that is connected already became %+v", platform, same)
			}
			again := ok[*sdk.AdCampaignList](t)(c.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AccountID: &channel.ID}))
			if len(again.Data) != len(campaigns.Data) || len(again.Data) == 0 {
				t.Errorf("%s: of %d campaigns %d are left", platform, len(campaigns.Data), len(again.Data))
			}
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
		if err != nil || denied == nil {
			t.Fatal(denied, err)
		}
		if got := ok[*sdk.SocialConnection](t)(c.Socials.GetConnection(background, local.ID)); got.Status != sdk.SocialConnectionStatusDenied || got.AccountID != nil {
			t.Errorf("denied, it is %+v", got)
		}
	})
}
