package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

func patch(amount advert.Amount, kind advert.BudgetType) ads.Patch {
	return ads.Patch{Token: "adact_2", Currency: "usd", Timezone: "UTC", Budget: &ads.Budget{Amount: amount, Type: kind}}
}

func groupRef(made ads.Created) ads.Ref {
	return ads.Ref{AdAccount: dollars, Level: advert.LevelGroup, ID: made.Group.PlatformID, CampaignID: made.Campaign.PlatformID}
}

func TestUpdate_ChangesTheBudgetOfEitherLevel(t *testing.T) {
	t.Parallel()
	for _, kind := range []advert.BudgetType{advert.BudgetTypeDaily, advert.BudgetTypeLifetime} {
		w := newWorld(t, advert.PlatformFacebook)
		withEnd := func(level advert.BudgetLevel) ads.Plan {
			return plan(func(p *ads.Plan) { p.BudgetLevel, p.BudgetType, p.EndsAt = level, kind, at(8) })
		}
		cbo, abo := w.create(t, withEnd(advert.BudgetLevelCampaign)), w.create(t, withEnd(advert.BudgetLevelGroup))

		e, err := w.net.Update(t.Context(), w.conn, ref(cbo), patch(2000*advert.AmountUnit, kind))
		require.NoError(t, err)
		assert.Equal(t, "200000", w.fake.Field(cbo.Campaign.PlatformID, string(kind)+"_budget"))
		assert.Equal(t, 2000*advert.AmountUnit, e.Campaign.BudgetAmount)
		assert.Equal(t, kind, e.Campaign.BudgetType)

		e, err = w.net.Update(t.Context(), w.conn, groupRef(abo), patch(35_500_000, kind))
		require.NoError(t, err)
		assert.Equal(t, "3550", w.fake.Field(abo.Group.PlatformID, string(kind)+"_budget"))
		assert.Equal(t, advert.Amount(35_500_000), e.Group.BudgetAmount)
	}
}

func TestUpdate_IsRefusedOnTheLevelWithoutBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	_, err := w.net.Update(t.Context(), w.conn, ref(made), patch(30*advert.AmountUnit, advert.BudgetTypeDaily))
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	assert.Nil(t, w.fake.Field(made.Campaign.PlatformID, "daily_budget"))
}

func TestUpdate_ChangesTheBidOfAnAdGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(func(p *ads.Plan) { p.BidStrategy = advert.BidStrategyLowestCost }))
	strategy, amount := advert.BidStrategyBidCap, advert.Amount(2_250_000)
	e, err := w.net.Update(t.Context(), w.conn, groupRef(made), ads.Patch{Currency: "usd", BidStrategy: &strategy, BidAmount: &amount, EndsAt: at(9)})
	require.NoError(t, err)
	assert.Equal(t, strategy, e.Group.BidStrategy)
	assert.Equal(t, amount, e.Group.BidAmount)
	assert.Equal(t, *at(9), *e.Group.EndsAt)

	strategy, amount = advert.BidStrategyLowestCost, 0
	e, err = w.net.Update(t.Context(), w.conn, groupRef(made), ads.Patch{Currency: "usd", BidStrategy: &strategy, BidAmount: &amount})
	require.NoError(t, err)
	assert.Zero(t, e.Group.BidAmount)

	strategy, floor := advert.BidStrategyMinROAS, advert.Ratio(1_500_000)
	_, err = w.net.Update(t.Context(), w.conn, groupRef(made), ads.Patch{Currency: "usd", BidStrategy: &strategy, RoasFloor: &floor})
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected, "an ad set for link clicks has no smallest ROAS")
	assert.Equal(t, "bid_strategy", rejected.Field)

	made = w.create(t, plan(valued))
	e, err = w.net.Update(t.Context(), w.conn, groupRef(made), ads.Patch{Currency: "usd", BidStrategy: &strategy, RoasFloor: &floor})
	require.NoError(t, err)
	assert.Equal(t, floor, e.Group.RoasFloor)
}

func TestUpdate_ChangesTheBidOfACampaignInItsAdGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(func(p *ads.Plan) {
		p.BudgetLevel, p.BidStrategy = advert.BudgetLevelCampaign, advert.BidStrategyLowestCost
	}))
	strategy, amount := advert.BidStrategyCostCap, 3*advert.AmountUnit
	e, err := w.net.Update(t.Context(), w.conn, ref(made), ads.Patch{Currency: "usd", BidStrategy: &strategy, BidAmount: &amount})
	require.NoError(t, err)
	assert.Equal(t, strategy, e.Campaign.BidStrategy)
	assert.Equal(t, int64(300), w.fake.Field(made.Group.PlatformID, "bid_amount"))

	made = w.create(t, plan(func(p *ads.Plan) {
		valued(p)
		p.BudgetLevel = advert.BudgetLevelCampaign
	}))
	strategy, floor := advert.BidStrategyMinROAS, advert.Ratio(1_500_000)
	_, err = w.net.Update(t.Context(), w.conn, ref(made), ads.Patch{Currency: "usd", BidStrategy: &strategy, RoasFloor: &floor})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"roas_average_floor": 15000.0}, w.fake.Field(made.Group.PlatformID, "bid_constraints"))
}

// Meta takes no bid of 0: another strategy removes it, from an ad set and from those of a campaign, and without one nothing does.
func TestUpdate_RemovesABidWithItsStrategy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	for level, of := range map[advert.BudgetLevel]func(ads.Created) ads.Ref{advert.BudgetLevelGroup: groupRef, advert.BudgetLevelCampaign: ref} {
		made := w.create(t, plan(func(p *ads.Plan) {
			valued(p)
			p.BudgetLevel = level
		}))
		left := func() (any, any) {
			return w.fake.Field(made.Group.PlatformID, "bid_amount"), w.fake.Field(made.Group.PlatformID, "bid_constraints")
		}
		none, noFloor := advert.Amount(0), advert.Ratio(0)
		for field, p := range map[string]ads.Patch{"bid_amount": {BidAmount: &none}, "roas_average_floor": {RoasFloor: &noFloor}} {
			p.Currency, p.EndsAt = "usd", at(9)
			w.fake.Forget()
			_, err := w.net.Update(t.Context(), w.conn, of(made), p)
			var rejected *ads.Rejected
			require.ErrorAs(t, err, &rejected)
			assert.Equal(t, field, rejected.Field)
			assert.Empty(t, w.calls("POST", "."), "nothing of it is changed")
		}
		capped, lowest, three := advert.BidStrategyCostCap, advert.BidStrategyLowestCost, 3*advert.AmountUnit
		_, err := w.net.Update(t.Context(), w.conn, of(made), ads.Patch{Currency: "usd", BidStrategy: &capped, BidAmount: &three, RoasFloor: &noFloor})
		require.NoError(t, err)
		amount, least := left()
		assert.NotNil(t, amount)
		assert.Nil(t, least)
		_, err = w.net.Update(t.Context(), w.conn, of(made), ads.Patch{Currency: "usd", BidStrategy: &lowest, BidAmount: &none})
		require.NoError(t, err)
		amount, _ = left()
		assert.Nil(t, amount)
	}
}

func TestUpdate_IsIndeterminateAfterATimeoutAndMayBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.fake.Forget()
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Method: "POST"})
	_, err := w.net.Update(t.Context(), w.conn, groupRef(made), patch(30*advert.AmountUnit, advert.BudgetTypeDaily))
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	assert.Len(t, w.calls("POST", "."), 1)
	e, err := w.net.Update(t.Context(), w.conn, groupRef(made), patch(30*advert.AmountUnit, advert.BudgetTypeDaily))
	require.NoError(t, err)
	assert.Equal(t, 30*advert.AmountUnit, e.Group.BudgetAmount)
}

func TestDelete_CancelsTheCampaignAndSaysWhatElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.create(t, plan(func(p *ads.Plan) { p.CampaignID, p.AdGroupID = made.Campaign.PlatformID, made.Group.PlatformID }))
	deleted, err := w.net.Delete(t.Context(), w.conn, ref(made))
	require.NoError(t, err)
	assert.Equal(t, ads.Deleted{AdGroups: 1, Ads: 2}, deleted)
	assert.Empty(t, w.fake.Live("Campaign"))
	assert.Empty(t, w.fake.Live("Ad"))

	_, err = w.net.Delete(t.Context(), w.conn, ref(made))
	require.ErrorIs(t, err, ads.ErrNotFound)
	_, err = w.net.Delete(t.Context(), w.conn, groupRef(made))
	require.ErrorIs(t, err, ads.ErrUnsupported)
}

func TestDelete_IsIndeterminateAfterATimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Method: "DELETE"})
	_, err := w.net.Delete(t.Context(), w.conn, ref(made))
	require.ErrorIs(t, err, ads.ErrIndeterminate)
}
