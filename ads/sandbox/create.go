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
	plans := b.plan.Ads()
	slices.Reverse(plans) // the first is made last
	for _, plan := range plans {
		ad, err := b.add(group, b.ad(group.Goal, plan))
		if err != nil {
			return created, err
		}
		ad.Token = plan.Token
	}
	return b.created(b.made, b.plan.Token), nil
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
	if b.bidder() == advert.LevelCampaign {
		b.bid(&of)
	}
	return of
}

func (b *builder) group() detail {
	of := detail{Name: b.plan.Name, Goal: b.plan.Goal, Targeting: advert.NewObject(b.plan.Targeting), Words: b.plan.PlatformTargeting, PromotedObject: b.plan.PromotedObject,
		Categories: b.plan.Categories, Beneficiary: b.plan.DSABeneficiary, Payor: b.plan.DSAPayor}
	if b.plan.BudgetLevel != advert.BudgetLevelCampaign {
		b.pay(&of)
	}
	if b.bidder() == advert.LevelGroup {
		b.bid(&of)
	}
	return of
}

// bidder is the level that bids.
func (b *builder) bidder() advert.Level {
	if b.plan.BudgetLevel == advert.BudgetLevelCampaign && !b.driver.Caps().GroupBids {
		return advert.LevelCampaign
	}
	return advert.LevelGroup
}

// bid gives a thing the plan's bid.
func (b *builder) bid(of *detail) {
	of.BidStrategy, of.BidAmount, of.RoasFloor = b.plan.BidStrategy, b.plan.BidAmount, b.plan.RoasFloor
}

// pay gives a thing the plan's budget and schedule.
func (b *builder) pay(of *detail) {
	of.Budget, of.BudgetType, of.EndsAt = b.plan.BudgetAmount, b.plan.BudgetType, micros(b.plan.EndsAt)
	of.StartsAt = max(micros(b.plan.StartsAt), int64(b.now))
}

func (b *builder) ad(goal advert.Goal, plan ads.AdPlan) detail {
	of := detail{Name: plan.Name, Goal: goal, Type: advert.TypeStandalone}
	if b.plan.Post != nil {
		of.Type, of.PostID = advert.TypeBoost, b.plan.Post.PlatformID
	}
	of.show(plan.Creative, b.now.Add(b.driver.options.ReviewDelay))
	return of
}

// show gives an ad its creative, which the review is through with at a time.
func (of *detail) show(creative advert.Creative, reviewed core.Time) {
	of.Creative, of.ReviewedAt, of.Rejection = creative, int64(reviewed), ""
	if strings.Contains(creative.Headline+creative.Body, rejectMark) {
		of.Rejection = "The ad does not comply with the sandbox's policy: it contains " + rejectMark + "."
	}
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
	}
	caps := b.driver.Caps()
	if plan.Post != nil && slices.Contains(caps.VideoGoals, plan.Goal) && !b.films() {
		return refuse("post_id", "The post shows no video.")
	}
	if plan.Post == nil {
		if err := b.checkCreatives(caps); err != nil {
			return err
		}
	}
	if plan.AdGroupID != "" {
		return nil
	}
	if _, ok := caps.Objective(plan.Goal); !ok {
		return refuse("goal", "There is no objective for this goal.")
	}
	if plan.EndsAt != nil && *plan.EndsAt <= max(b.now, core.Time(micros(plan.StartsAt))) {
		return refuse("end_date", "The campaign would end before it begins.")
	}
	if plan.BudgetType == advert.BudgetTypeLifetime && plan.EndsAt == nil {
		return refuse("end_date", "A lifetime budget needs an end.")
	}
	if err := checkPlaces(caps, &plan.Targeting); err != nil {
		return err
	}
	return checkBudget(caps, ads.Budget{Amount: plan.BudgetAmount, Type: plan.BudgetType}, b.account.Currency)
}

// filmEnd is how the address of what a post shows ends, if that is a video.
const filmEnd = ".mp4"

// films reports whether the post that is boosted shows a video.
func (b *builder) films() bool {
	return slices.ContainsFunc(b.driver.posts(b.conn), func(p advert.SocialPost) bool {
		return p.PlatformID == b.plan.Post.PlatformID && strings.HasSuffix(p.MediaURL, filmEnd)
	})
}

// checkCreatives refuses what the network does not show, and videos that it is not through with.
func (b *builder) checkCreatives(caps ads.Caps) error {
	goal := b.plan.Goal
	if group := b.byID[b.plan.AdGroupID]; group != nil {
		goal = group.Goal
	}
	for _, ad := range b.plan.Ads() {
		if err := checkCreative(caps, goal, ad.Creative, b.plan.Media, b.now); err != nil {
			return err
		}
	}
	return nil
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

// created returns the things that were made as the mirror has them. token is that of the first ad.
func (s *state) created(made []*thing, token string) ads.Created {
	var created ads.Created
	for _, t := range made {
		e := s.entity(t)
		switch t.Kind {
		case advert.LevelCampaign:
			created.Campaign = e.Campaign
		case advert.LevelGroup:
			created.Group = e.Group
		default:
			if t.Token == token {
				created.Ad = e.Ad
				continue
			}
			if created.More == nil {
				created.More = map[string]*advert.Ad{}
			}
			created.More[t.Token] = e.Ad
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
	created := s.created(s.with(entities, token), token)
	for _, id := range audiences {
		audience, err := d.audience(ctx, c, adAccount, id)
		if err != nil {
			return ads.Created{}, false, err
		}
		created.Audience = &audience
	}
	return created, true, nil
}

// with returns the things with the ids, and the other ads that were made together with the one that has the token.
func (f *forest) with(ids []string, token string) []*thing {
	var found []*thing
	for _, id := range ids {
		found = append(found, f.byID[id])
	}
	tokens := ads.AdTokens(token)[1:]
	for _, t := range f.byID {
		if slices.Contains(tokens, t.Token) {
			found = append(found, t)
		}
	}
	return found
}

// TidyNames implements ads.Network. There is nothing to do: no name has a token.
func (*Driver) TidyNames(context.Context, ads.Conn, string, []ads.MadeName) error { return nil }
