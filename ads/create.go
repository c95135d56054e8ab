package ads

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// CreateAd is a new ad, as it was sent. A campaign and an ad group are made for it unless it joins an ad group. "" means
// that a field was not sent. An amount is the decimal text of whole currency units.
type CreateAd struct {
	AccountID    string
	AdAccountID  string
	Platform     string
	Name         string
	Goal         string
	Status       string // active (default) | paused, of all that is created
	Currency     string // must be the ad account's if it is sent
	BudgetAmount string
	BudgetType   string
	BudgetLevel  string
	StartDate    string
	EndDate      string
	CampaignID   string
	AdGroupID    string // the ad group to join: it has the goal, the budget and the bid
	Creative     advert.Creative
	Creatives    []NamedCreative // instead of Creative: an ad each
	Bid          BidInput
	Targeting    TargetingInput

	PromotedObject advert.Object // in the network's own words, and sent to it as they are

	Extra    map[string]any // what else was sent, under any name; stored and shown, never sent to a network
	Warnings []string       // about what was sent; shown with what the network has no place for
	DryRun   bool
}

// BoostPost is a new ad that shows a published post, as it was sent.
type BoostPost struct {
	AccountID    string
	AdAccountID  string
	Platform     string
	PostID       string // ours or the network's
	Name         string
	Goal         string
	Status       string
	Currency     string
	Budget       *BudgetInput
	BudgetLevel  string
	StartDate    string
	EndDate      string
	DurationDays *int // instead of EndDate; a lifetime budget without either is for a week
	Bid          BidInput
	Targeting    TargetingInput

	PromotedObject advert.Object // in the network's own words, and sent to it as they are

	DryRun bool
}

// BudgetInput is a budget as it was sent.
type BudgetInput struct{ Amount, Type string }

// BidInput says how to bid, as it was sent.
type BidInput struct{ Strategy, Amount, RoasFloor string }

// AdOutcome is the ad that was created, or with DryRun the plan of what would be done.
type AdOutcome struct {
	Ad   *ShownAd
	Ads  []*ShownAd // all of several that were made together, Ad first
	Plan *DryRun
}

// boostDays is how long a boost with a lifetime budget runs that has no end.
const (
	boostDays    = 7
	maxBoostDays = 365
)

// CreateAd creates an ad at a network, at most once however often the same request is sent. If something that the request
// names does not exist, the error is CodeMissing on its parameter. What exceeds the account's limits is CodeSpendLimit,
// and anything else that is wrong is CodeInvalid. An error that is not a *core.Error leaves the outcome unknown: the same
// request sent again finds out, or else the reconciler does.
func (s *Service) CreateAd(ctx context.Context, by Actor, in CreateAd) (*AdOutcome, error) {
	d, err := s.draftAd(ctx, by, &in)
	if err != nil {
		return nil, err
	}
	return s.create(ctx, d, in.DryRun)
}

// draftAd reads a new ad. What is wrong with it is in the draft, unless something is missing.
func (s *Service) draftAd(ctx context.Context, by Actor, in *CreateAd) (*draft, error) {
	if err := in.require(); err != nil {
		return nil, err
	}
	d, err := s.draft(ctx, by, advert.OpCreateAd, in.AccountID, in.AdAccountID)
	if err != nil {
		return nil, err
	}
	if in.AdGroupID != "" {
		if err := s.join(ctx, d, in); err != nil {
			return nil, err
		}
	} else {
		d.campaign(in.Goal, in.BudgetLevel, in.Bid)
		d.words(in.PromotedObject, false)
		if err := s.target(ctx, d, &in.Targeting); err != nil {
			return nil, err
		}
		d.budget(FlatBudget, in.BudgetAmount, in.BudgetType, in.StartDate, in.EndDate)
	}
	d.common(in.Platform, in.Name, in.Status, in.Currency)
	d.creatives(in)
	d.warnings = append(d.warnings, in.Warnings...)
	d.recipe.Extra = advert.NewObject(in.Extra)
	return d, nil
}

// BoostPost creates an ad that shows a published post, as CreateAd does with a creative.
func (s *Service) BoostPost(ctx context.Context, by Actor, in BoostPost) (*AdOutcome, error) {
	if err := in.require(); err != nil {
		return nil, err
	}
	d, err := s.draft(ctx, by, advert.OpBoostPost, in.AccountID, in.AdAccountID)
	if err != nil {
		return nil, err
	}
	if d.plan.Post, err = s.publishedPost(ctx, d.line, in.PostID); err != nil {
		return nil, err
	}
	d.campaign(in.Goal, in.BudgetLevel, in.Bid)
	d.words(in.PromotedObject, true)
	if err := s.target(ctx, d, &in.Targeting); err != nil {
		return nil, err
	}
	d.budget(NestedBudget, in.Budget.Amount, in.Budget.Type, in.StartDate, d.boostEnd(&in))
	d.common(in.Platform, in.Name, in.Status, in.Currency)
	return s.create(ctx, d, in.DryRun)
}

// publishedPost returns a post to boost. If the mirror does not have it as a published post, the network is asked once
// more: it may have been published since then.
func (s *Service) publishedPost(ctx context.Context, l *line, ref string) (*advert.SocialPost, error) {
	post, err := s.store.PublishedPost(ctx, l.channel, ref)
	var refused *core.Error
	if !errors.As(err, &refused) {
		return post, err
	}
	if err := s.store.Leave(ctx); err != nil {
		return nil, err
	}
	if err := s.mirrorPosts(ctx, l); err != nil {
		return nil, err
	}
	return s.store.PublishedPost(ctx, l.channel, ref)
}

// require returns CodeParameterMissing for the first field that a new ad needs and does not have.
func (in *CreateAd) require() error {
	fields := required{{"account_id", in.AccountID}, {"ad_account_id", in.AdAccountID}, {"name", in.Name}}
	if in.AdGroupID == "" {
		fields = append(fields, required{{"goal", in.Goal}, {"budget_amount", in.BudgetAmount}, {"budget_type", in.BudgetType}}...)
	}
	if err := fields.err(); err != nil {
		return err
	}
	if in.CampaignID != "" && in.AdGroupID == "" {
		return parameterMissing("ad_group_id", "ad_group_id is required with campaign_id: an ad joins one of the campaign's ad groups.")
	}
	return nil
}

// require returns CodeParameterMissing for the first field that a boost needs and does not have.
func (in *BoostPost) require() error {
	fields := required{
		{"account_id", in.AccountID}, {"ad_account_id", in.AdAccountID}, {"post_id", in.PostID}, {"name", in.Name}, {"goal", in.Goal},
	}
	if err := fields.err(); err != nil {
		return err
	}
	return in.Budget.require()
}

// require returns CodeParameterMissing for a budget, or a part of one, that was not sent.
func (b *BudgetInput) require() error {
	if b == nil {
		return parameterMissing("budget", "budget is required, as {\"amount\": 20, \"type\": \"daily\"}.")
	}
	return required{{"budget.amount", b.Amount}, {"budget.type", b.Type}}.err()
}

// recipe is all that is needed to create an ad, also after a crash. The action keeps it.
type recipe struct {
	Plan  Plan          `json:"plan"`
	Extra advert.Object `json:"extra,omitempty"`
	uploads
}

// create creates the drafted ad at the network, or returns what that would do. If the draft has problems, they are the
// error.
func (s *Service) create(ctx context.Context, d *draft, dryRun bool) (*AdOutcome, error) {
	if checker, ok := d.line.Network.(Checker); ok && len(d.problems) == 0 {
		if err := rejectedIn(&d.problems, checker.Check(*d.plan)); err != nil {
			return nil, err
		}
	}
	if err := d.problems.Err(); err != nil {
		return nil, err
	}
	if dryRun {
		plan, err := s.dryRun(ctx, d.by.Account, d.op, d.line, &d.plan.AdAccount, d.change())
		if err != nil {
			return nil, err
		}
		plan.Calls, plan.Warnings = d.caps.creates(d.plan), d.warnings
		return &AdOutcome{Plan: plan}, nil
	}
	action, err := s.perform(ctx, d.by, deed{
		line: d.line,
		begin: intent(d.by, d.op, advert.BeginAction{
			AdAccount: &d.plan.AdAccount, Plan: advert.NewObject(d.recipe), Change: d.change(),
		}),
		ask: func(ctx context.Context, action *advert.Action, again bool) (advert.Outcome, error) {
			return s.createWithVideos(ctx, d.line, action, &d.recipe, again)
		},
	})
	if err != nil {
		return nil, err
	}
	return s.made(ctx, d, action)
}

// create makes an ad at the network. If an earlier try may have made it, it asks the network first. As long as that try
// may still take place there, nothing is sent, because the ad could then exist twice.
func (l *line) create(ctx context.Context, action *advert.Action, r *recipe, again bool) (advert.Outcome, error) {
	if again && l.repeats(action) {
		var before recipe // what is drafted today may begin on another day
		if err := action.Plan.Decode(&before); err != nil {
			return advert.Outcome{}, core.NewUnknownError("read the plan of an ad", err)
		}
		before.Plan.Media = r.Plan.Media
		*r, again = before, false
	}
	r.Plan.Token = action.ID
	if again {
		created, found, err := l.found(ctx, action)
		if err != nil {
			return advert.Outcome{}, err
		}
		if found {
			return r.outcome(created)
		}
		if !hasProof(action) && core.TimeOf(l.conn.Now()) < openUntil(action) {
			return advert.Outcome{}, &undecided{fmt.Errorf("%w, but may be on its way", errNotYet)}
		}
	}
	created, err := l.Create(ctx, l.conn, r.Plan)
	if err != nil {
		return advert.Outcome{}, err
	}
	return r.outcome(created)
}

// repeats reports whether the network answers a request for an ad that is sent again as it did before.
func (l *line) repeats(action *advert.Action) bool {
	caps := l.Caps()
	return caps.Reconcile == ReconcileRepeat && core.TimeOf(l.conn.Now()) < action.CreatedAt.Add(caps.RepeatFor)
}

// outcome returns the outcome of the action: what was made, with what the recipe says and the network does not tell.
func (r *recipe) outcome(c Created) (advert.Outcome, error) {
	if c.Ad == nil {
		return advert.Outcome{}, fmt.Errorf("the network made no ad: %w", ErrIndeterminate)
	}
	for i, plan := range r.Plan.Ads() {
		ad := c.Ad
		if i > 0 {
			ad = c.More[plan.Token]
		}
		if ad == nil { // somebody has deleted it since
			continue
		}
		ad.Goal, ad.Extra, ad.Type = r.Plan.Goal, r.Extra, advert.TypeStandalone
		if !plan.Creative.IsZero() { // a network that is asked later tells less of it
			ad.Creative = core.JSONOf(plan.Creative)
		}
	}
	if post := r.Plan.Post; post != nil {
		c.Ad.Type, c.Ad.PostID, c.Ad.PlatformPostID = advert.TypeBoost, post.ID, post.PlatformID
	}
	made := map[string]any{"ad_id": c.Ad.PlatformID}
	if len(c.More) > 0 {
		made["ad_ids"] = r.Plan.idsOf(c)
	}
	if c.Group != nil {
		made["ad_group_id"] = c.Group.PlatformID
	}
	if c.Campaign != nil {
		made["campaign_id"] = c.Campaign.PlatformID
	}
	return advert.Outcome{
		TargetID: c.Ad.PlatformID, After: advert.NewObject(made), Made: c.Batch(),
		NamesDue: CapsOf(r.Plan.AdAccount.Platform).Reconcile == ReconcileName,
	}, nil
}
