package meta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"golang.org/x/net/publicsuffix"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// making is an ad that is being created: the parameters that are sent for it, and the ids of what exists so far.
type making struct {
	n    *Network
	c    ads.Conn
	plan ads.Plan
	aim  aim
	page pageNode

	campaignParams, groupParams url.Values
	campaign, group             string
	ads                         []*adMaking // in the order in which they are made: the plan's first is the last
}

// adMaking is one of the ads.
type adMaking struct {
	ads.AdPlan
	params       url.Values // of its creative
	creative, id string
}

// made is Meta's answer to a create.
type made struct{ ID string }

// Create implements ads.Network. It prepares all requests before it sends the first one, and nothing can be delivered
// before the last step, which makes the ad.
func (n *Network) Create(ctx context.Context, c ads.Conn, plan ads.Plan) (ads.Created, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	m := &making{n: n, c: c, plan: plan, group: plan.AdGroupID}
	for _, one := range slices.Backward(plan.Ads()) {
		m.ads = append(m.ads, &adMaking{AdPlan: one})
	}
	if err := m.prepare(ctx); err != nil {
		return ads.Created{}, err
	}
	steps := []func(context.Context) error{m.createCampaign, m.createGroup, m.createCreatives, m.createAds}
	if plan.AdGroupID != "" {
		steps = steps[2:]
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return ads.Created{}, m.undo(ctx, err)
		}
	}
	return m.created(), nil
}

// prepare asks for what the plan leaves open, and puts together the parameters of all steps but the last.
func (m *making) prepare(ctx context.Context) (err error) {
	if m.page, err = m.n.pageOf(ctx, m.c, m.plan.Post); err != nil {
		return err
	}
	if m.plan.Post != nil && slices.Contains(m.n.caps.VideoGoals, m.plan.Goal) {
		if err = m.n.films(ctx, m.c, m.page, m.plan.Post.PlatformID); err != nil {
			return err
		}
	}
	for _, ad := range m.ads {
		if ad.params, err = m.n.creativeParams(ctx, m.c, m.plan, ad.AdPlan, m.page); err != nil {
			return err
		}
	}
	if m.plan.AdGroupID != "" {
		return nil
	}
	if m.aim, err = aimOf(m.plan.Goal, m.plan.BidStrategy); err != nil {
		return err
	}
	if m.campaignParams, err = m.describeCampaign(); err != nil {
		return err
	}
	m.groupParams, err = m.describeGroup()
	return err
}

// make sends the request that creates something, and stores the new id.
func (m *making) make(ctx context.Context, edge string, params url.Values, id *string) error {
	var answer made
	err := m.n.graph.post(ctx, m.c.Token, place{m.plan.AdAccount.PlatformID, edge}, params, &answer)
	if err == nil && answer.ID == "" {
		return fmt.Errorf("%w: %s answered without an id", ads.ErrIndeterminate, edge)
	}
	*id = answer.ID
	return err
}

func (m *making) createCampaign(ctx context.Context) error {
	return m.make(ctx, "campaigns", m.campaignParams, &m.campaign)
}

func (m *making) createGroup(ctx context.Context) error {
	m.groupParams.Set("campaign_id", m.campaign)
	return m.make(ctx, "adsets", m.groupParams, &m.group)
}

func (m *making) createCreatives(ctx context.Context) error {
	for _, ad := range m.ads {
		if err := m.make(ctx, "adcreatives", ad.params, &ad.creative); err != nil {
			return err
		}
	}
	return nil
}

func (m *making) createAds(ctx context.Context) error {
	for _, ad := range m.ads {
		params := url.Values{"name": {ad.Name}, "adset_id": {m.group}, "status": {m.switchWord()}, "adlabels": {labels(ad.Token)},
			"creative": {jsonText(map[string]string{"creative_id": ad.creative})}}
		if domain := domainOf(ad.Creative.LinkURL); domain != "" { // what a pixel counts has to happen there
			params.Set("conversion_domain", domain)
		}
		if err := m.make(ctx, "ads", params, &ad.id); err != nil {
			return err
		}
	}
	return nil
}

// domainOf returns the registrable domain of an address, such as example.co.uk, or "" if it has none.
func domainOf(link string) string {
	address, err := url.Parse(link)
	if err != nil {
		return ""
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(address.Hostname())
	if err != nil {
		return ""
	}
	return domain
}

// describeCampaign returns the parameters of the new campaign.
func (m *making) describeCampaign() (url.Values, error) {
	objective, ok := m.n.caps.Objective(m.plan.Goal)
	if !ok {
		return nil, ads.ErrUnsupported
	}
	params := url.Values{"name": {m.plan.Name}, "objective": {objective}, "status": {m.switchWord()}, "special_ad_categories": {jsonText(append([]string{}, m.plan.Categories...))},
		"adlabels": {labels(m.plan.Token)}}
	if len(m.plan.CategoryCountries) > 0 {
		params.Set("special_ad_category_country", jsonText(m.plan.CategoryCountries))
	}
	promoted, err := promotedOf(m.plan)
	if err != nil {
		return nil, err
	}
	if id := promoted[catalog]; id != nil {
		params.Set("promoted_object", jsonText(map[string]any{catalog: id}))
	}
	if m.plan.BudgetLevel != advert.BudgetLevelCampaign {
		params.Set("is_adset_budget_sharing_enabled", "false") // another ad set must not spend this one's budget
		return params, nil
	}
	return params, m.setMoney(params)
}

// setMoney adds the budget and the bid strategy that goes with it.
func (m *making) setMoney(params url.Values) error {
	m.n.setStrategy(params, cmp.Or(m.plan.BidStrategy, m.n.caps.DefaultBid))
	return m.n.setBudget(params, ads.Budget{Amount: m.plan.BudgetAmount, Type: m.plan.BudgetType}, m.plan.AdAccount.Currency)
}

// describeGroup returns the parameters of the new ad set, except the id of its campaign.
func (m *making) describeGroup() (url.Values, error) {
	params := url.Values{"name": {m.plan.Name}, "optimization_goal": {m.aim.optimization}, "billing_event": {"IMPRESSIONS"},
		"destination_type": {m.aim.destination}, "targeting": {m.plan.PlatformTargeting.Text()}, "status": {m.switchWord()}, "adlabels": {labels(m.plan.Token)}}
	if m.aim.destination == "" {
		params.Del("destination_type")
	}
	setTransparency(params, m.plan.DSABeneficiary, m.plan.DSAPayor)
	if m.plan.StartsAt != nil {
		params.Set("start_time", textOf(*m.plan.StartsAt))
	}
	if m.plan.EndsAt != nil {
		params.Set("end_time", textOf(*m.plan.EndsAt))
	}
	for _, fill := range []func(url.Values) error{m.fillBudget, m.fillBid, m.fillPromoted} {
		if err := fill(params); err != nil {
			return nil, err
		}
	}
	return params, nil
}

// fillBudget adds the budget and the bid strategy to the ad set, unless the campaign has them.
func (m *making) fillBudget(params url.Values) error {
	if m.plan.BudgetLevel == advert.BudgetLevelCampaign {
		return nil
	}
	return m.setMoney(params)
}

// fillBid adds the bid amount and the ROAS floor, which belong to the ad set even if the campaign has the budget.
func (m *making) fillBid(params url.Values) error {
	return m.n.setBid(params, m.plan.BidAmount, m.plan.RoasFloor, m.plan.AdAccount.Currency)
}

// setTransparency adds who profits from an ad set and who pays for it, as far as that is known.
func setTransparency(params url.Values, beneficiary, payor string) {
	if beneficiary != "" {
		params.Set("dsa_beneficiary", beneficiary)
	}
	if payor != "" {
		params.Set("dsa_payor", payor)
	}
}

// fillPromoted adds what the ad set promotes, if anything.
func (m *making) fillPromoted(params url.Values) error {
	object, err := m.aim.promoted(m.plan, m.page.ID)
	if len(object) > 0 {
		params.Set("promoted_object", jsonText(object))
	}
	return err
}

func (m *making) switchWord() string { return m.n.caps.SwitchWord(m.plan.Configured) }

// undo removes what was made before a step failed, and returns the cause. If the step may have taken place after all,
// nothing is touched, because Find will look at it. If something cannot be removed, the error is ErrIndeterminate too.
func (m *making) undo(ctx context.Context, cause error) error {
	if errors.Is(cause, ads.ErrIndeterminate) {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(m.n.total, ads.UndoTime))
	defer cancel()
	left := []string{m.campaign} // it takes its ad sets and ads along
	for _, ad := range m.ads {
		if m.campaign == "" {
			left = append(left, ad.id)
		}
		left = append(left, ad.creative)
	}
	for _, id := range left {
		if id == "" {
			continue
		}
		if err := m.n.remove(ctx, m.c, id); err != nil {
			return fmt.Errorf("%w: %w; and what was made before it could not be removed: %w", ads.ErrIndeterminate, cause, err)
		}
	}
	return cause
}

// remove deletes a node. If it is gone already, that is no error. It tries again after a fault, because deleting twice
// does no harm.
func (n *Network) remove(ctx context.Context, c ads.Conn, id string) error {
	wait := n.graph.backoff
	for try := 1; ; try++ {
		err := n.graph.delete(ctx, c.Token, place{id: id})
		if err == nil || errors.Is(err, ads.ErrNotFound) {
			return nil
		}
		again := errors.Is(err, ads.ErrIndeterminate) || errors.Is(err, ads.ErrUnavailable)
		if !again || try == tries || !sleep(ctx, wait) {
			return err
		}
		wait *= 2
	}
}

// created returns what was made, as the plan says. What the review will decide is not known yet.
func (m *making) created() ads.Created {
	now := core.TimeOf(m.c.Now())
	p := m.plan
	effective, status := "PENDING_REVIEW", advert.StatusPendingReview
	if p.Configured == advert.ConfiguredPaused {
		effective, status = "PAUSED", advert.StatusPaused
	}
	var made ads.Created
	for _, one := range m.ads {
		ad := &advert.Ad{PlatformID: one.id, CampaignID: cmp.Or(m.campaign, p.CampaignID), AdGroupID: m.group, Name: one.Name, ConfiguredStatus: p.Configured,
			Status: status, ReviewStatus: advert.ReviewInReview, PlatformStatus: effective, Type: advert.TypeStandalone,
			Creative: core.JSONOf(one.Creative), PlatformCreatedAt: &now}
		if p.Post != nil {
			ad.Type, ad.PlatformPostID = advert.TypeBoost, p.Post.PlatformID
		}
		if one.Token == p.Token {
			made.Ad = ad
			continue
		}
		if made.More == nil {
			made.More = map[string]*advert.Ad{}
		}
		made.More[one.Token] = ad
	}
	if p.AdGroupID == "" {
		made.Campaign, made.Group = m.createdCampaign(now), m.createdGroup(now)
	}
	return made
}

func (m *making) createdCampaign(now core.Time) *advert.Campaign {
	p := m.plan
	objective, _ := m.n.caps.Objective(p.Goal)
	c := &advert.Campaign{PlatformID: m.campaign, Name: p.Name, ConfiguredStatus: p.Configured, Status: advert.Status(p.Configured),
		ReviewStatus: advert.ReviewApproved, PlatformStatus: m.switchWord(), Goal: p.Goal, Objective: objective, BudgetLevel: advert.BudgetLevelGroup,
		StartsAt: p.StartsAt, EndsAt: p.EndsAt, PlatformCreatedAt: &now}
	if p.BudgetLevel == advert.BudgetLevelCampaign {
		c.BudgetLevel, c.BudgetAmount, c.BudgetType, c.BidStrategy = p.BudgetLevel, p.BudgetAmount, p.BudgetType, p.BidStrategy
	}
	return c
}

func (m *making) createdGroup(now core.Time) *advert.Group {
	p := m.plan
	g := &advert.Group{PlatformID: m.group, CampaignID: m.campaign, Name: p.Name, ConfiguredStatus: p.Configured, Status: advert.Status(p.Configured),
		ReviewStatus: advert.ReviewApproved, PlatformStatus: m.switchWord(), Goal: p.Goal, OptimizationGoal: m.aim.optimization, BidAmount: p.BidAmount,
		RoasFloor: p.RoasFloor, Targeting: advert.NewObject(p.Targeting), PlatformTargeting: p.PlatformTargeting, PromotedObject: p.PromotedObject, StartsAt: p.StartsAt, EndsAt: p.EndsAt, PlatformCreatedAt: &now}
	if p.BudgetLevel != advert.BudgetLevelCampaign {
		g.BudgetAmount, g.BudgetType, g.BidStrategy = p.BudgetAmount, p.BudgetType, p.BidStrategy
	}
	return g
}

// setBudget adds a budget in the unit that Meta takes.
func (n *Network) setBudget(params url.Values, b ads.Budget, currency string) error {
	wire, err := n.caps.Wire(b.Amount, currency)
	if err != nil {
		return &ads.Rejected{Field: "budget_amount", Message: "The budget " + err.Error() + ".", Raw: "budget"}
	}
	name := "daily_budget"
	if b.Type == advert.BudgetTypeLifetime {
		name = "lifetime_budget"
	}
	params.Set(name, wire)
	return nil
}

func (n *Network) setStrategy(params url.Values, strategy advert.BidStrategy) {
	if rule, ok := n.caps.Bid(strategy); ok {
		params.Set("bid_strategy", rule.Word)
	}
}

// setBid adds the bid amount and the ROAS floor. One that is 0 is not sent, because the strategy beside it has no use for it.
func (n *Network) setBid(params url.Values, amount advert.Amount, floor advert.Ratio, currency string) error {
	if amount > 0 {
		wire, err := n.caps.Wire(amount, currency)
		if err != nil {
			return &ads.Rejected{Field: "bid_amount", Message: "The bid " + err.Error() + ".", Raw: "bid_amount"}
		}
		params.Set("bid_amount", wire)
	}
	if floor > 0 {
		if floor%floorUnit != 0 {
			return &ads.Rejected{Field: "roas_average_floor", Message: "The smallest ROAS has at most four decimals.", Raw: "bid_constraints"}
		}
		params.Set("bid_constraints", jsonText(map[string]int64{"roas_average_floor": int64(floor / floorUnit)}))
	}
	return nil
}
