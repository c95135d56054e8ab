package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func TestBudget_IsSentInTheUnitOfTheCurrency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		account string
		amount  advert.Amount
		wire    string
	}{
		{dollars, 20, "2000"}, {dollars, 2000, "200000"},
		{yen, 20, "20"}, {yen, 2000, "2000"},
		{dinars, 20, "2000"}, {dinars, 2000, "200000"}, // not the thousandths of ISO 4217
	} {
		for _, level := range []advert.BudgetLevel{advert.BudgetLevelCampaign, advert.BudgetLevelGroup} {
			for _, kind := range []advert.BudgetType{advert.BudgetTypeDaily, advert.BudgetTypeLifetime} {
				w := newWorld(t, advert.PlatformFacebook)
				made := w.create(t, plan(func(p *ads.Plan) {
					p.AdAccount, p.BudgetAmount, p.BudgetLevel, p.BudgetType, p.EndsAt = account(c.account), c.amount*advert.AmountUnit, level, kind, at(8)
				}))
				id, edge := made.Campaign.PlatformID, "campaigns"
				if level == advert.BudgetLevelGroup {
					id, edge = made.Group.PlatformID, "adsets"
				}
				assert.Equal(t, c.wire, w.sent(t, "POST", edge).Get(string(kind)+"_budget"))
				assert.Equal(t, c.wire, w.fake.Field(id, string(kind)+"_budget"), "what Meta has")
				assert.Equal(t, c.amount*advert.AmountUnit, w.budget(t, c.account, level), "what is read back")
			}
		}
	}
}

// budget is the only budget of an ad account as Sync reads it.
func (w *world) budget(t *testing.T, adAccount string, level advert.BudgetLevel) advert.Amount {
	t.Helper()
	b := w.walk(t, adAccount)
	require.Len(t, b.Campaigns, 1)
	require.Len(t, b.Groups, 1)
	assert.Equal(t, level, b.Campaigns[0].BudgetLevel)
	return b.Campaigns[0].BudgetAmount + b.Groups[0].BudgetAmount
}

func TestBudget_RefusesAnUnknownCurrencyAndWhatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for currency, amount := range map[string]advert.Amount{"xxx": 20 * advert.AmountUnit, "jpy": 20_500_000, "usd": 20_005_000} {
		w := newWorld(t, advert.PlatformFacebook)
		_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) {
			p.AdAccount.Currency, p.BudgetAmount, p.BudgetLevel = currency, amount, advert.BudgetLevelCampaign
		}))
		var rejected *ads.Rejected
		require.ErrorAs(t, err, &rejected, currency)
		assert.Equal(t, "budget_amount", rejected.Field)
		assert.Empty(t, w.calls("POST", "campaigns"), "nothing may be sent")
	}
}

func TestBudget_BelowTheMinimumIsBlamedOnTheBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.BudgetAmount = 500_000 }))
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	assert.Equal(t, "budget_amount", rejected.Field)
	assert.Empty(t, w.fake.Live("Campaign"))
}
