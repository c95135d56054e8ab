package ads

import (
	"context"
	"fmt"
	"maps"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// UpdateBudget is a change of the budget or the bid of a campaign or an ad group, as it was sent. "" and nil mean that a
// field was not sent.
type UpdateBudget struct {
	Platform string // needed only where two networks have the id
	Currency string // must be the ad account's if it is sent
	Budget   *BudgetInput
	Bid      BidInput
	DryRun   bool

	Targeting *TargetingInput // of an ad group; it replaces the whole of it
}

// CampaignOutcome is the campaign as it is now, or with DryRun the plan of what would be done.
type CampaignOutcome struct {
	Campaign *ShownCampaign
	Plan     *DryRun
}

// AdGroupOutcome is the ad group as it is now, or with DryRun the plan of what would be done.
type AdGroupOutcome struct {
	Group *ShownAdGroup
	Plan  *DryRun
}

// UpdateCampaign changes the budget of a campaign that has one, or how it bids. If nothing would change, no network is
// asked. What exceeds the account's limits is CodeSpendLimit.
func (s *Service) UpdateCampaign(ctx context.Context, by Actor, id string, in UpdateBudget) (*CampaignOutcome, error) {
	platform, err := in.read()
	if err != nil {
		return nil, err
	}
	c, err := s.store.GetCampaign(ctx, by.Account, platform, id)
	if err != nil {
		return nil, err
	}
	if c.DeletedAt != nil {
		return nil, core.Missing("campaign", "", id)
	}
	e, err := s.edit(ctx, by, advert.OpUpdateCampaign, editable{
		channel: c.ChannelID, adAccount: c.AdAccount, seen: c.SyncedAt, ref: Ref{AdAccount: c.AdAccountID, Level: advert.LevelCampaign, ID: c.PlatformID},
		status: c.StatusAt(s.store.Now()), budget: Budget{c.BudgetAmount, c.BudgetType}, bid: Bid{c.BidStrategy, c.BidAmount, c.RoasFloor},
		goal: c.Goal, endsAt: c.EndsAt, hasBudget: c.BudgetLevel == advert.BudgetLevelCampaign,
		elsewhere: "Each ad group of this campaign has its own budget. Send it to PATCH /ads/ad-groups/{id}.",
		bidder:    "Each ad group of this campaign has its own bid. Send it to PATCH /ads/ad-groups/{id}.",
	}, in)
	if err != nil {
		return nil, err
	}
	if plan, err := s.apply(ctx, e, in.DryRun); plan != nil || err != nil {
		return &CampaignOutcome{Plan: plan}, err
	}
	if c, err = s.store.GetCampaign(ctx, by.Account, c.Platform, c.PlatformID); err != nil {
		return nil, core.NewUnknownError("read the campaign that was changed", err)
	}
	return &CampaignOutcome{Campaign: changed(*c, campaignSubject, e.report, s.store.Now())}, nil
}

// UpdateAdGroup changes an ad group as UpdateCampaign does a campaign.
func (s *Service) UpdateAdGroup(ctx context.Context, by Actor, id string, in UpdateBudget) (*AdGroupOutcome, error) {
	platform, err := in.read()
	if err != nil {
		return nil, err
	}
	g, err := s.store.GetGroup(ctx, by.Account, platform, id)
	if err != nil {
		return nil, err
	}
	if g.DeletedAt != nil {
		return nil, core.Missing("ad group", "", id)
	}
	endsAt := g.EndsAt
	if endsAt == nil && g.Campaign != nil {
		endsAt = g.Campaign.EndsAt
	}
	e, err := s.edit(ctx, by, advert.OpUpdateGroup, editable{
		channel: g.ChannelID, adAccount: g.AdAccount, seen: g.SyncedAt,
		ref:    Ref{AdAccount: g.AdAccountID, Level: advert.LevelGroup, ID: g.PlatformID, CampaignID: g.CampaignID},
		status: g.StatusAt(s.store.Now()), budget: Budget{g.BudgetAmount, g.BudgetType}, bid: Bid{g.BidStrategy, g.BidAmount, g.RoasFloor},
		goal: g.Goal, endsAt: endsAt, targeting: g.PlatformTargeting, hasBudget: g.BudgetLevel() == advert.BudgetLevelGroup,
		elsewhere: "The campaign of this ad group has the budget. Send it to PATCH /ads/campaigns/{id}.",
		bidder:    "The campaign of this ad group bids. Send it to PATCH /ads/campaigns/{id}.",
	}, in)
	if err != nil {
		return nil, err
	}
	if plan, err := s.apply(ctx, e, in.DryRun); plan != nil || err != nil {
		return &AdGroupOutcome{Plan: plan}, err
	}
	if g, err = s.store.GetGroup(ctx, by.Account, g.Platform, g.PlatformID); err != nil {
		return nil, core.NewUnknownError("read the ad group that was changed", err)
	}
	groups := []advert.Group{*g}
	if err := s.nameAudiences(ctx, by.Account, groups); err != nil {
		return nil, core.NewUnknownError("read the audiences of the ad group that was changed", err)
	}
	return &AdGroupOutcome{Group: changed(groups[0], groupSubject, e.report, s.store.Now())}, nil
}

// read checks what can be wrong with a change no matter what it is about, and returns the platform.
func (in *UpdateBudget) read() (advert.Platform, error) {
	if in.Budget != nil {
		if err := in.Budget.require(); err != nil {
			return "", err
		}
	}
	return bodyPlatform(in.Platform)
}

// changed returns a row after a change, with its figures if the network told them.
func changed[T any](row T, of func(*T) subject, r *Report, now core.Time) *Reported[T] {
	b := of(&row)
	shown := shownAs(row, &b, window{}, now)
	if r != nil {
		shown.Metrics = &r.Metrics
	}
	return &shown
}

// editable is a campaign or an ad group whose budget or bid is to be changed, as it is now.
type editable struct {
	channel   string
	adAccount *advert.Account
	seen      core.Time // when its row was written last
	ref       Ref
	status    advert.Status
	budget    Budget
	bid       Bid
	goal      advert.Goal // "" if it is not known
	endsAt    *core.Time
	targeting advert.Object // of an ad group, in the network's words
	hasBudget bool
	elsewhere string // where its budget is changed if it has none
	bidder    string // where its bid is changed if it has none
}

// edit is a change of a budget or bid while it is worked on.
type edit struct {
	editable
	by       Actor
	op       advert.Op
	line     *line
	patch    Patch
	problems core.Problems
	report   *Report // what the network said afterwards, if it was asked
}

// edit checks a change and makes the patch for the network. Everything that is wrong with it is one CodeInvalid.
func (s *Service) edit(ctx context.Context, by Actor, op advert.Op, of editable, in UpdateBudget) (*edit, error) {
	line, err := s.activated(ctx, by.Account, of.channel)
	if err != nil {
		return nil, err
	}
	if of.adAccount == nil {
		return nil, fmt.Errorf("%s %s has no ad account", of.ref.Level, of.ref.ID)
	}
	e := &edit{editable: of, by: by, op: op, line: line, patch: Patch{Currency: of.adAccount.Currency, Timezone: of.adAccount.Timezone}}
	CheckCurrency(&e.problems, in.Currency, of.adAccount.Currency)
	if in.Budget != nil {
		e.readBudget(in.Budget, s.store.Now())
	}
	if in.Bid != (BidInput{}) {
		e.readBid(in.Bid)
	}
	if in.Targeting != nil {
		if err := s.retarget(ctx, e, in.Targeting); err != nil {
			return nil, err
		}
	}
	e.problems.Check(of.status != advert.StatusCancelled || e.isNothing(), "status", "What is cancelled cannot be changed.")
	return e, e.problems.Err()
}

// isNothing reports whether the change changes nothing.
func (e *edit) isNothing() bool {
	return e.patch.Budget == nil && e.patch.BidStrategy == nil && e.patch.BidAmount == nil && e.patch.RoasFloor == nil &&
		e.patch.Targeting == nil && e.patch.DSABeneficiary == "" && e.patch.DSAPayor == ""
}

// readBudget reads the new budget.
func (e *edit) readBudget(in *BudgetInput, now core.Time) {
	p := &e.problems
	if !e.hasBudget {
		p.Add("budget", e.elsewhere)
		return
	}
	budget := Budget{ParseAmount(p, NestedBudget.Amount, in.Amount), advert.BudgetType(in.Type)}
	days := 0
	if e.endsAt != nil {
		where := locationOf(e.adAccount.Timezone)
		days = max(DateOf(now.Time().In(where)).DaysUntil(DateOf(e.endsAt.Time().In(where))), 1)
	}
	e.line.Caps().CheckBudget(p, NestedBudget, budget, e.adAccount.Currency, days)
	p.Check(len((*p)[NestedBudget.Type]) > 0 || e.budget.Type == "" || budget.Type == e.budget.Type, NestedBudget.Type,
		fmt.Sprintf("A %s budget stays one: networks do not change the type of what was launched. Create a new campaign instead.", e.budget.Type))
	if budget != e.budget {
		e.patch.Budget = &budget
	}
}

// readBid reads how to bid from now on. A field that is not sent keeps its value if the strategy uses it, and is removed
// if not.
func (e *edit) readBid(in BidInput) {
	if caps := e.line.Caps(); len(caps.Bids) > 0 && !e.bids(caps) {
		e.problems.Add(in.field(), e.bidder)
		return
	}
	bid := in.read(&e.problems)
	if bid.Strategy == "" {
		bid.Strategy = e.bid.Strategy
	}
	rule, _ := e.line.Caps().Bid(bid.Strategy)
	if in.Amount == "" && uses(rule, fieldBidAmount) {
		bid.Amount = e.bid.Amount
	}
	if in.RoasFloor == "" && uses(rule, fieldRoasFloor) {
		bid.RoasFloor = e.bid.RoasFloor
	}
	e.line.Caps().CheckBid(&e.problems, bid, e.adAccount.Currency)
	if bid.Strategy != e.bid.Strategy {
		e.line.Caps().CheckBidGoal(&e.problems, bid.Strategy, e.goal)
		e.patch.BidStrategy = &bid.Strategy
	}
	if bid.Amount != e.bid.Amount {
		e.patch.BidAmount = &bid.Amount
	}
	if bid.RoasFloor != e.bid.RoasFloor {
		e.patch.RoasFloor = &bid.RoasFloor
	}
}

// bids reports whether it has a bid of its own.
func (e *edit) bids(caps Caps) bool {
	if caps.GroupBids {
		return e.ref.Level == advert.LevelGroup
	}
	return e.hasBudget
}

// field returns the first of the fields of a bid that were sent.
func (in BidInput) field() string {
	switch {
	case in.Strategy != "":
		return "bid_strategy"
	case in.Amount != "":
		return fieldBidAmount
	}
	return fieldRoasFloor
}

// uses reports whether a bid strategy needs a field.
func uses(rule BidRule, field string) bool {
	for _, name := range rule.Requires {
		if name == field {
			return true
		}
	}
	return false
}

// spend returns what the change does to what may be spent.
func (e *edit) spend() advert.Change {
	change := advert.Change{Level: e.ref.Level, PlatformID: e.ref.ID, Platform: e.line.channel.Platform, Param: NestedBudget.Amount}
	if e.patch.Budget != nil {
		change.BudgetAmount, change.BudgetType, change.EndsAt = e.patch.Budget.Amount, e.patch.Budget.Type, e.endsAt
	}
	switch {
	case e.patch.BidAmount != nil:
		change.BidAmount = *e.patch.BidAmount
	case e.patch.BidStrategy != nil: // by which the amount is another kind of bid
		change.BidAmount = e.bid.Amount
	}
	return change
}

// apply makes the change at the network. With dryRun it only returns the plan; without anything to change it does
// nothing.
func (s *Service) apply(ctx context.Context, e *edit, dryRun bool) (*DryRun, error) {
	if dryRun {
		return s.planEdit(ctx, e)
	}
	if e.isNothing() {
		return nil, nil
	}
	_, err := s.perform(ctx, e.by, deed{
		line: e.line,
		begin: intent(e.by, e.op, advert.BeginAction{
			AdAccount: e.adAccount, TargetID: e.ref.ID, Seen: e.seen, Plan: advert.NewObject(e.patch), Change: e.spend(),
			Before: advert.NewObject(Patch{Budget: &e.budget, BidStrategy: &e.bid.Strategy, BidAmount: &e.bid.Amount, RoasFloor: &e.bid.RoasFloor, PlatformTargeting: e.targeting}),
		}),
		ask: func(ctx context.Context, action *advert.Action, _ bool) (advert.Outcome, error) {
			var patch Patch // of the first time: the mirror may stand elsewhere by now
			if err := action.Plan.Decode(&patch); err != nil {
				return advert.Outcome{}, core.NewUnknownError("read the plan of a change", err)
			}
			patch.Token = action.ID
			entity, err := e.line.Update(ctx, e.line.conn, e.ref, patch)
			if err != nil {
				return advert.Outcome{}, err
			}
			e.report = s.figures(ctx, e.line, e.ref, e.adAccount)
			return advert.Outcome{After: advert.NewObject(patch), Changed: entity.Batch()}, nil
		},
	})
	return nil, err
}

// figures asks for the figures of one thing after a change. If the network does not tell them, it returns nil: the
// change succeeded all the same.
func (s *Service) figures(ctx context.Context, l *line, ref Ref, a *advert.Account) *Report {
	from, to := window{}.in(locationOf(a.Timezone), s.store.Now())
	heard, err := l.Report(ctx, l.conn, ref.AdAccount, ref.Level, []string{ref.ID}, from, to)
	if r, known := heard[ref.ID]; err == nil && known {
		return &r
	}
	return nil
}

// planEdit returns what the change would do, and what could be spent in a day afterwards. Nothing is written.
func (s *Service) planEdit(ctx context.Context, e *edit) (*DryRun, error) {
	change := e.spend()
	if e.isNothing() {
		change = advert.Change{}
	}
	plan, err := s.dryRun(ctx, e.by.Account, e.op, e.line, e.adAccount, change)
	if err != nil || e.isNothing() {
		return plan, err
	}
	call := PlannedCall{Action: string(e.op), ID: e.ref.ID, Fields: map[string]string{}}
	if e.patch.Budget != nil {
		e.line.Caps().budget(call.Fields, *e.patch.Budget, e.adAccount.Currency)
	}
	var bid Bid
	if e.patch.BidStrategy != nil {
		bid.Strategy = *e.patch.BidStrategy
	}
	if e.patch.BidAmount != nil {
		bid.Amount = *e.patch.BidAmount
	}
	if e.patch.RoasFloor != nil {
		bid.RoasFloor = *e.patch.RoasFloor
	}
	e.line.Caps().bid(call.Fields, bid, e.adAccount.Currency)
	if e.patch.Targeting != nil {
		call.Fields["targeting"] = e.patch.PlatformTargeting.Text()
	}
	maps.Copy(call.Fields, given(map[string]string{"dsa_beneficiary": e.patch.DSABeneficiary, "dsa_payor": e.patch.DSAPayor}))
	plan.Calls = []PlannedCall{call}
	return plan, nil
}
