package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// rejectMark in a headline or text makes the review refuse an ad.
const rejectMark = "[reject]"

// Create implements ads.Network. It does not check whether the token was used before: a request that is sent twice makes
// two campaigns, as it does at other networks.
func (d *Driver) Create(ctx context.Context, c ads.Conn, plan ads.Plan) (ads.Created, error) {
	fault, err := d.enter(ctx, c, true)
	if err != nil {
		return ads.Created{}, err
	}
	account, err := d.account(c, plan.AdAccount.PlatformID)
	if err != nil {
		return ads.Created{}, err
	}
	var created ads.Created
	if err := d.change(ctx, c, &account, []string{plan.AdGroupID}, func(s *state, last int64) ([]*thing, error) {
		b := builder{driver: d, conn: c, state: s, plan: plan, seq: last, fault: fault}
		created, err = b.build()
		return b.made, err
	}); err != nil {
		return ads.Created{}, err
	}
	return created, fault.lost(ctx)
}

// builder makes what a plan says, and collects it in made.
type builder struct {
	*state
	driver *Driver
	conn   ads.Conn
	plan   ads.Plan
	seq    int64
	fault  *injected
	made   []*thing
}

// build makes the campaign and the ad group, unless the plan joins an ad group, and then the ad.
func (b *builder) build() (ads.Created, error) {
	var created ads.Created
	if err := b.check(); err != nil {
		return created, err
	}
	group, ok := b.byID[b.plan.AdGroupID]
	switch {
	case b.plan.AdGroupID == "":
		campaign, err := b.add(nil, b.campaign())
		if err != nil {
			return created, err
		}
		if group, err = b.add(campaign, b.group()); err != nil {
			return created, err
		}
	case !ok || group.Kind != advert.LevelGroup || group.AdAccountID != b.account.PlatformID || group.isDeleted():
		return created, fmt.Errorf("ad group %s: %w", b.plan.AdGroupID, ads.ErrNotFound)
	}
	if _, err := b.add(group, b.ad(group.Goal)); err != nil {
		return created, err
	}
	return b.created(b.made), nil
}

// add makes a thing below another one.
func (b *builder) add(parent *thing, of detail) (*thing, error) {
	if err := b.fault.part(len(b.made)); err != nil {
		return nil, err
	}
	b.seq++
	t := b.driver.make(b.conn, parent, b.account.PlatformID, b.seq, b.now)
	t.detail, t.Token = of, b.plan.Token
	t.Off = b.plan.Configured == advert.ConfiguredPaused && slices.Contains(b.driver.Caps().PauseLevels, t.Kind)
	b.forest.add(t)
	b.made = append(b.made, t)
	return t, nil
}

func (b *builder) campaign() detail {
	of := detail{Name: b.plan.Name, Goal: b.plan.Goal}
	if b.plan.BudgetLevel == advert.BudgetLevelCampaign {
		b.pay(&of)
	}
	return of
}

func (b *builder) group() detail {
	of := detail{Name: b.plan.Name, Goal: b.plan.Goal, Targeting: b.plan.Targeting, PromotedObject: b.plan.PromotedObject}
	if b.plan.BudgetLevel != advert.BudgetLevelCampaign {
		b.pay(&of)
	}
	return of
}

// pay gives a thing the plan's budget, schedule and bid.
func (b *builder) pay(of *detail) {
	of.Budget, of.BudgetType, of.EndsAt = b.plan.BudgetAmount, b.plan.BudgetType, micros(b.plan.EndsAt)
	of.StartsAt = max(micros(b.plan.StartsAt), int64(b.now))
	of.BidStrategy, of.BidAmount, of.RoasFloor = b.plan.BidStrategy, b.plan.BidAmount, b.plan.RoasFloor
}

func (b *builder) ad(goal advert.Goal) detail {
	of := detail{
		Name: b.plan.Name, Goal: goal, Type: advert.TypeStandalone, Creative: b.plan.Creative,
		ReviewedAt: int64(b.now.Add(b.driver.options.ReviewDelay)),
	}
	if b.plan.Post != nil {
		of.Type, of.PostID = advert.TypeBoost, b.plan.Post.PlatformID
	}
	if strings.Contains(of.Creative.Headline+of.Creative.Body, rejectMark) {
		of.Rejection = "The ad does not comply with the sandbox's policy: it contains " + rejectMark + "."
	}
	return of
}

// check refuses a plan that no network would take.
func (b *builder) check() error {
	plan := b.plan
	switch {
	case b.account.Status != advert.AccountActive:
		return refuse("ad_account_id", "The ad account is disabled.")
	case plan.Post != nil && !slices.ContainsFunc(b.driver.posts(b.conn), func(p advert.SocialPost) bool {
		return p.PlatformID == plan.Post.PlatformID && p.Status == advert.SocialPostPublished
	}):
		return refuse("post_id", "The post is not published.")
	case plan.AdGroupID != "":
		return nil
	}
	caps := b.driver.Caps()
	if _, ok := caps.Objective(plan.Goal); !ok {
		return refuse("goal", "There is no objective for this goal.")
	}
	if plan.EndsAt != nil && *plan.EndsAt <= max(b.now, core.Time(micros(plan.StartsAt))) {
		return refuse("end_date", "The campaign would end before it begins.")
	}
	if plan.BudgetType == advert.BudgetTypeLifetime && plan.EndsAt == nil {
		return refuse("end_date", "A lifetime budget needs an end.")
	}
	return checkBudget(caps, ads.Budget{Amount: plan.BudgetAmount, Type: plan.BudgetType}, b.account.Currency)
}

// checkBudget refuses a budget that the network would not take.
func checkBudget(caps ads.Caps, b ads.Budget, currency string) error {
	var p core.Problems
	caps.CheckBudget(&p, ads.FlatBudget, b, currency, 0)
	for field, messages := range p {
		return refuse(field, messages[0])
	}
	return nil
}

func refuse(field, message string) error {
	return &ads.Rejected{Field: field, Message: message, Raw: "invalid_" + field}
}

// created returns the things that were made as the mirror has them.
func (s *state) created(made []*thing) ads.Created {
	var created ads.Created
	for _, t := range made {
		e := s.entity(t)
		switch t.Kind {
		case advert.LevelCampaign:
			created.Campaign = e.Campaign
		case advert.LevelGroup:
			created.Group = e.Group
		default:
			created.Ad = e.Ad
		}
	}
	return created
}

// Find implements ads.Network. If something is being made at this moment, it waits for that.
func (d *Driver) Find(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	account, err := d.read(ctx, c, adAccount)
	if err != nil {
		return ads.Created{}, false, err
	}
	entities, audiences, err := d.store.FindSandboxToken(ctx, c.Account, c.Channel, token)
	if err != nil || len(entities)+len(audiences) == 0 {
		return ads.Created{}, false, err
	}
	found, err := d.store.GetSandboxCampaigns(ctx, c.Account, c.Channel, entities)
	if err != nil {
		return ads.Created{}, false, err
	}
	s, err := d.stateOf(&account, found, window{}, core.TimeOf(c.Now()))
	if err != nil {
		return ads.Created{}, false, err
	}
	created := s.created(s.all(entities))
	for _, id := range audiences {
		audience, err := d.audience(ctx, c, adAccount, id)
		if err != nil {
			return ads.Created{}, false, err
		}
		created.Audience = &audience
	}
	return created, true, nil
}

// all returns the things with the ids.
func (f *forest) all(ids []string) []*thing {
	var found []*thing
	for _, id := range ids {
		found = append(found, f.byID[id])
	}
	return found
}
