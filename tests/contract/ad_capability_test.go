package contract

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/adwalk"
)

func TestListAdCapabilities_SaysWhatEachNetworkCanDo(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		list := ok[*sdk.AdCapabilityList](t)(c.Ads.ListCapabilities(background))
		var platforms []sdk.AdPlatform
		for _, network := range list.Data {
			platforms = append(platforms, network.Platform)
			assert.Equal(t, "ad_capability", network.Object)
			assert.NotEmpty(t, network.Goals)
			assert.NotEmpty(t, network.BudgetLevels)
			assert.NotZero(t, network.AudienceUsers.MaxPerCall)
			assert.NotEmpty(t, network.Creative.Required)
			for i, rule := range network.GoalRules {
				assert.Equal(t, network.Goals[i], rule.Goal)
				assert.NotEmpty(t, rule.MadeBy)
			}
			if only := network.AudienceUsers.LookalikeCountries; (network.Platform == sdk.AdPlatformPinterest) != slices.Equal(only, []string{"US", "CA", "GB"}) {
				t.Errorf("%s has lookalikes in %v only", network.Platform, only)
			}
			types := network.SearchTypes
			assert.Contains(t, types, sdk.AdTargetingTypeInterest)
			assert.Equal(t, network.Platform != sdk.AdPlatformTwitter, slices.Contains(types, sdk.AdTargetingTypeLanguage))
			assert.Equal(t, len(network.Media.Previewable) > 0, network.Previews)
			assert.NotEqual(t, network.Previews, !slices.Contains([]sdk.AdPlatform{"facebook", "instagram", "pinterest"}, network.Platform))
			if network.BusinessCenters != (network.Platform == sdk.AdPlatformTikTok) {
				t.Errorf("%s has business centers: %t", network.Platform, network.BusinessCenters)
			}
		}
		if !slices.Equal(platforms, []sdk.AdPlatform{"facebook", "instagram", "tiktok", "linkedin", "pinterest", "google", "twitter"}) {
			t.Errorf("the networks are %v", platforms)
		}
		if tiktok := list.Data[2]; tiktok.MinimumDailyBudget != "20.00" {
			t.Errorf("the minimum is %s", tiktok.MinimumDailyBudget)
		}
	})
}

// TestAdCapabilities_AreTrue asks each network for everything that its capabilities say yes to, and for what they say no to.
func TestAdCapabilities_AreTrue(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		posts := ok[*sdk.SocialPostList](t)(n.Socials.ListPosts(background, n.channel, nil)).Data
		walk := adwalk.World{
			Client: n.Client, Channel: n.channel, AdAccount: n.account, Can: n.can, Image: "https://example.com/go.png", Video: "https://example.com/go.mp4",
			Post: n.post(t, sdk.SocialPostStatusPublished), Pixel: "4711", Picture: posts[slices.IndexFunc(posts, func(p sdk.SocialPost) bool { return p.MediaURL != nil && strings.HasSuffix(*p.MediaURL, ".jpg") })].ID,
		}
		walk.Walk(t)
	})
}
