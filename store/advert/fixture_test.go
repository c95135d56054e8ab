package advert

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// advertiser is an account with an activated channel and an ad account in dollars.
type advertiser struct {
	*Store
	account string
	channel *SocialAccount
	in      *Account
}

func eachAdvertiser(t *testing.T, test func(t *testing.T, a *advertiser)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		test(t, newAdvertiser(t, New(d), dbtest.Account(t, d), PlatformFacebook))
	})
}

func newAdvertiser(t *testing.T, s *Store, account string, platform Platform) *advertiser {
	t.Helper()
	channel, err := s.ConnectSocialAccount(t.Context(), account, NewSocialAccount{Platform: platform, Driver: "sandbox", Username: "ada", SocialAccess: SocialAccess{Token: "secret-token"}})
	require.NoError(t, err)
	channel, err = s.ActivateSocialAccount(t.Context(), account, channel.ID)
	require.NoError(t, err)
	require.NoError(t, s.PutAccounts(t.Context(), channel, []Account{{PlatformID: "act_1", Name: "Main", Currency: "USD", Timezone: "UTC", Status: AccountActive}}))
	in, err := s.GetAccount(t.Context(), channel, "act_1")
	require.NoError(t, err)
	return &advertiser{s, account, channel, in}
}

// count returns the result of a SELECT count(*).
func (a *advertiser) count(t *testing.T, query string, args ...any) int {
	t.Helper()
	return dbtest.Count(t, a.db, query, args...)
}

// campaign mirrors an external campaign that is on, with one ad group and ad below it. It spends so many units a day.
func (a *advertiser) campaign(t *testing.T, id string, daily Amount) {
	t.Helper()
	require.NoError(t, a.PutBatch(t.Context(), a.in, hierarchyOf(id, daily*AmountUnit), a.Now()))
}

func hierarchyOf(id string, daily Amount) Batch {
	return Batch{
		Campaigns: []Campaign{{
			PlatformID: id, Name: "Campaign " + id, ConfiguredStatus: ConfiguredActive, Status: StatusActive,
			Goal: GoalTraffic, BudgetLevel: BudgetLevelCampaign, BudgetAmount: daily, BudgetType: BudgetTypeDaily,
		}},
		Groups: []Group{{PlatformID: id + "g", CampaignID: id, Name: "Group", ConfiguredStatus: ConfiguredActive, Status: StatusActive}},
		Ads: []Ad{{
			PlatformID: id + "a", AdGroupID: id + "g", CampaignID: id, Name: "Ad", ConfiguredStatus: ConfiguredActive, Status: StatusActive,
			Creative: core.JSONOf(Creative{Headline: "Read it"}),
		}},
	}
}

// begin is an ad to create with a daily budget of so many units.
func (a *advertiser) begin(units Amount) BeginAction {
	return BeginAction{
		Op: OpCreateAd, AdAccount: a.in, Plan: NewObject(map[string]any{"name": "New"}),
		Change: Change{Level: LevelGroup, BudgetAmount: units * AmountUnit, BudgetType: BudgetTypeDaily, Param: "budget_amount"},
	}
}

func (a *advertiser) campaigns(t *testing.T, in ListCampaigns) *List[Campaign] {
	t.Helper()
	if in.Limit == 0 {
		in.Limit = 100
	}
	list, err := a.ListCampaigns(t.Context(), a.account, in)
	require.NoError(t, err)
	return list
}

func campaignIDs(list *List[Campaign]) []string {
	ids := []string{}
	for _, c := range list.Items {
		ids = append(ids, c.PlatformID)
	}
	return ids
}

// nth returns ids with a number of three digits.
func nth(prefix string, n int) string { return fmt.Sprintf("%s%03d", prefix, n) }
