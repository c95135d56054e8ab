package contract

import (
	"encoding/json"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// sent returns the budget that a plan would send, in the network's own writing.
func sent(t *testing.T, plan *sdk.AdPlan) string {
	t.Helper()
	for _, call := range plan.Calls {
		if wire, has := call.Fields["budget_sent"]; has {
			return wire
		}
	}
	t.Fatalf("the plan sends no budget: %+v", plan.Calls)
	return ""
}

// TestAdBudget_IsInWholeUnits is the promise that costs most when it is broken. On the network as well as in every
// answer, 20 is 20.00 and 2000 is 2000.00.
func TestAdBudget_IsInWholeUnits(t *testing.T) {
	wire := map[sdk.AdPlatform][3]string{
		"facebook": {"2000", "200000", "2050"}, "instagram": {"2000", "200000", "2050"}, "tiktok": {"20", "2000", "20.5"},
		"linkedin": {`"20.00"`, `"2000.00"`, `"20.50"`}, "pinterest": {"20000000", "2000000000", "20500000"},
		"google": {"20000000", "2000000000", "20500000"}, "twitter": {"20000000", "2000000000", "20500000"},
	}
	onNetworks(t, func(t *testing.T, n onNetwork) {
		for i, c := range []struct{ asked, shown, formatted string }{
			{"20", "20.00", "20.00 USD"}, {"2000", "2000.00", "2000.00 USD"}, {"20.5", "20.50", "20.50 USD"},
		} {
			draft := n.draft("Whole " + c.asked)
			draft.BudgetAmount, draft.Currency = amount(c.asked), new("usd")
			plan := ok[*sdk.AdPlan](t)(n.Ads.PlanCreate(background, draft))
			if got := sent(t, plan); got != wire[n.platform][i] {
				t.Errorf("%s is sent as %s", c.asked, got)
			}
			ad := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
			campaign := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ad.CampaignID, nil))
			group := ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, ad.AdGroupID, nil))
			budgets := map[string]*sdk.AdBudget{"ad": ad.Budget, "campaign": campaign.Budget, "ad group": group.Budget}
			delete(budgets, map[sdk.AdBudgetLevel]string{"ad_group": "campaign", "campaign": "ad group"}[ad.BudgetLevel])
			for what, budget := range budgets {
				require.NotNil(t, budget, what)
				assert.Equal(t, c.shown, string(budget.Amount), what)
				assert.Equal(t, c.formatted, budget.Formatted, what)
			}
			assert.Equal(t, "usd", ad.Currency)
			assert.Equal(t, "usd", campaign.Currency)
			assert.Equal(t, "usd", group.Currency)
		}
	})
}

// TestAdBudget_OfACurrencyWithoutDecimals is where a table by ISO 4217, or of a hundred for all, spends a hundredfold.
func TestAdBudget_OfACurrencyWithoutDecimals(t *testing.T) {
	wire := map[sdk.AdPlatform]string{
		"facebook": "2000", "instagram": "2000", "tiktok": "2000", "linkedin": `"2000.00"`,
		"pinterest": "2000000000", "google": "2000000000", "twitter": "2000000000",
	}
	onNetworks(t, func(t *testing.T, n onNetwork) {
		n = n.inCurrency(t, "jpy")
		draft := n.draft("Yen")
		draft.BudgetAmount = amount("2000")
		if got := sent(t, ok[*sdk.AdPlan](t)(n.Ads.PlanCreate(background, draft))); got != wire[n.platform] {
			t.Errorf("2000 yen are sent as %s", got)
		}
		ad := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
		assert.EqualValues(t, "2000.00", ad.Budget.Amount)
		assert.Equal(t, "2000 JPY", ad.Budget.Formatted)
		assert.Equal(t, "jpy", ad.Currency)
		for _, odd := range []string{"2000.5", "2000.55", "2000.01"} {
			draft.BudgetAmount = amount(odd)
			_, err := n.Ads.Create(background, draft)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget_amount")
		}
		draft.BudgetAmount, draft.Currency = amount("2000"), new("usd")
		_, err := n.Ads.Create(background, draft)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "currency")
	})
}

func TestAdBudget_IsAnAmountThatTheNetworkTakes(t *testing.T) {
	least := map[sdk.AdPlatform][2]string{
		"facebook": {"0.99", "1"}, "instagram": {"0.99", "1"}, "tiktok": {"19.99", "20"}, "linkedin": {"0.99", "1"},
		"pinterest": {"4.99", "5"}, "google": {"0.99", "1"}, "twitter": {"0.99", "1"},
	}
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		post := n.post(t, sdk.SocialPostStatusPublished)
		wrong := []string{"0", "-20", "0.00", "20.001", "20.005", "1e3", "99999999999999999999", least[n.platform][0]}
		unchanged(t, n.server, "a wrong amount", func() {
			for _, figure := range wrong {
				n.refusedText(t, http.MethodPost, "/v1/ads", n.filled(t, n.draft("x"), "budget_amount", figure), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget_amount")
				n.refusedText(t, http.MethodPost, "/v1/ads/boost", n.filled(t, n.boost(post), "budget.amount", figure), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget.amount")
			}
			for _, figure := range []string{"NaN", "Infinity", "-Infinity", "1E400"} {
				f := n.send(t, http.MethodPost, "/v1/ads", n.filled(t, n.draft("x"), "budget_amount", figure)).Fault(t, http.StatusBadRequest, sdk.CodeBadRequest)
				if f.Message == "" {
					t.Errorf("%s is refused without a word", figure)
				}
			}
		})
		enough := n.draft("Enough")
		enough.BudgetAmount = amount(least[n.platform][1])
		ok[*sdk.Ad](t)(n.Ads.Create(background, enough))
		ad := n.budgeted(t, "Change")
		for _, figure := range append(wrong[:5], least[n.platform][0]) {
			_, err := n.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Platform: &n.platform, Budget: &sdk.AdBudgetInput{Amount: json.Number(figure), Type: "daily"}})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget.amount")
		}
	})
}

func TestAdBudget_OfALifetimeNeedsAnEnd(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		day := func(days int) *string { return new(time.Now().AddDate(0, 0, days).Format(time.DateOnly)) }
		lifetime := func() *sdk.AdCreate {
			draft := n.draft("Lifetime")
			draft.BudgetType, draft.BudgetAmount = new(sdk.AdBudgetTypeLifetime), amount("700")
			return draft
		}
		for _, change := range []func(*sdk.AdCreate){
			func(*sdk.AdCreate) {},
			func(d *sdk.AdCreate) { d.EndDate = new("soon") },
			func(d *sdk.AdCreate) { d.EndDate = new("2026-13-01") },
			func(d *sdk.AdCreate) { d.EndDate = new("2027-02-30") },
			func(d *sdk.AdCreate) { d.EndDate = day(-3) },
			func(d *sdk.AdCreate) { d.StartDate, d.EndDate = day(10), day(8) },
		} {
			draft := lifetime()
			change(draft)
			_, err := n.Ads.Create(background, draft)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "end_date")
		}
		for _, end := range []*string{day(-3), new("soon")} { // a daily one may have an end, too
			draft := n.draft("Daily")
			draft.EndDate = end
			_, err := n.Ads.Create(background, draft)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "end_date")
		}
		draft := lifetime()
		draft.EndDate = day(10)
		ad := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
		assert.Equal(t, *draft.EndDate, *ad.Schedule.EndDate)
		assert.Equal(t, sdk.AdBudgetTypeLifetime, ad.Budget.Type)
		assert.EqualValues(t, "700.00", ad.Budget.Amount)
	})
}

// TestBoost_OfALifetimeBudgetEndsByItself boosts without an end, lets the time pass, and looks at what was spent.
func TestBoost_OfALifetimeBudgetEndsByItself(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		var all []boosted
		for _, platform := range adNetworks {
			all = append(all, newOnNetwork(t, s, platform).boostThree(t)...)
		}
		s.Clock.GoOn()
		s.Clock.SetAhead(30 * 24 * time.Hour)
		for _, made := range all {
			after := ok[*sdk.AdList](t)(made.Ads.List(background, &sdk.ListAdsParams{CampaignID: &made.ad.CampaignID})).Data[0]
			spend, _ := new(big.Rat).SetString(string(*after.Metrics.Spend))
			assert.Equal(t, sdk.AdStatusCompleted, after.Status, "%s: a month later the boost until", made.platform)
			assert.Greater(t, spend.Sign(), 0, "%s: a month later the boost until", made.platform)
			assert.LessOrEqual(t, spend.Cmp(big.NewRat(280, 1)), 0, "%s: a month later the boost until", made.platform)
		}
	})
}

type boosted struct {
	onNetwork
	ad *sdk.Ad
}

// boostThree makes boosts with lifetime budgets, that end by default, after some days, and on a day.
func (n onNetwork) boostThree(t *testing.T) []boosted {
	t.Helper()
	post, last := n.post(t, sdk.SocialPostStatusPublished), n.lastDay(t)
	boost := func(end string, change func(*sdk.AdBoost)) boosted {
		b := n.boost(post)
		b.Budget = sdk.AdBudgetInput{Amount: "280", Type: sdk.AdBudgetTypeLifetime}
		change(b)
		ad := ok[*sdk.Ad](t)(n.Ads.Boost(background, b))
		if *ad.Schedule.EndDate != end {
			t.Errorf("%s: the boost ends on %s, %s is expected", n.platform, *ad.Schedule.EndDate, end)
		}
		return boosted{n, ad}
	}
	if daily := ok[*sdk.Ad](t)(n.Ads.Boost(background, n.boost(post))); daily.Schedule.EndDate != nil {
		t.Errorf("%s: a boost with a daily budget ends on %s", n.platform, *daily.Schedule.EndDate)
	}
	return []boosted{
		boost(last(7), func(*sdk.AdBoost) {}),
		boost(last(3), func(b *sdk.AdBoost) { b.DurationDays = new(int64(3)) }),
		boost(last(12), func(b *sdk.AdBoost) { b.EndDate = new(last(12)) }),
	}
}

// lastDay returns the last of so many days from today on, where the ad account is. The clock stands still for the rest of the test: today stays today.
func (n onNetwork) lastDay(t *testing.T) func(days int) string {
	t.Helper()
	account := ok[*sdk.AdAccountList](t)(n.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: n.channel, AdAccountID: &n.account})).Data[0]
	where, err := time.LoadLocation(account.Timezone)
	if err != nil {
		t.Fatal(err)
	}
	n.server.Clock.Stop()
	t.Cleanup(n.server.Clock.GoOn)
	return func(days int) string {
		return n.server.Clock.Now().In(where).AddDate(0, 0, days-1).Format(time.DateOnly)
	}
}
