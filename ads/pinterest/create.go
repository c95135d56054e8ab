package pinterest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// newCampaign is a campaign to create.
type newCampaign struct {
	AdAccountID string      `json:"ad_account_id"`
	Name        string      `json:"name"`
	Objective   string      `json:"objective_type"`
	Status      string      `json:"status"`
	IsOptimized bool        `json:"is_campaign_budget_optimization"`
	DailyCap    json.Number `json:"daily_spend_cap,omitempty"`
	LifetimeCap json.Number `json:"lifetime_spend_cap,omitempty"`
	Start       int64       `json:"start_time,omitempty"`
	End         int64       `json:"end_time,omitempty"`
}

// newGroup is an ad group to create.
type newGroup struct {
	CampaignID string        `json:"campaign_id"`
	Name       string        `json:"name"`
	Status     string        `json:"status"`
	Billable   string        `json:"billable_event"`
	BudgetType string        `json:"budget_type"`
	Budget     json.Number   `json:"budget_in_micro_currency,omitempty"`
	Bidding    string        `json:"bid_strategy_type"`
	Bid        json.Number   `json:"bid_in_micro_currency,omitempty"`
	Targeting  advert.Object `json:"targeting_spec"`
	Widens     bool          `json:"auto_targeting_enabled"` // shows the ad beyond the targeting; absent is true
	Placement  string        `json:"placement_group,omitempty"`
	Start      int64         `json:"start_time,omitempty"`
	End        int64         `json:"end_time,omitempty"`
	Goal       *goalMetadata `json:"optimization_goal_metadata,omitempty"` // of conversions
}

// newAd is an ad to create.
type newAd struct {
	AdGroupID string `json:"ad_group_id"`
	PinID     string `json:"pin_id"`
	Creative  string `json:"creative_type"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	Link      string `json:"destination_url,omitempty"`
	CTA       string `json:"customizable_cta_type,omitempty"`
}

// billable says, for each objective, what the network charges for.
var billable = map[string]string{
	"AWARENESS": "IMPRESSION", "CONSIDERATION": "CLICKTHROUGH", "VIDEO_COMPLETION": "VIDEO_V_50_MRC", "WEB_CONVERSION": "IMPRESSION",
}

// making is an ad that is being created, with what exists of it so far.
type making struct {
	d    *Driver
	c    ads.Conn
	plan ads.Plan

	campaign *campaign // nil when the plan joins an ad group
	group    *group
	ads      []*adMaking // in the order in which they are made: the plan's first is the last
}

// adMaking is one of the ads.
type adMaking struct {
	ads.AdPlan
	pin     pin
	madePin bool
	ad      *ad
}

// Create implements ads.Network. It makes the campaign, the ad group and the ad. If no Pin is boosted, it first makes
// one that exists only for ads. If the network refuses a step, the campaign is archived, because Pinterest cannot delete
// it, and the Pin is deleted.
func (d *Driver) Create(ctx context.Context, c ads.Conn, plan ads.Plan) (ads.Created, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	m := &making{d: d, c: c, plan: plan}
	for _, one := range slices.Backward(plan.Ads()) {
		m.ads = append(m.ads, &adMaking{AdPlan: one})
	}
	first, second, err := m.prepare()
	if err != nil {
		return ads.Created{}, err
	}
	if err := m.checkFloor(ctx, first, second); err != nil {
		return ads.Created{}, err
	}
	if err := m.run(ctx, first, second); err != nil {
		return ads.Created{}, m.undo(ctx, err)
	}
	return m.created()
}

// prepare makes the bodies of the campaign and the ad group before anything is sent, so that what is wrong with the plan
// shows first. Both are nil if the ad joins an ad group.
func (m *making) prepare() (*newCampaign, *newGroup, error) {
	plan, caps := m.plan, m.d.caps
	if plan.AdGroupID != "" {
		return nil, nil, nil
	}
	objective, known := caps.Objective(plan.Goal)
	if !known || billable[objective] == "" || plan.PromotedObject != "" && plan.Goal != advert.GoalConversions || plan.RoasFloor != 0 {
		return nil, nil, fmt.Errorf("pinterest: %w", ads.ErrUnsupported)
	}
	status, name := caps.SwitchWord(plan.Configured), mark(plan.Name, plan.Token)
	first := &newCampaign{AdAccountID: plan.AdAccount.PlatformID, Name: name, Objective: objective, Status: status}
	second := &newGroup{Name: name, Status: status, Billable: billable[objective]}
	var err error
	if second.Goal, err = goalOf(plan); err != nil {
		return nil, nil, err
	}
	if err := m.d.bid(second, plan); err != nil {
		return nil, nil, err
	}
	if err := m.d.budget(first, second, plan); err != nil {
		return nil, nil, err
	}
	second.Targeting, second.Widens, second.Placement = plan.PlatformTargeting, plan.Targeting.Expand, placementGroup(plan.Targeting.Placements)
	return first, second, nil
}

// bid sets how the ad group bids. Without a strategy the network bids as it thinks best.
func (d *Driver) bid(g *newGroup, plan ads.Plan) error {
	strategy := plan.BidStrategy
	if strategy == "" {
		strategy = advert.BidStrategyLowestCost
	}
	rule, known := d.caps.Bid(strategy)
	if !known {
		return fmt.Errorf("pinterest: %w", ads.ErrUnsupported)
	}
	g.Bidding = rule.Word
	if plan.BidAmount == 0 {
		return nil
	}
	var err error
	g.Bid, err = d.wire(plan.BidAmount, plan.AdAccount.Currency, "bid_amount")
	return err
}

// budget sets the budget and the schedule: at the campaign, which then shares the budget out to its ad groups, or at the
// ad group.
func (d *Driver) budget(first *newCampaign, second *newGroup, plan ads.Plan) error {
	amount, err := d.wire(plan.BudgetAmount, plan.AdAccount.Currency, "budget_amount")
	if err != nil {
		return err
	}
	start, end := seconds(plan.StartsAt), seconds(plan.EndsAt)
	lifetime := plan.BudgetType == advert.BudgetTypeLifetime
	switch {
	case plan.BudgetLevel != advert.BudgetLevelCampaign:
		second.Budget, second.BudgetType, second.Start, second.End = amount, "DAILY", start, end
		if lifetime {
			second.BudgetType = "LIFETIME"
		}
		return nil
	case lifetime:
		first.LifetimeCap = amount
	default:
		first.DailyCap = amount
	}
	first.IsOptimized, first.Start, first.End = true, start, end
	second.BudgetType = "CBO_ADGROUP"
	return nil
}

// wire writes an amount as the network takes it. One that it cannot take is rejected with our name of the field.
func (d *Driver) wire(amount advert.Amount, currency, field string) (json.Number, error) {
	text, err := d.caps.Wire(amount, currency)
	if err != nil {
		return "", &ads.Rejected{Field: field, Message: err.Error()}
	}
	return json.Number(text), nil
}

// seconds writes a time in Unix seconds; nil is 0, which is left out of the request.
func seconds(at *core.Time) int64 {
	if at == nil {
		return 0
	}
	return at.Time().Unix()
}

// run makes the Pins, the campaign, the ad group and the ads, one after the other, and stops at the first error.
func (m *making) run(ctx context.Context, first *newCampaign, second *newGroup) (err error) {
	if err = m.choosePins(ctx); err != nil {
		return err
	}
	groupID := m.plan.AdGroupID
	if first != nil {
		if m.campaign, err = makeOne[campaign](ctx, m, "campaigns", first); err != nil {
			return err
		}
		second.CampaignID = m.campaign.ID
		if m.group, err = makeOne[group](ctx, m, "ad_groups", second); err != nil {
			return err
		}
		groupID = m.group.ID
	}
	for _, one := range m.ads {
		one.ad, err = makeOne[ad](ctx, m, "ads", &newAd{
			AdGroupID: groupID, PinID: one.pin.ID, Creative: one.pin.creative(), Name: mark(one.Name, one.Token),
			Status: m.d.caps.SwitchWord(m.plan.Configured), Link: one.Creative.LinkURL, CTA: one.Creative.CallToAction,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// identified is a thing with a platform id.
type identified interface{ id() string }

func (w campaign) id() string { return w.ID }
func (w group) id() string    { return w.ID }
func (w ad) id() string       { return w.ID }

// makeOne creates one thing. If the answer has no id, the thing may exist and cannot be removed, so the error is
// ErrIndeterminate.
func makeOne[T identified](ctx context.Context, m *making, kind string, item any) (*T, error) {
	at := inAccount(m.plan.AdAccount.PlatformID, kind)
	made, err := one[T](ctx, m.d, m.c, http.MethodPost, at, item)
	if err != nil {
		return nil, err
	}
	if (*made).id() == "" {
		return nil, failure(m.c, request{method: http.MethodPost, path: at}, ads.ErrIndeterminate, errors.New("it has no id"))
	}
	return made, nil
}

// choosePins reads the Pin that is boosted, because the ad has to name its kind of creative. If none is boosted, it makes
// one for each ad.
func (m *making) choosePins(ctx context.Context) error {
	if m.plan.Post != nil {
		of := &m.ads[0].pin
		err := m.d.read(ctx, m.c, path("pins", m.plan.Post.PlatformID), m.owner(), of)
		if errors.Is(err, ads.ErrNotFound) {
			return &ads.Rejected{Field: "post_id", Message: "Pinterest has no such Pin."}
		}
		if err == nil && m.plan.Goal == advert.GoalVideoViews && !strings.Contains(of.creative(), "VIDEO") {
			return &ads.Rejected{Field: "post_id", Message: "The goal video_views needs a Pin with a video."}
		}
		return err
	}
	board, err := m.d.adsBoard(ctx, m.c, m.plan.AdAccount.PlatformID)
	if err != nil {
		return err
	}
	for _, one := range m.ads {
		if err := m.makePin(ctx, one, board); err != nil {
			return err
		}
	}
	return nil
}

// makePin makes the Pin of an ad, which exists only for ads.
func (m *making) makePin(ctx context.Context, one *adMaking, board string) error {
	c := one.Creative
	if m.plan.Goal == advert.GoalVideoViews && c.VideoURL == "" {
		return &ads.Rejected{Field: "video_url", Message: "The goal video_views needs a video."}
	}
	r := request{http.MethodPost, path("pins"), m.owner(), newPin{
		BoardID: board, Title: c.Headline, Description: c.Body, Link: c.LinkURL, Media: sourceOf(c, m.plan.Media),
	}}
	if err := m.d.write(ctx, m.c, r, &one.pin); err != nil {
		return err
	}
	if one.pin.ID == "" {
		return failure(m.c, r, ads.ErrIndeterminate, errors.New("it has no id"))
	}
	one.madePin = true
	return nil
}

// owner returns the parameter by which boards and Pins belong to the owner of the ad account. That may be somebody who
// only shared it with the channel.
func (m *making) owner() url.Values { return ownerOf(m.plan.AdAccount.PlatformID) }

// ownerOf returns the parameter that names the ad account whose owner a board or Pin belongs to.
func ownerOf(adAccount string) url.Values { return url.Values{"ad_account_id": {adAccount}} }

// undo removes what was made before err, and returns err. If nobody knows what became of the last step, everything stays
// for Find to look at. If something cannot be removed, the error is ErrIndeterminate too.
func (m *making) undo(ctx context.Context, err error) error {
	if errors.Is(err, ads.ErrIndeterminate) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(m.d.config.Total, ads.UndoTime)) // also when the time for the rest is used up
	defer cancel()
	var left []string
	if m.campaign != nil {
		if m.d.archive(ctx, m.c, m.plan.AdAccount.PlatformID, m.campaign.ID) != nil {
			left = append(left, "campaign "+m.campaign.ID)
		}
	}
	for _, one := range m.ads {
		if one.ad != nil && m.campaign == nil && m.d.archiveAd(ctx, m.c, ads.Ref{AdAccount: m.plan.AdAccount.PlatformID, ID: one.ad.ID}) != nil {
			left = append(left, "ad "+one.ad.ID)
		}
		if !one.madePin {
			continue
		}
		r := request{method: http.MethodDelete, path: path("pins", one.pin.ID), query: m.owner()}
		if m.d.write(ctx, m.c, r, nil) != nil {
			left = append(left, "Pin "+one.pin.ID)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: %s could not be removed after: %w", ads.ErrIndeterminate, strings.Join(left, " and "), err)
	}
	return err
}

// created returns what was made as rows of the mirror.
func (m *making) created() (ads.Created, error) {
	var t tree
	for _, one := range m.ads {
		t.ads = append(t.ads, *one.ad)
	}
	made := m.d.joined(t.ads, m.plan.Token)
	if m.campaign != nil { // else the ads joined what is there
		t.campaigns, t.groups = []campaign{*m.campaign}, []group{*m.group}
		var err error
		if made, err = m.d.whole(t, m.plan.Token); err != nil {
			return made, failure(m.c, request{method: http.MethodPost, path: "/ads"}, ads.ErrIndeterminate, err)
		}
		made.Campaign.Goal, made.Group.Goal = m.plan.Goal, m.plan.Goal // two goals share an objective
		made.Campaign.Name, made.Group.Name = m.plan.Name, m.plan.Name // of which the token may have taken the end
	}
	for _, one := range m.ads {
		row := made.Ad
		if one.Token != m.plan.Token {
			row = made.More[one.Token]
		}
		*row = m.adMade(*row, one.NamedCreative)
	}
	return made, nil
}

// adMade adds what only the plan knows to the row of an ad.
func (m *making) adMade(row advert.Ad, plan ads.NamedCreative) advert.Ad {
	row.Name, row.Creative.V = plan.Name, plan.Creative
	row.Type = advert.TypeBoost
	if m.plan.Post == nil {
		row.Type = advert.TypeStandalone
	}
	return row
}
