package contract

import (
	"slices"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestListAdCapabilities_SaysWhatEachNetworkCanDo(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		list := ok[*sdk.AdCapabilityList](t)(c.Ads.ListCapabilities(background))
		var platforms []sdk.AdPlatform
		for _, network := range list.Data {
			platforms = append(platforms, network.Platform)
			if network.Object != "ad_capability" || len(network.Goals) == 0 || len(network.BudgetLevels) == 0 || network.AudienceUsers.MaxPerCall == 0 || len(network.Creative.Required) == 0 {
				t.Errorf("%s can do %+v", network.Platform, network)
			}
			for i, rule := range network.GoalRules {
				if rule.Goal != network.Goals[i] || len(rule.MadeBy) == 0 {
					t.Errorf("%s pursues %s by %+v", network.Platform, network.Goals[i], rule)
				}
			}
			if only := network.AudienceUsers.LookalikeCountries; (network.Platform == sdk.AdPlatformPinterest) != slices.Equal(only, []string{"US", "CA", "GB"}) {
				t.Errorf("%s has lookalikes in %v only", network.Platform, only)
			}
			if types := network.SearchTypes; !slices.Contains(types, sdk.AdTargetingTypeInterest) ||
				slices.Contains(types, sdk.AdTargetingTypeLanguage) != (network.Platform != sdk.AdPlatformTwitter) {
				t.Errorf("%s can search for %v", network.Platform, types)
			}
			if network.Previews != (len(network.Media.Previewable) > 0) || !slices.Contains([]sdk.AdPlatform{"facebook", "instagram", "pinterest"}, network.Platform) == network.Previews {
				t.Errorf("%s has previews: %t, of %v", network.Platform, network.Previews, network.Media.Previewable)
			}
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
