package ads

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
)

// DryRun says what a request would do. Nothing was written, and no network was asked.
type DryRun struct {
	Operation   advert.Op
	Platform    advert.Platform // empty of several
	AccountID   string          // sacct_; empty of several
	AdAccountID string
	Calls       []PlannedCall
	Figures     []advert.Figures // what may be spent by day afterwards, by currency
	Warnings    []string
}

// PlannedCall is one thing that would be done at a network. Fields has each amount twice: in whole currency units, and
// as the network writes it.
type PlannedCall struct {
	Action string // create_campaign | create_ad_group | create_ad | update_campaign | update_ad_group | pause_campaign | resume_campaign
	ID     string // platform id, of what is there already
	Fields map[string]string
}

// GetLimits returns the guardrails of an account, which are the defaults until they are changed.
func (s *Service) GetLimits(ctx context.Context, account string) (*advert.Limits, error) {
	return s.store.GetLimits(ctx, account)
}

// UpdateLimits changes the guardrails and adds a line to the audit trail. What runs already goes on.
func (s *Service) UpdateLimits(ctx context.Context, by Actor, change func(*advert.Limits)) (*advert.Limits, error) {
	return s.store.UpdateLimits(ctx, by.Account, advert.UpdateLimits{
		Actor: by.Key, RequestID: by.RequestID, Approval: approvalOf(advert.OpUpdateLimits), Change: change,
	})
}

// Capabilities returns what each network can do with the driver that this service uses for it: the real one if there is
// one.
func (s *Service) Capabilities() []Caps {
	all := make([]Caps, 0, len(advert.Platforms))
	for _, platform := range advert.Platforms {
		caps := CapsOf(platform)
		if network := s.drivers[s.driverOf(platform)][platform]; network != nil {
			caps = network.Caps()
		}
		all = append(all, caps)
	}
	return all
}

// dryRun makes a plan with what could be spent in a day after an action. If the action would be refused, it returns that
// error.
func (s *Service) dryRun(ctx context.Context, account string, op advert.Op, l *line, a *advert.Account, change advert.Change) (*DryRun, error) {
	figures, err := s.store.CheckSpend(ctx, account, op, a, change)
	if err != nil {
		return nil, err
	}
	plan := &DryRun{Operation: op, Platform: l.channel.Platform, AccountID: l.channel.ID, AdAccountID: a.PlatformID}
	if figures.Currency != "" { // else it does nothing to what may be spent
		plan.Figures = []advert.Figures{*figures}
	}
	return plan, nil
}

// creates lists the things that a plan would make at the network.
func (c Caps) creates(p *Plan) []PlannedCall {
	uploads, ads := p.callsOfAds()
	if p.AdGroupID != "" {
		return append(uploads, ads...)
	}
	objective, _ := c.Objective(p.Goal)
	status := c.SwitchWord(p.Configured)
	campaign := PlannedCall{Action: "create_campaign", Fields: map[string]string{"name": p.Name, "objective": objective, "status": status}}
	if len(p.Categories) > 0 {
		campaign.Fields["special_ad_categories"] = strings.Join(p.Categories, ",")
	}
	group := PlannedCall{Action: "create_ad_group", Fields: given(map[string]string{
		"name": p.Name, "status": status, "targeting": string(p.PlatformTargeting), "expand": strconv.FormatBool(p.Targeting.Expand),
		"placements": strings.Join(p.Targeting.Placements, ","), "promoted_object": string(p.PromotedObject),
		"special_ad_countries": strings.Join(p.CategoryCountries, ","), "dsa_beneficiary": p.DSABeneficiary, "dsa_payor": p.DSAPayor,
	})}
	owner := group.Fields
	if p.BudgetLevel == advert.BudgetLevelCampaign {
		owner = campaign.Fields
	}
	c.budget(owner, Budget{p.BudgetAmount, p.BudgetType}, p.AdAccount.Currency)
	c.bid(owner, Bid{p.BidStrategy, p.BidAmount, p.RoasFloor}, p.AdAccount.Currency)
	if p.StartsAt != nil {
		group.Fields["starts_at"] = p.StartsAt.String()
	}
	if p.EndsAt != nil {
		group.Fields["ends_at"] = p.EndsAt.String()
	}
	return slices.Concat(uploads, []PlannedCall{campaign, group}, ads)
}

// budget adds a budget to the fields of a planned call: the amount for people, and the amount as the network is sent it.
func (c Caps) budget(fields map[string]string, b Budget, currency string) {
	fields["budget_type"] = string(b.Type)
	fields["budget_amount"] = b.Amount.Format(currency)
	fields["budget_sent"] = c.sent(b.Amount, currency)
}

// bid adds a bid strategy and its amounts to the fields of a planned call.
func (c Caps) bid(fields map[string]string, b Bid, currency string) {
	if rule, ok := c.Bid(b.Strategy); ok {
		fields["bid_strategy"] = rule.Word
	}
	if b.Amount > 0 {
		fields["bid_amount"], fields["bid_sent"] = b.Amount.Format(currency), c.sent(b.Amount, currency)
	}
	if b.RoasFloor > 0 {
		fields[fieldRoasFloor] = b.RoasFloor.String()
	}
}

// sent returns an amount as the network is sent it, in quotes if it is sent as text.
func (c Caps) sent(amount advert.Amount, currency string) string {
	wire, err := c.Wire(amount, currency)
	if err != nil { // what cannot be sent was refused before
		return ""
	}
	if c.Money == MoneyDecimal {
		return strconv.Quote(wire)
	}
	return wire
}

// given removes the fields that are empty.
func given(fields map[string]string) map[string]string {
	for name, value := range fields {
		if value == "" {
			delete(fields, name)
		}
	}
	return fields
}
