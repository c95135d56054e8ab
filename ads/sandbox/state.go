package sandbox

import (
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// state holds some campaigns of one ad account at one moment, with what their ads did in a window.
type state struct {
	*forest
	market
	platform advert.Platform
	account  *advert.Account
	now      core.Time
	spent    map[string]int64    // by owner of a lifetime budget
	figures  map[string]*figures // by ad
}

// stateOf computes the state of campaigns from their rows and segments.
func (d *Driver) stateOf(account *advert.Account, c advert.SandboxCampaigns, w window, now core.Time) (*state, error) {
	f, err := plant(c.Entities)
	if err != nil {
		return nil, err
	}
	s := &state{
		forest: f, market: d.marketOf(account), platform: d.platform, account: account, now: now,
		spent: map[string]int64{}, figures: map[string]*figures{},
	}
	for _, owned := range byOwner(c.Segments) {
		s.spent[owned[0].OwnerID] = s.spend(owned, w, now, s.count)
	}
	return s, nil
}

// count adds what an ad spent to its figures.
func (s *state) count(part spending) {
	f, ok := s.figures[part.ad]
	if !ok {
		f = &figures{rates: s.ratesOf(s.platform, s.byID[part.ad].Goal, part.ad)}
		s.figures[part.ad] = f
	}
	f.add(part)
}

// metrics returns the figures of a thing, which are those of its ads added up.
func (s *state) metrics(t *thing) advert.Metrics {
	all := advert.NoMetrics()
	for _, ad := range t.ads() {
		if f, ok := s.figures[ad.ID]; ok {
			all.Add(f.metrics())
		}
	}
	all.Reach = reach(*all.Impressions)
	return all
}

// isSpent reports whether the lifetime budget that pays for a thing is used up.
func (s *state) isSpent(t *thing) bool {
	owner := t.owner()
	return owner != nil && owner.BudgetType == advert.BudgetTypeLifetime && int64(owner.Budget)-s.spent[owner.ID] < s.quantum
}

// status returns the state of delivery of a thing.
func (s *state) status(t *thing) advert.Status {
	isAd := t.Kind == advert.LevelAd
	switch {
	case t.isDeleted():
		return advert.StatusCancelled
	case isAd && s.review(t) == advert.ReviewRejected:
		return advert.StatusRejected
	case t.hasEnded(s.now) || s.isSpent(t):
		return advert.StatusCompleted
	case s.account.Status != advert.AccountActive:
		return advert.StatusError
	case t.isOff():
		return advert.StatusPaused
	case isAd && s.review(t) == advert.ReviewInReview:
		return advert.StatusPendingReview
	}
	return s.rollUp(t)
}

// rollUp returns the state that a thing which is on gets from what is below it. With nothing below, it is active.
func (s *state) rollUp(t *thing) advert.Status {
	var below []advert.Status
	for _, child := range t.children {
		if child.DeletedAt == 0 {
			below = append(below, s.status(child))
		}
	}
	for _, status := range advert.Statuses {
		if slices.Contains(below, status) {
			return status
		}
	}
	return advert.StatusActive
}

// review returns how far the review of an ad has come, or of all ads below a thing together.
func (s *state) review(t *thing) advert.Review {
	if t.Kind == advert.LevelAd {
		switch {
		case s.now < core.Time(t.ReviewedAt):
			return advert.ReviewInReview
		case t.Rejection != "":
			return advert.ReviewRejected
		}
		return advert.ReviewApproved
	}
	found := map[advert.Review]bool{}
	for _, ad := range t.ads() {
		if !ad.isDeleted() {
			found[s.review(ad)] = true
		}
	}
	switch {
	case found[advert.ReviewInReview]:
		return advert.ReviewInReview
	case found[advert.ReviewRejected] && found[advert.ReviewApproved]:
		return advert.ReviewWithIssues
	case found[advert.ReviewRejected]:
		return advert.ReviewRejected
	}
	return advert.ReviewApproved
}

// rejection returns why the review rejected an ad, or "" if it did not.
func (s *state) rejection(t *thing) string {
	if s.review(t) != advert.ReviewRejected {
		return ""
	}
	return t.Rejection
}

func configured(t *thing) advert.Configured {
	if t.Off {
		return advert.ConfiguredPaused
	}
	return advert.ConfiguredActive
}

// report returns the state and the figures of a thing.
func (s *state) report(t *thing) ads.Report {
	status := s.status(t)
	return ads.Report{
		Metrics: s.metrics(t), Status: status, Configured: configured(t), Review: s.review(t),
		PlatformStatus: word(s.platform, t, status), RejectionReason: s.rejection(t), BudgetSpent: s.isSpent(t), SyncedAt: s.now,
	}
}

// campaign returns a campaign as the mirror has it.
func (s *state) campaign(t *thing) advert.Campaign {
	status := s.status(t)
	level := advert.BudgetLevelGroup
	if t.Budget > 0 {
		level = advert.BudgetLevelCampaign
	}
	starts, ends := schedule(t.owners())
	objective, _ := ads.CapsOf(s.platform).Objective(t.Goal)
	return advert.Campaign{
		AdAccountID: t.AdAccountID, PlatformID: t.ID, Name: t.Name, ConfiguredStatus: configured(t), Status: status, ReviewStatus: s.review(t),
		PlatformStatus: word(s.platform, t, status), RejectionReason: s.rejection(t), Goal: t.Goal, Objective: objective,
		BudgetLevel: level, BudgetAmount: t.Budget, BudgetType: t.BudgetType, BidStrategy: t.BidStrategy, BidAmount: t.BidAmount,
		RoasFloor: t.RoasFloor, StartsAt: starts, EndsAt: ends, PlatformCreatedAt: &t.CreatedAt,
	}
}

// schedule returns when the first of some budgets begins and when the last one ends. The end is nil if one of them has
// none.
func schedule(owners []*thing) (starts, ends *core.Time) {
	for i, owner := range owners {
		from, to := moment(owner.StartsAt), moment(owner.EndsAt)
		if i == 0 {
			starts, ends = from, to
			continue
		}
		if starts == nil || from == nil || *from < *starts {
			starts = from
		}
		if ends != nil && (to == nil || *to > *ends) {
			ends = to
		}
	}
	return starts, ends
}

// group returns an ad group as the mirror has it.
func (s *state) group(t *thing) advert.Group {
	status := s.status(t)
	starts, ends := schedule([]*thing{t.owner()})
	return advert.Group{
		AdAccountID: t.AdAccountID, PlatformID: t.ID, CampaignID: t.CampaignID, Name: t.Name, ConfiguredStatus: configured(t), Status: status,
		ReviewStatus: s.review(t), PlatformStatus: word(s.platform, t, status), RejectionReason: s.rejection(t), Goal: t.Goal,
		OptimizationGoal: optimization(t.Goal), BudgetAmount: t.Budget, BudgetType: t.BudgetType, BidStrategy: t.BidStrategy,
		BidAmount: t.BidAmount, RoasFloor: t.RoasFloor, Targeting: t.Targeting, PlatformTargeting: t.Words, PromotedObject: t.PromotedObject,
		StartsAt: starts, EndsAt: ends, PlatformCreatedAt: &t.CreatedAt,
	}
}

// ad returns an ad as the mirror has it.
func (s *state) ad(t *thing) advert.Ad {
	status := s.status(t)
	return advert.Ad{
		AdAccountID: t.AdAccountID, PlatformID: t.ID, CampaignID: t.CampaignID, AdGroupID: t.AdGroupID, Name: t.Name,
		ConfiguredStatus: configured(t), Status: status, ReviewStatus: s.review(t), PlatformStatus: word(s.platform, t, status),
		RejectionReason: s.rejection(t), Type: t.Type, PlatformPostID: t.PostID, Creative: core.JSONOf(t.Creative),
		PlatformCreatedAt: &t.CreatedAt, Goal: t.Goal,
	}
}

// entity returns a thing as the mirror has it.
func (s *state) entity(t *thing) ads.Entity {
	switch t.Kind {
	case advert.LevelCampaign:
		c := s.campaign(t)
		return ads.Entity{Campaign: &c}
	case advert.LevelGroup:
		g := s.group(t)
		return ads.Entity{Group: &g}
	default:
		a := s.ad(t)
		return ads.Entity{Ad: &a}
	}
}

// batch returns a thing and what is below it for the mirror, without what was deleted.
func (s *state) batch(t *thing) advert.Batch {
	var b advert.Batch
	t.each(func(t *thing) {
		switch {
		case t.isDeleted():
		case t.Kind == advert.LevelCampaign:
			b.Campaigns = append(b.Campaigns, s.campaign(t))
		case t.Kind == advert.LevelGroup:
			b.Groups = append(b.Groups, s.group(t))
		default:
			b.Ads = append(b.Ads, s.ad(t))
		}
	})
	return b
}
