package tiktok

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// making is an ad that is being created, with what exists of it so far.
type making struct {
	d        *Driver
	c        ads.Conn
	plan     ads.Plan
	aim      aim
	promoted promoted

	campaignID string // "" when the plan joins an ad group
	groupID    string
	ads        []*adMaking // in the order in which they are made: the plan's first is the last
}

// adMaking is one of the ads.
type adMaking struct {
	ads.AdPlan
	body fields
	id   string
}

// Create implements ads.Network. It makes the campaign, the ad group and the ads, one after the other, and then reads them. If the network
// refuses a step, the campaign is deleted with all that is in it.
func (d *Driver) Create(ctx context.Context, c ads.Conn, plan ads.Plan) (ads.Created, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	m := &making{d: d, c: c, plan: plan, groupID: plan.AdGroupID}
	for _, one := range slices.Backward(plan.Ads()) {
		m.ads = append(m.ads, &adMaking{AdPlan: one})
	}
	first, second, err := m.prepare()
	if err == nil {
		err = m.shows(ctx)
	}
	if err != nil {
		return ads.Created{}, err
	}
	if err := m.run(ctx, first, second); err != nil {
		return ads.Created{}, m.undo(ctx, err)
	}
	return m.created(ctx)
}

// prepare makes the bodies of the campaign and the ad group before anything is sent, so that what is wrong with the plan shows first. Both
// are nil if the ad joins an ad group.
func (m *making) prepare() (campaign, group fields, err error) {
	plan, caps := m.plan, m.d.caps
	if plan.AdGroupID != "" {
		return nil, nil, nil
	}
	objective, known := caps.Objective(plan.Goal)
	if m.aim = aims[objective]; !known || m.aim.goal == "" {
		return nil, nil, unsupported()
	}
	if m.promoted, err = promotedBy(plan); err != nil {
		return nil, nil, err
	}
	status, name := caps.SwitchWord(plan.Configured), mark(plan.Name, plan.Token, widestName)
	campaign = fields{
		"advertiser_id": plan.AdAccount.PlatformID, "campaign_name": name, "objective_type": objective, "operation_status": status,
		"request_id": requestID(), "budget_mode": budgetInfinite,
	}
	group = fields{
		"advertiser_id": plan.AdAccount.PlatformID, "adgroup_name": name, "operation_status": status, "request_id": requestID(),
		"optimization_goal": m.aim.goal, "billing_event": m.aim.billing, "pacing": "PACING_MODE_SMOOTH",
	}
	if len(plan.Categories) > 0 {
		campaign["special_industries"] = plan.Categories
	}
	if err := m.aims(campaign, group); err != nil {
		return nil, nil, err
	}
	for _, say := range []func(campaign, group fields) error{m.budget, m.schedule, m.bid, m.target} {
		if err := say(campaign, group); err != nil {
			return nil, nil, err
		}
	}
	return campaign, group, nil
}

// requestID returns a number by which TikTok carries out a request once, however often the same bytes reach it (T3). Another try of the same
// plan has another number: Find has deleted what the first one left.
func requestID() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // which never fails
	return strconv.FormatUint(binary.BigEndian.Uint64(random[:])>>1, 10)
}

// aims says what the ad group is to achieve.
func (m *making) aims(campaign, group fields) error {
	if m.aim.promotion != "" {
		group["promotion_type"] = m.aim.promotion
	}
	switch m.plan.Goal {
	case advert.GoalConversions:
		if m.promoted.PixelID == "" || m.promoted.Event == "" {
			return rejected("promoted_object", "conversions needs a pixel_id and an optimization_event.")
		}
		group["pixel_id"], group["optimization_event"] = m.promoted.PixelID, m.promoted.Event
	case advert.GoalLeadGeneration:
		group["promotion_target_type"] = "INSTANT_PAGE"
	case advert.GoalAppPromotion:
		campaign["app_promotion_type"] = "APP_INSTALL"
		group["app_id"], group["operating_systems"] = m.promoted.AppID, []string{"ANDROID"}
	case advert.GoalVideoViews:
		group["bid_display_mode"] = "CPV"
	}
	return nil
}

// budget says how much may be spent: by the campaign, which then shares it out to its ad groups, or by the ad group.
func (m *making) budget(campaign, group fields) error {
	amount, err := m.d.wire(m.plan.BudgetAmount, m.plan.AdAccount.Currency, "budget_amount")
	if err != nil {
		return err
	}
	mode := m.aim.mode(m.plan.BudgetType)
	if m.plan.BudgetLevel != advert.BudgetLevelCampaign {
		group["budget_mode"], group["budget"] = mode, amount
		return nil
	}
	if m.plan.BudgetAmount < leastCampaign {
		return rejected("budget_amount", "A campaign's budget on TikTok is at least 50. Send more, or a budget_level of ad_group.")
	}
	campaign["budget_optimize_on"], campaign["budget_mode"], campaign["budget"] = true, mode, amount
	group["budget_mode"], group["budget"] = budgetInfinite, json.Number("0") // which are ignored, and asked for all the same
	return nil
}

// leastCampaign is the least budget of a campaign, of whichever type and currency (T6).
const leastCampaign = 50 * advert.AmountUnit

// schedule says when the ad group runs. TikTok has no schedule of a campaign.
func (m *making) schedule(_, group fields) error {
	start := m.c.Now()
	if m.plan.StartsAt != nil {
		start = m.plan.StartsAt.Time()
	}
	group["schedule_type"], group["schedule_start_time"] = "SCHEDULE_FROM_NOW", stamp(start)
	if m.plan.EndsAt != nil {
		group["schedule_type"], group["schedule_end_time"] = "SCHEDULE_START_END", stamp(m.plan.EndsAt.Time())
	}
	return nil
}

// bid says how to bid. Without a strategy TikTok bids as it thinks best.
func (m *making) bid(_, group fields) error {
	strategy := m.plan.BidStrategy
	if strategy == "" {
		strategy = advert.BidStrategyLowestCost
	}
	rule, known := m.d.caps.Bid(strategy)
	if !known {
		return unsupported()
	}
	group["bid_type"] = rule.Word
	if strategy == advert.BidStrategyMinROAS { // "Value-Based Optimization"
		group["bid_type"], group["deep_bid_type"], group["optimization_goal"] = bidNone, rule.Word, "VALUE"
		group["roas_bid"] = json.Number(m.plan.RoasFloor.String())
	}
	if m.plan.BidAmount == 0 {
		return nil
	}
	amount, err := m.d.wire(m.plan.BidAmount, m.plan.AdAccount.Currency, "bid_amount")
	group[bidField(m.aim.billing)] = amount
	return err
}

// bidNone is TikTok's word for a bid of its own.
const bidNone = "BID_TYPE_NO_BID"

// bidField returns where a bid stands: that for a conversion stands elsewhere (T7).
func bidField(billing string) string {
	if billing == "OCPM" {
		return "conversion_bid_price"
	}
	return "bid_price"
}

// target says whom the ad is shown to, and where.
func (m *making) target(_, group fields) error {
	words := map[string]json.RawMessage{}
	if err := m.plan.PlatformTargeting.Decode(&words); err != nil {
		return rejected("platform_targeting", "Send platform_targeting as a JSON object.")
	}
	for word, value := range words {
		group[word] = value
	}
	return place(group, m.aim, m.plan)
}

// wire writes an amount as the network takes it. One that it cannot take is rejected with our name of the field.
func (d *Driver) wire(amount advert.Amount, currency, field string) (json.Number, error) {
	text, err := d.caps.Wire(amount, currency)
	if err != nil {
		return "", rejected(field, err.Error())
	}
	return json.Number(text), nil
}

// run makes the campaign, the ad group and the ads, and stops at the first error.
func (m *making) run(ctx context.Context, campaign, group fields) error {
	var made struct {
		CampaignID string   `json:"campaign_id"`
		GroupID    string   `json:"adgroup_id"`
		AdIDs      []string `json:"ad_ids"`
	}
	if campaign != nil {
		if err := m.d.write(ctx, m.c, "campaign/create", campaign, &made); err != nil {
			return err
		}
		if m.campaignID = made.CampaignID; m.campaignID == "" {
			return m.unnamed("campaign/create")
		}
		group["campaign_id"] = m.campaignID
		if err := m.d.write(ctx, m.c, "adgroup/create", group, &made); err != nil {
			return err
		}
		if m.groupID = made.GroupID; m.groupID == "" {
			return m.unnamed("adgroup/create")
		}
	}
	for _, one := range m.ads {
		made.AdIDs = nil
		body := fields{"advertiser_id": m.plan.AdAccount.PlatformID, "adgroup_id": m.groupID, "creatives": []fields{one.body}}
		if err := m.d.write(ctx, m.c, "ad/create", body, &made); err != nil {
			return err
		}
		if len(made.AdIDs) != 1 || made.AdIDs[0] == "" {
			return m.unnamed("ad/create")
		}
		one.id = made.AdIDs[0]
	}
	return nil
}

// unnamed is the error of an answer without an id: the thing may exist, and cannot be removed.
func (m *making) unnamed(path string) error {
	return failure(m.c, request{method: "POST", path: path}, ads.ErrIndeterminate, errors.New("it has no id"))
}

// undo removes what was made before err, and returns err. If nobody knows what became of the last step, everything stays
// for Find to look at. If something cannot be removed, the error is ErrIndeterminate too.
func (m *making) undo(ctx context.Context, err error) error {
	if errors.Is(err, ads.ErrIndeterminate) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(m.d.config.Total, ads.UndoTime)) // also when the time for the rest is used up
	defer cancel()
	var left []string
	if m.campaignID != "" {
		if m.d.remove(ctx, m.c, m.plan.AdAccount.PlatformID, advert.LevelCampaign, m.campaignID) != nil {
			left = append(left, "campaign "+m.campaignID)
		}
	}
	for _, one := range m.ads {
		if one.id != "" && m.campaignID == "" && m.d.remove(ctx, m.c, m.plan.AdAccount.PlatformID, advert.LevelAd, one.id) != nil {
			left = append(left, "ad "+one.id)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: %s could not be removed after: %w", ads.ErrIndeterminate, strings.Join(left, " and "), err)
	}
	return err
}

// created reads what was made. If that fails, nobody knows how it stands; Find does later.
func (m *making) created(ctx context.Context) (ads.Created, error) {
	account, unread := m.plan.AdAccount.PlatformID, func(err error) (ads.Created, error) { return ads.Created{}, unread(err) }
	var made ads.Created
	if m.campaignID != "" {
		t, err := m.d.below(ctx, m.c, account, []string{m.campaignID})
		if err == nil && len(t.campaigns)*len(t.groups) != 1 {
			err = ads.ErrNotFound
		}
		if err != nil {
			return unread(err)
		}
		if made, err = m.d.whole(t, m.plan.Token); err != nil {
			return unread(err)
		}
		made.Campaign.Goal, made.Group.Goal = m.plan.Goal, m.plan.Goal
		made.Campaign.Name, made.Group.Name = m.plan.Name, m.plan.Name // of which the token may have taken the end
	} else {
		var adIDs []string
		for _, one := range m.ads {
			adIDs = append(adIDs, one.id)
		}
		t, err := m.d.above(ctx, m.c, account, advert.LevelAd, adIDs)
		if err != nil {
			return unread(err)
		}
		if made, err = m.d.joined(t, m.plan.Token); err != nil {
			return unread(err)
		}
	}
	for _, one := range m.ads {
		row := made.Ad
		if one.Token != m.plan.Token {
			row = made.More[one.Token]
		}
		if row == nil {
			return unread(ads.ErrNotFound)
		}
		row.Name, row.Creative.V, row.Type = one.Name, one.Creative, advert.TypeStandalone
		if m.plan.Post != nil {
			row.Type = advert.TypeBoost
		}
	}
	return made, nil
}

// unread wraps an error of a read that follows a write. It is ErrIndeterminate: the write took place, but how things are
// now is not known.
func unread(err error) error {
	return fmt.Errorf("tiktok: read after the change: %w: %w", ads.ErrIndeterminate, err)
}
