package contract

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestAdLimits_HoldFromTheBeginningAndCanBeChanged(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		limits := ok[*sdk.AdLimits](t)(c.AdLimits.Get(background))
		if limits.Object != "ad_limits" || len(limits.Currencies) != 0 || limits.Default.MaxDailyBudgetPerCampaign != "10000.00" ||
			limits.Default.MaxTotalDailyBudget != "50000.00" || limits.MaxDailyBudgetIncreasePct != nil || len(limits.BlockedOperations) != 0 || limits.UpdatedAt != nil {
			t.Errorf("the first limits are %+v", limits)
		}
		changed := ok[*sdk.AdLimits](t)(c.AdLimits.Update(background, &sdk.AdLimitsUpdate{
			Currencies:                map[string]*sdk.AdLimitUpdate{"usd": {MaxDailyBudgetPerCampaign: new(json.Number("15.50"))}, "jpy": {MaxBidAmount: sdk.Set(json.Number("300"))}},
			MaxDailyBudgetIncreasePct: sdk.Set(json.Number("50")), BlockedOperations: []sdk.AdOperation{sdk.AdOperationDeleteCampaign},
		}))
		if usd := changed.Currencies["usd"]; usd.MaxDailyBudgetPerCampaign != "15.50" || usd.MaxTotalDailyBudget != "50000.00" || usd.MaxBidAmount != nil {
			t.Errorf("the limits in dollars are %+v", usd)
		}
		if jpy := changed.Currencies["jpy"]; jpy.MaxDailyBudgetPerCampaign != "1500000.00" || *jpy.MaxBidAmount != "300.00" {
			t.Errorf("the limits in yen are %+v", jpy)
		}
		if *changed.MaxDailyBudgetIncreasePct != "50" || len(changed.BlockedOperations) != 1 {
			t.Errorf("the limits are %+v", changed)
		}
		trail := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{Operation: new(sdk.AdOperationUpdateLimits)}))
		if len(trail.Data) != 1 || trail.Data[0].AccountID != nil || trail.Data[0].Platform != nil || trail.Data[0].APIKeyID == nil ||
			!strings.Contains(string(trail.Data[0].After), `"max_daily_budget_per_campaign":15.50`) || strings.Contains(string(trail.Data[0].Before), "15.50") {
			t.Errorf("the audit trail is %+v", trail.Data)
		}
		a := advertise(t, c, sdk.AdPlatformFacebook)
		_, err := c.Ads.Create(background, a.draft("Too much"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeSpendLimitExceeded, "budget_amount")
		back := ok[*sdk.AdLimits](t)(c.AdLimits.Update(background, &sdk.AdLimitsUpdate{
			Currencies: map[string]*sdk.AdLimitUpdate{"usd": nil}, MaxDailyBudgetIncreasePct: sdk.Null[json.Number](),
		}))
		if _, set := back.Currencies["usd"]; set || back.MaxDailyBudgetIncreasePct != nil || len(back.BlockedOperations) != 1 || len(back.Currencies) != 1 {
			t.Errorf("the limits are %+v", back)
		}
		none := ok[*sdk.AdLimits](t)(c.AdLimits.Update(background, &sdk.AdLimitsUpdate{
			Currencies: map[string]*sdk.AdLimitUpdate{"eur": {MaxBidAmount: sdk.Set(json.Number("0"))}}, MaxDailyBudgetIncreasePct: sdk.Set(json.Number("0")),
		}))
		if none.MaxDailyBudgetIncreasePct == nil || *none.MaxDailyBudgetIncreasePct != "0" || none.Currencies["eur"].MaxBidAmount == nil || *none.Currencies["eur"].MaxBidAmount != "0.00" {
			t.Errorf("limits that allow nothing are %+v", none)
		}
		ad := a.ad(t, "Within")
		_, err = c.AdCampaigns.Delete(background, ad.CampaignID, onFacebook)
		e := refusal(t, err)
		if e.Status != http.StatusUnprocessableEntity && e.Status != http.StatusForbidden {
			t.Errorf("a blocked operation is answered %v", e)
		}
	})
}

// refusal returns the *sdk.Error that a call failed with.
func refusal(t *testing.T, err error) *sdk.Error {
	t.Helper()
	e, isRefusal := errors.AsType[*sdk.Error](err)
	if !isRefusal {
		t.Fatalf("the error is %v", err)
	}
	return e
}

func TestUpdateAdLimits_RefusesWhatIsNoLimit(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for param, wrong := range map[string]sdk.AdLimitsUpdate{
			"currencies.usd.max_daily_budget_per_campaign": {Currencies: map[string]*sdk.AdLimitUpdate{"usd": {MaxDailyBudgetPerCampaign: new(json.Number("-1"))}}},
			"currencies.usd.max_bid_amount":                {Currencies: map[string]*sdk.AdLimitUpdate{"usd": {MaxBidAmount: sdk.Set(json.Number("1e3"))}}},
			"currencies.jpy.max_total_daily_budget":        {Currencies: map[string]*sdk.AdLimitUpdate{"jpy": {MaxTotalDailyBudget: new(json.Number("500.001"))}}},
			"currencies.USD":                               {Currencies: map[string]*sdk.AdLimitUpdate{"USD": {MaxDailyBudgetPerCampaign: new(json.Number("1"))}}},
			"max_daily_budget_increase_pct":                {MaxDailyBudgetIncreasePct: sdk.Set(json.Number("-1"))},
			"blocked_operations.0":                         {BlockedOperations: []sdk.AdOperation{"everything"}},
		} {
			_, err := c.AdLimits.Update(background, &wrong)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
	})
}
