package sandbox

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// life is a random history of some campaigns, made through two replicas.
type life struct {
	*network
	other     *network
	r         *rand.Rand
	campaigns []string
	groups    []string
	ads       []string
	above     map[string]string   // of a group its campaign, of an ad its group
	budgets   map[string][]budget // by owner, in the order of time
	before    map[string]ads.Report
}

// budget is what an owner may spend from a moment on.
type budget struct {
	at     time.Time
	amount advert.Amount
	kind   advert.BudgetType
	ends   time.Time
}

func newLife(n *network, r *rand.Rand) *life {
	l := &life{
		network: n, other: connect(n.t, n.url, n.platform, n.options), r: r,
		above: map[string]string{}, budgets: map[string][]budget{}, before: map[string]ads.Report{},
	}
	for i := range 3 {
		plan := n.plan(fmt.Sprint("adact_", i))
		plan.BudgetAmount = advert.Amount(5+r.Int64N(400)) * advert.AmountUnit
		plan.BudgetLevel = []advert.BudgetLevel{advert.BudgetLevelCampaign, advert.BudgetLevelGroup}[r.IntN(2)]
		if r.IntN(2) == 0 {
			plan.BudgetType, plan.EndsAt = advert.BudgetTypeLifetime, ref(core.TimeOf(n.now.Add(time.Duration(1+r.IntN(15))*24*time.Hour)))
		}
		l.grown(n.create(plan), plan)
	}
	return l
}

// grown notes what was made.
func (l *life) grown(made ads.Created, plan ads.Plan) {
	if made.Campaign != nil {
		campaign, group := made.Campaign.PlatformID, made.Group.PlatformID
		l.campaigns, l.groups = append(l.campaigns, campaign), append(l.groups, group)
		l.above[group] = campaign
		owner := group
		if plan.BudgetLevel == advert.BudgetLevelCampaign {
			owner = campaign
		}
		l.budgets[owner] = []budget{{l.now, plan.BudgetAmount, plan.BudgetType, made.Campaign.PlatformCreatedAt.Time()}}
	}
	l.ads = append(l.ads, made.Ad.PlatformID)
	l.above[made.Ad.PlatformID] = made.Ad.AdGroupID
}

// step lets some time pass, and then somebody do something through either replica.
func (l *life) step() {
	l.now = l.now.Add(jump(l.r))
	l.other.now = l.now
	n := []*network{l.network, l.other}[l.r.IntN(2)]
	group := l.groups[l.r.IntN(len(l.groups))]
	switch l.r.IntN(8) {
	case 0, 1, 2:
		l.toggle(n, group)
	case 3, 4:
		l.rebudget(n)
	case 5, 6:
		if report := l.report(advert.LevelGroup, group); report.Status != advert.StatusCancelled {
			headline := []string{"good", "[reject]"}[l.r.IntN(2)]
			l.grown(ads.Created{Ad: n.join(&advert.Group{PlatformID: group, CampaignID: l.above[group]}, headline)}, ads.Plan{})
		}
	case 7:
		if l.r.IntN(4) == 0 {
			_, _ = n.Delete(l.t.Context(), n.conn, l.campaignRef(l.above[group])) // it may be gone
		}
	}
}

// toggle turns the switch of anything.
func (l *life) toggle(n *network, group string) {
	refs := []ads.Ref{
		l.campaignRef(l.above[group]), {AdAccount: l.mine().PlatformID, Level: advert.LevelGroup, ID: group},
		{AdAccount: l.mine().PlatformID, Level: advert.LevelAd, ID: l.ads[l.r.IntN(len(l.ads))]},
	}
	to := []advert.Configured{advert.ConfiguredActive, advert.ConfiguredPaused}[l.r.IntN(2)]
	_, err := n.SetStatus(l.t.Context(), n.conn, refs[:1+l.r.IntN(3)], to)
	require.NoError(l.t, err)
}

// rebudget changes the budget of any owner.
func (l *life) rebudget(n *network) {
	owners := slices.Sorted(maps.Keys(l.budgets))
	owner := owners[l.r.IntN(len(owners))]
	stood := l.budgets[owner]
	next := budget{l.now, advert.Amount(5+l.r.Int64N(400)) * advert.AmountUnit, stood[0].kind, stood[0].ends}
	_, err := n.Update(l.t.Context(), n.conn, l.refOf(owner), ads.Patch{Budget: &ads.Budget{Amount: next.amount, Type: next.kind}})
	if err == nil {
		l.budgets[owner] = append(stood, next)
	} else {
		require.ErrorIs(l.t, err, ads.ErrNotFound)
	}
}

func (l *life) refOf(owner string) ads.Ref {
	if slices.Contains(l.campaigns, owner) {
		return l.campaignRef(owner)
	}
	return ads.Ref{AdAccount: l.mine().PlatformID, Level: advert.LevelGroup, ID: owner}
}

// check holds the network to what it promises at any moment.
func (l *life) check() {
	l.t.Helper()
	of := map[advert.Level]map[string]ads.Report{
		advert.LevelCampaign: l.reports(advert.LevelCampaign, l.campaigns...),
		advert.LevelGroup:    l.reports(advert.LevelGroup, l.groups...),
		advert.LevelAd:       l.reports(advert.LevelAd, l.ads...),
	}
	l.sums(of[advert.LevelAd], of[advert.LevelGroup])
	l.sums(of[advert.LevelGroup], of[advert.LevelCampaign])
	for level, reports := range of {
		for id, now := range reports {
			l.grows(id, l.before[id], now)
			l.before[id] = now
			assert.Contains(l.t, advert.Statuses, now.Status, level)
		}
	}
}

// sums compares each thing with the sum of what is below it.
func (l *life) sums(below, above map[string]ads.Report) {
	l.t.Helper()
	sums := map[string]advert.Metrics{}
	reach := map[string]int64{}
	for id, report := range below {
		sum, seen := sums[l.above[id]]
		if !seen {
			sum = advert.NoMetrics()
		}
		sum.Add(report.Metrics)
		sums[l.above[id]] = sum
		reach[l.above[id]] += *report.Metrics.Reach
	}
	for id, report := range above {
		whole := report.Metrics
		assert.LessOrEqual(l.t, *whole.Reach, reach[id], "people are not counted twice")
		assert.LessOrEqual(l.t, *whole.Reach, *whole.Impressions)
		whole.Reach = nil
		assert.Equal(l.t, sums[id], whole)
	}
}

// grows compares a thing with itself a while ago. What delivered neither then nor now has not moved.
func (l *life) grows(id string, before, now ads.Report) {
	l.t.Helper()
	old, metrics := before.Metrics, now.Metrics
	if old.Reach == nil {
		return
	}
	pairs := [][2]int64{
		{int64(*old.Spend), int64(*metrics.Spend)}, {*old.Impressions, *metrics.Impressions}, {*old.Reach, *metrics.Reach}, {*old.Clicks, *metrics.Clicks},
		{*old.Engagement, *metrics.Engagement}, {*old.Conversions, *metrics.Conversions}, {int64(*old.PurchaseValue), int64(*metrics.PurchaseValue)},
		{*old.VideoViews, *metrics.VideoViews}, {old.Actions["link_click"], metrics.Actions["link_click"]},
	}
	for i, p := range pairs {
		assert.GreaterOrEqual(l.t, p[1], p[0], "%s figure %d", id, i)
	}
}

// budgetsHold compares what every owner spent on every day, and in total, with its budgets.
func (l *life) budgetsHold(begin time.Time) {
	l.t.Helper()
	zone := l.marketOf(ref(l.mine())).zone
	for owner, stood := range l.budgets {
		ref := l.refOf(owner)
		total := advert.NoMetrics()
		for day := ads.DateOf(begin.In(zone)); day.Compare(ads.DateOf(l.now.In(zone))) <= 0; day = day.AddDays(1) {
			reports, err := l.Report(l.t.Context(), l.conn, ref.AdAccount, ref.Level, []string{owner}, day, day)
			require.NoError(l.t, err)
			metrics := reports[owner].Metrics
			total.Add(metrics)
			if stood[0].kind == advert.BudgetTypeDaily {
				assert.LessOrEqual(l.t, int64(*metrics.Spend), allowed(stood, day.Start(zone), day.End(zone)))
			}
		}
		whole := l.report(ref.Level, owner).Metrics
		whole.Reach = nil
		assert.Equal(l.t, whole, total, "days add up")
		if stood[0].kind == advert.BudgetTypeLifetime {
			largest := slices.MaxFunc(stood, func(a, b budget) int { return int(a.amount - b.amount) })
			assert.LessOrEqual(l.t, *total.Spend, largest.amount)
		}
	}
}

// allowed returns what budgets allow on a day: each for the part of the day that it stood.
func allowed(stood []budget, begin, end time.Time) int64 {
	var sum float64
	for i, b := range stood {
		from, to := b.at, end
		if i+1 < len(stood) {
			to = stood[i+1].at
		}
		if from.Before(begin) {
			from = begin
		}
		if to.After(end) {
			to = end
		}
		if from.Before(to) {
			sum += float64(b.amount) * float64(to.Sub(from)) / float64(end.Sub(begin))
		}
	}
	return int64(sum) + 1
}

func TestLife_KeepsItsPromisesThroughAnyHistory(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{ReviewDelay: 20 * time.Minute}, func(t *testing.T, n *network) {
		begin := n.now
		l := newLife(n, random(t))
		for range 60 {
			l.step()
			l.check()
		}
		l.budgetsHold(begin)
		assert.Equal(t, l.everything(), l.other.everything())
		var spent advert.Amount
		for _, id := range l.campaigns {
			spent += *l.report(advert.LevelCampaign, id).Metrics.Spend
		}
		assert.Positive(t, spent)
	})
}

func TestPause_FreezesEveryFigure(t *testing.T) {
	each(t, advert.PlatformInstagram, Options{}, func(t *testing.T, n *network) {
		made := n.create(n.planCampaign("adact_1"))
		second := n.join(made.Group, "second")
		for _, pause := range []ads.Ref{
			n.campaignRef(made.Campaign.PlatformID), n.groupRef(made.Group),
			{AdAccount: n.mine().PlatformID, Level: advert.LevelAd, ID: made.Ad.PlatformID},
		} {
			n.now = n.now.Add(7*time.Hour + 13*time.Microsecond)
			n.turn(pause, advert.ConfiguredPaused)
			frozen := n.report(pause.Level, pause.ID)
			n.now = n.now.Add(1000 * time.Hour)
			assert.Equal(t, frozen.Metrics, n.report(pause.Level, pause.ID).Metrics)
			other := *n.report(advert.LevelAd, second.PlatformID).Metrics.Spend
			n.turn(pause, advert.ConfiguredActive)
			assert.Equal(t, frozen.Metrics, n.report(pause.Level, pause.ID).Metrics)
			n.now = n.now.Add(2 * time.Hour)
			assert.Greater(t, *n.report(pause.Level, pause.ID).Metrics.Spend, *frozen.Metrics.Spend)
			assert.Greater(t, *n.report(advert.LevelAd, second.PlatformID).Metrics.Spend, other)
		}
	})
}

func TestReach_GrowsMoreSlowlyThanImpressions(t *testing.T) {
	t.Parallel()
	assert.Zero(t, *reach(0))
	assert.Equal(t, int64(1), *reach(1))
	for n := int64(2); n < 1<<30; n *= 2 {
		assert.Less(t, *reach(n), *reach(2 * n), n)
		assert.LessOrEqual(t, *reach(2 * n), 2**reach(n), n)
		assert.LessOrEqual(t, *reach(n), min(n, population), n)
	}
	assert.Equal(t, int64(population/2), *reach(population))
}

func TestChange_ByAReplicaWhoseClockIsBehindSpendsNothingTwice(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		other := connect(t, n.url, n.platform, n.options)
		made := n.create(n.plan("adact_1"))
		for i, r := range []*network{n, other, n, other} {
			n.now = n.now.Add(time.Hour)
			other.now = n.now.Add(-90 * time.Minute)
			budget := ads.Budget{Amount: advert.Amount(30+i) * advert.AmountUnit, Type: advert.BudgetTypeDaily}
			_, err := r.Update(t.Context(), r.conn, n.groupRef(made.Group), ads.Patch{Budget: &budget})
			require.NoError(t, err)
		}
		segments, err := n.store.Advert.GetSandboxSegments(t.Context(), testAccount, testChannel)
		require.NoError(t, err)
		for _, owned := range byOwner(segments) {
			for i, s := range owned[1:] {
				assert.GreaterOrEqual(t, s.FromAt, *owned[i].ToAt)
			}
		}
	})
}
