package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
)

// advertiser is a shop with an activated channel and an ad account in dollars.
type advertiser struct {
	*shop
	channel *SocialAccount
	in      *AdAccount
}

func eachAdvertiser(t *testing.T, test func(t *testing.T, a *advertiser)) {
	eachShop(t, func(t *testing.T, s *shop) { test(t, newAdvertiser(t, s, PlatformFacebook)) })
}

func newAdvertiser(t *testing.T, s *shop, platform Platform) *advertiser {
	t.Helper()
	channel, err := s.CreateSocialAccount(t.Context(), s.account, NewSocialAccount{Platform: platform, Driver: "sandbox", Username: "ada", Token: "secret-token"})
	require.NoError(t, err)
	channel, err = s.ActivateSocialAccount(t.Context(), s.account, channel.ID)
	require.NoError(t, err)
	require.NoError(t, s.PutAdAccounts(t.Context(), channel, []AdAccount{{PlatformID: "act_1", Name: "Main", Currency: "USD", Timezone: "UTC", Status: AdAccountActive}}))
	in, err := s.GetAdAccount(t.Context(), channel, "act_1")
	require.NoError(t, err)
	return &advertiser{s, channel, in}
}

// campaign mirrors an external campaign that is on, with one ad group and ad below it. It spends so many units a day.
func (a *advertiser) campaign(t *testing.T, id string, daily AdAmount) {
	t.Helper()
	require.NoError(t, a.PutAdBatch(t.Context(), a.in, hierarchyOf(id, daily*AdUnit), a.Now()))
}

func hierarchyOf(id string, daily AdAmount) AdBatch {
	return AdBatch{
		Campaigns: []AdCampaign{{
			PlatformID: id, Name: "Campaign " + id, ConfiguredStatus: AdConfiguredActive, Status: AdStatusActive,
			Goal: AdGoalTraffic, BudgetLevel: BudgetLevelCampaign, BudgetAmount: daily, BudgetType: BudgetTypeDaily,
		}},
		Groups: []AdGroup{{PlatformID: id + "g", CampaignID: id, Name: "Group", ConfiguredStatus: AdConfiguredActive, Status: AdStatusActive}},
		Ads: []Ad{{
			PlatformID: id + "a", AdGroupID: id + "g", CampaignID: id, Name: "Ad", ConfiguredStatus: AdConfiguredActive, Status: AdStatusActive,
			Creative: core.JSONOf(AdCreative{Headline: "Read it"}),
		}},
	}
}

// begin is an ad to create with a daily budget of so many units.
func (a *advertiser) begin(units AdAmount) BeginAdAction {
	return BeginAdAction{
		Op: AdOpCreateAd, AdAccount: a.in, Plan: NewAdObject(map[string]any{"name": "New"}),
		Change: AdChange{Level: AdLevelGroup, BudgetAmount: units * AdUnit, BudgetType: BudgetTypeDaily, Param: "budget_amount"},
	}
}

func (a *advertiser) campaigns(t *testing.T, in ListAdCampaigns) *AdList[AdCampaign] {
	t.Helper()
	if in.Limit == 0 {
		in.Limit = 100
	}
	list, err := a.ListAdCampaigns(t.Context(), a.account, in)
	require.NoError(t, err)
	return list
}

func campaignIDs(list *AdList[AdCampaign]) []string {
	ids := []string{}
	for _, c := range list.Items {
		ids = append(ids, c.PlatformID)
	}
	return ids
}

// nth returns ids with a number of three digits.
func nth(prefix string, n int) string { return fmt.Sprintf("%s%03d", prefix, n) }
