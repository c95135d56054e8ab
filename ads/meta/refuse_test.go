package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// rejects expects an error to be about a field, and Meta to have refused as many calls.
func (w *world) rejects(t *testing.T, err error, field string, calls int) {
	t.Helper()
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, field, refused.Field, refused.Message)
	assert.Len(t, w.fake.Refused(), calls)
	assert.Empty(t, w.fake.Live("Ad"))
}

// The budget is at least the bid: rule B2.
func TestCreate_BlamesTheBudgetThatIsBelowItsBid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.BidStrategy, p.BidAmount = advert.BidStrategyBidCap, 21*advert.AmountUnit }))
	w.rejects(t, err, "budget_amount", 1)
}

// What was spent, and a tenth more, stays in a lifetime budget: rule B4.
func TestUpdate_KeepsWhatWasSpentInTheBudget(t *testing.T) {
	t.Parallel()
	for _, level := range []advert.BudgetLevel{advert.BudgetLevelGroup, advert.BudgetLevelCampaign} {
		w := newWorld(t, advert.PlatformFacebook)
		made := w.create(t, plan(func(p *ads.Plan) { p.BudgetLevel, p.BudgetType, p.EndsAt = level, advert.BudgetTypeLifetime, at(20) }))
		ref := ads.Ref{AdAccount: dollars, Level: advert.LevelGroup, ID: made.Group.PlatformID}
		if level == advert.BudgetLevelCampaign {
			ref.Level, ref.ID = advert.LevelCampaign, made.Campaign.PlatformID
		}
		w.fake.Set(ref.ID, "budget_remaining", "1000")
		change := func(cents advert.Amount) error {
			budget := ads.Budget{Amount: cents * advert.AmountUnit / 100, Type: advert.BudgetTypeLifetime}
			_, err := w.net.Update(t.Context(), w.conn, ref, ads.Patch{Currency: "usd", Budget: &budget})
			return err
		}
		var refused *ads.Rejected
		require.ErrorAs(t, change(1099), &refused, level)
		assert.Equal(t, "budget.amount", refused.Field)
		assert.Contains(t, refused.Message, "11.00")
		require.NoError(t, change(1100))
		assert.Empty(t, w.fake.Refused())
	}
}

// A city and its country overlap, and some countries want to know who is behind an ad: rules G1 and G4.
func TestCreate_BlamesTheTargeting(t *testing.T) {
	t.Parallel()
	for name, places := range map[string]string{
		"a city and its country": `{"countries":["US"],"cities":[{"key":"2420379"}]}`, "Taiwan": `{"countries":["TW"]}`,
	} {
		w := newWorld(t, advert.PlatformFacebook)
		_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) {
			p.PlatformTargeting = advert.Object(`{"geo_locations":` + places + `,"targeting_automation":{"advantage_audience":0}}`)
		}))
		require.Error(t, err, name)
		w.rejects(t, err, "targeting", 1)
	}
}

// Who is shown to the EU later says who profits and who pays, unless it did before or its ad account does: rule G4.
func TestUpdate_SaysWhatTheLawWants(t *testing.T) {
	t.Parallel()
	patch := func(change func(*ads.Patch)) ads.Patch {
		p := ads.Patch{Currency: "usd", Targeting: &ads.Targeting{Places: ads.Places{Countries: []string{"FR"}}},
			PlatformTargeting: `{"geo_locations":{"countries":["FR"]},"targeting_automation":{"advantage_audience":0}}`}
		change(&p)
		return p
	}
	for field, change := range map[string]func(*ads.Patch){
		"dsa_beneficiary": func(p *ads.Patch) { p.DSAPayor = "Grace" },
		"dsa_payor":       func(p *ads.Patch) { p.DSABeneficiary = "Ada" },
		"":                func(p *ads.Patch) { p.DSABeneficiary, p.DSAPayor = "Ada", "Grace" },
	} {
		w := newWorld(t, advert.PlatformFacebook)
		made := w.create(t, plan(nil))
		_, err := w.net.Update(t.Context(), w.conn, ads.Ref{AdAccount: dollars, Level: advert.LevelGroup, ID: made.Group.PlatformID}, patch(change))
		assert.Empty(t, w.fake.Refused(), "it is not even asked")
		if field == "" {
			require.NoError(t, err)
			continue
		}
		var refused *ads.Rejected
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, field, refused.Field)
	}
}

// THRUPLAY shows videos, also those of posts: rule K6.
func TestCreate_WantsAVideoForVideoViews(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		w := newWorld(t, p)
		seen := plan(func(plan *ads.Plan) {
			plan.Goal, plan.Post, plan.Creative = advert.GoalVideoViews, postOf(p), advert.Creative{}
		})
		_, err := w.net.Create(t.Context(), w.conn, seen)
		w.rejects(t, err, "post_id", 0)
		assert.Empty(t, w.fake.Live("Campaign"))
		w.fake.Film(postOf(p).PlatformID)
		w.create(t, seen)
	}
}

// An app that is not public is the operator's to mend: rule K8.
func TestCreate_OfAnAppInDevelopmentIsForTheOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Development = true
	_, err := w.net.Create(t.Context(), w.conn, plan(nil))
	require.ErrorIs(t, err, ads.ErrOperator)
	assert.Empty(t, w.fake.Live("Campaign"), "what was made before is removed")
}

// A lookalike is of a hundred people at least, and of none that is flagged: rules U4 and U5.
func TestCreateAudience_BlamesTheSourceOfALookalike(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	few, err := w.net.CreateAudience(t.Context(), w.conn, audiencePlan(advert.AudienceTypeCustomerList, ""))
	require.NoError(t, err)
	_, err = w.net.CreateAudience(t.Context(), w.conn, audiencePlan(advert.AudienceTypeLookalike, *few.PlatformID))
	w.rejects(t, err, "source_audience_id", 1)
	flagged, err := w.net.CreateAudience(t.Context(), w.conn, audiencePlan(advert.AudienceTypeRetargeting, ""))
	require.NoError(t, err)
	w.fake.Grow(*flagged.PlatformID, 1000, 2000, 471, 200)
	_, err = w.net.CreateAudience(t.Context(), w.conn, audiencePlan(advert.AudienceTypeLookalike, *flagged.PlatformID))
	w.rejects(t, err, "source_audience_id", 2)
}
