package sandbox

import (
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// state holds some campaigns of one ad account at one moment, with what their ads did in a window.
type state struct {
	*forest
	market
	platform store.Platform
	account  *store.AdAccount
	now      core.Time
	spent    map[string]int64    // by owner of a lifetime budget
	figures  map[string]*figures // by ad
}

// stateOf computes the state of campaigns from their rows and segments.
func (d *Driver) stateOf(account *store.AdAccount, c store.SandboxCampaigns, w window, now core.Time) (*state, error) {
	f, err := plant(c.Entities)
	if err != nil {
		return nil, err
	}
	s := &state{
		forest: f, market: marketOf(account), platform: d.platform, account: account, now: now,
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
func (s *state) metrics(t *thing) store.AdMetrics {
	all := store.AdMetrics{}
	for _, ad := range t.ads() {
		if f, ok := s.figures[ad.ID]; ok {
			all.Add(f.metrics())
		}
	}
	all.Reach = reach(all.Impressions)
	return all
}

// isSpent reports whether the lifetime budget that pays for a thing is used up.
func (s *state) isSpent(t *thing) bool {
	owner := t.owner()
	return owner != nil && owner.BudgetType == store.BudgetTypeLifetime && int64(owner.Budget)-s.spent[owner.ID] < s.quantum
}

// status returns the state of delivery of a thing.
func (s *state) status(t *thing) store.AdStatus {
	isAd := t.Kind == store.AdLevelAd
	switch {
	case t.isDeleted():
		return store.AdStatusCancelled
	case isAd && s.review(t) == store.AdReviewRejected:
		return store.AdStatusRejected
	case t.hasEnded(s.now) || s.isSpent(t):
		return store.AdStatusCompleted
	case s.account.Status != store.AdAccountActive:
		return store.AdStatusError
	case t.isOff():
		return store.AdStatusPaused
	case isAd && s.review(t) == store.AdReviewInReview:
		return store.AdStatusPendingReview
	}
	return s.rollUp(t)
}

// rollUp returns the state that a thing which is on gets from what is below it. With nothing below, it is active.
func (s *state) rollUp(t *thing) store.AdStatus {
	var below []store.AdStatus
	for _, child := range t.children {
		if child.DeletedAt == 0 {
			below = append(below, s.status(child))
		}
	}
	for _, status := range store.AdStatuses {
		if slices.Contains(below, status) {
			return status
		}
	}
	return store.AdStatusActive
}

// review returns how far the review of an ad has come, or of all ads below a thing together.
func (s *state) review(t *thing) store.AdReview {
	if t.Kind == store.AdLevelAd {
		switch {
		case s.now < core.Time(t.ReviewedAt):
			return store.AdReviewInReview
		case t.Rejection != "":
			return store.AdReviewRejected
		}
		return store.AdReviewApproved
	}
	found := map[store.AdReview]bool{}
	for _, ad := range t.ads() {
		if !ad.isDeleted() {
			found[s.review(ad)] = true
		}
	}
	switch {
	case found[store.AdReviewInReview]:
		return store.AdReviewInReview
	case found[store.AdReviewRejected] && found[store.AdReviewApproved]:
		return store.AdReviewWithIssues
	case found[store.AdReviewRejected]:
		return store.AdReviewRejected
	}
	return store.AdReviewApproved
}

// rejection returns why the review rejected an ad, or "" if it did not.
func (s *state) rejection(t *thing) string {
	if s.review(t) != store.AdReviewRejected {
		return ""
	}
	return t.Rejection
}

func configured(t *thing) store.AdConfigured {
	if t.Off {
		return store.AdConfiguredPaused
	}
	return store.AdConfiguredActive
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
func (s *state) campaign(t *thing) store.AdCampaign {
	status := s.status(t)
	level := store.BudgetLevelGroup
	if t.Budget > 0 {
		level = store.BudgetLevelCampaign
	}
	starts, ends := schedule(t.owners())
	objective, _ := ads.CapsOf(s.platform).Objective(t.Goal)
	return store.AdCampaign{
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
func (s *state) group(t *thing) store.AdGroup {
	status := s.status(t)
	starts, ends := schedule([]*thing{t.owner()})
	return store.AdGroup{
		AdAccountID: t.AdAccountID, PlatformID: t.ID, CampaignID: t.CampaignID, Name: t.Name, ConfiguredStatus: configured(t), Status: status,
		ReviewStatus: s.review(t), PlatformStatus: word(s.platform, t, status), RejectionReason: s.rejection(t), Goal: t.Goal,
		OptimizationGoal: optimization(t.Goal), BudgetAmount: t.Budget, BudgetType: t.BudgetType, BidStrategy: t.BidStrategy,
		BidAmount: t.BidAmount, RoasFloor: t.RoasFloor, Targeting: t.Targeting, PromotedObject: t.PromotedObject,
		StartsAt: starts, EndsAt: ends, PlatformCreatedAt: &t.CreatedAt,
	}
}

// ad returns an ad as the mirror has it.
func (s *state) ad(t *thing) store.Ad {
	status := s.status(t)
	return store.Ad{
		AdAccountID: t.AdAccountID, PlatformID: t.ID, CampaignID: t.CampaignID, AdGroupID: t.AdGroupID, Name: t.Name,
		ConfiguredStatus: configured(t), Status: status, ReviewStatus: s.review(t), PlatformStatus: word(s.platform, t, status),
		RejectionReason: s.rejection(t), Type: t.Type, PlatformPostID: t.PostID, Creative: core.JSONOf(t.Creative),
		PlatformCreatedAt: &t.CreatedAt, Goal: t.Goal,
	}
}

// entity returns a thing as the mirror has it.
func (s *state) entity(t *thing) ads.Entity {
	switch t.Kind {
	case store.AdLevelCampaign:
		c := s.campaign(t)
		return ads.Entity{Campaign: &c}
	case store.AdLevelGroup:
		g := s.group(t)
		return ads.Entity{Group: &g}
	default:
		a := s.ad(t)
		return ads.Entity{Ad: &a}
	}
}

// batch returns a thing and what is below it for the mirror, without what was deleted.
func (s *state) batch(t *thing) store.AdBatch {
	var b store.AdBatch
	t.each(func(t *thing) {
		switch {
		case t.isDeleted():
		case t.Kind == store.AdLevelCampaign:
			b.Campaigns = append(b.Campaigns, s.campaign(t))
		case t.Kind == store.AdLevelGroup:
			b.Groups = append(b.Groups, s.group(t))
		default:
			b.Ads = append(b.Ads, s.ad(t))
		}
	})
	return b
}
