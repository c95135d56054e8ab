package meta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// Update implements ads.Network. A campaign has a bid strategy itself, but its bid amount, ROAS floor and end are set at
// its ad sets.
func (n *Network) Update(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	var err error
	switch ref.Level {
	case advert.LevelCampaign:
		err = n.updateCampaign(ctx, c, ref, patch)
	case advert.LevelGroup:
		err = n.updateGroup(ctx, c, ref, patch)
	default:
		err = n.updateAd(ctx, c, ref, patch)
	}
	if err != nil {
		return ads.Entity{}, err
	}
	return n.entity(ctx, c, ref, patch)
}

// change sends parameters to a node, if there are any. It may be repeated, so after a fault the outcome is not open for
// long.
func (n *Network) change(ctx context.Context, c ads.Conn, id string, params url.Values) error {
	if len(params) == 0 {
		return nil
	}
	return n.graph.order(ctx, http.MethodPost, c.Token, place{id: id}, params)
}

// fillBudget adds the budget and the bid strategy of a patch.
func (n *Network) fillBudget(params url.Values, patch ads.Patch) error {
	if patch.BidStrategy != nil {
		n.setStrategy(params, *patch.BidStrategy)
	}
	if patch.Budget == nil {
		return nil
	}
	return n.setBudget(params, *patch.Budget, patch.Currency)
}

// fillGroup adds the fields of a patch that only ad sets have. A bid amount or a ROAS floor is removed by the strategy that has no use for it. Meta
// takes no 0, so without a strategy the removal is refused.
func (n *Network) fillGroup(params url.Values, patch ads.Patch) error {
	switch {
	case patch.BidStrategy != nil:
	case patch.BidAmount != nil && *patch.BidAmount == 0:
		return &ads.Rejected{Field: "bid_amount", Message: "Meta removes a bid only when the bid strategy changes to one without it.", Raw: "bid_amount"}
	case patch.RoasFloor != nil && *patch.RoasFloor == 0:
		return &ads.Rejected{Field: "roas_average_floor", Message: "Meta removes a ROAS floor only when the bid strategy changes to one without it.", Raw: "bid_constraints"}
	}
	if patch.EndsAt != nil {
		params.Set("end_time", textOf(*patch.EndsAt))
	}
	if patch.Targeting != nil {
		params.Set("targeting", patch.PlatformTargeting.Text())
	}
	setTransparency(params, patch.DSABeneficiary, patch.DSAPayor)
	var amount advert.Amount
	var floor advert.Ratio
	if patch.BidAmount != nil {
		amount = *patch.BidAmount
	}
	if patch.RoasFloor != nil {
		floor = *patch.RoasFloor
	}
	return n.setBid(params, amount, floor, patch.Currency)
}

// checkSpent refuses a lifetime budget that is less than 110 percent of what was spent, as Meta does without saying of what.
func (n *Network) checkSpent(ctx context.Context, c ads.Conn, id string, patch ads.Patch) error {
	if patch.Budget == nil || patch.Budget.Type != advert.BudgetTypeLifetime {
		return nil
	}
	var now budget
	if err := n.graph.get(ctx, c.Token, place{id: id}, url.Values{"fields": {"lifetime_budget,budget_remaining"}}, &now); err != nil || now.Remaining == "" {
		return err
	}
	before := n.amount(now.Lifetime, patch.Currency)
	least := (before - n.amount(now.Remaining, patch.Currency)) * 11 / 10
	if patch.Budget.Amount < before && patch.Budget.Amount < least {
		return &ads.Rejected{Field: "budget.amount", Raw: "lifetime_budget",
			Message: "A budget stays at least 110 percent of what was spent, which is " + least.Format(patch.Currency) + "."}
	}
	return nil
}

// checkTransparency refuses to show an ad set in the EU if nobody says who profits from it or who pays. The patch, the ad set or its ad account may
// say so.
func (n *Network) checkTransparency(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) error {
	if patch.Targeting == nil || !ads.InEU(patch.Targeting.Countries) || patch.DSABeneficiary != "" && patch.DSAPayor != "" {
		return nil
	}
	var group struct {
		Beneficiary string `json:"dsa_beneficiary"`
		Payor       string `json:"dsa_payor"`
	}
	var account accountNode
	err := n.graph.get(ctx, c.Token, place{id: ref.ID}, url.Values{"fields": {"dsa_beneficiary,dsa_payor"}}, &group)
	if err == nil {
		err = n.graph.get(ctx, c.Token, place{id: ref.AdAccount}, url.Values{"fields": {"default_dsa_beneficiary,default_dsa_payor"}}, &account)
	}
	switch {
	case err != nil:
		return err
	case cmp.Or(patch.DSABeneficiary, group.Beneficiary, account.Beneficiary) == "":
		return &ads.Rejected{Field: "dsa_beneficiary", Message: "An ad in the EU says who profits from it: send dsa_beneficiary, too.", Raw: "dsa_beneficiary"}
	case cmp.Or(patch.DSAPayor, group.Payor, account.Payor) == "":
		return &ads.Rejected{Field: "dsa_payor", Message: "An ad in the EU says who pays for it: send dsa_payor, too.", Raw: "dsa_payor"}
	}
	return nil
}

func (n *Network) updateGroup(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) error {
	if err := errors.Join(n.checkSpent(ctx, c, ref.ID, patch), n.checkTransparency(ctx, c, ref, patch)); err != nil {
		return err
	}
	params := url.Values{}
	if err := n.fillBudget(params, patch); err != nil {
		return err
	}
	if err := n.fillGroup(params, patch); err != nil {
		return err
	}
	return n.change(ctx, c, ref.ID, params)
}

// updateAd changes the name, the switch and the creative of an ad in one call.
func (n *Network) updateAd(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) error {
	params := url.Values{}
	if patch.Creative != nil {
		swap, err := n.replacement(ctx, c, ref, patch)
		if err != nil {
			return err
		}
		maps.Copy(params, swap)
	}
	if patch.Name != nil {
		params.Set("name", *patch.Name)
	}
	if patch.Configured != nil {
		params.Set("status", n.caps.SwitchWord(*patch.Configured))
	}
	return n.change(ctx, c, ref.ID, params)
}

// updateCampaign changes the campaign, together with the bid amounts of its ad sets, in one call, and then each ad set.
// If only a part could be changed, the error is ErrIndeterminate.
func (n *Network) updateCampaign(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) error {
	if err := n.checkSpent(ctx, c, ref.ID, patch); err != nil {
		return err
	}
	own, below := url.Values{}, url.Values{}
	if err := n.fillBudget(own, patch); err != nil {
		return err
	}
	if err := n.fillGroup(below, patch); err != nil {
		return err
	}
	var groups []state
	if len(below) > 0 {
		var err error
		if groups, err = list[state](ctx, n.graph, c.Token, place{ref.ID, "adsets"}, url.Values{"fields": {"id"}}); err != nil {
			return err
		}
	}
	setCaps(own, below, groups)
	if err := n.change(ctx, c, ref.ID, own); err != nil {
		return err
	}
	for i, g := range groups {
		err := n.change(ctx, c, g.ID, below)
		if err != nil && (i > 0 || len(own) > 0) {
			return fmt.Errorf("%w: a part was changed: %w", ads.ErrIndeterminate, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setCaps moves the bid amount from the ad sets' parameters to the campaign's call. Meta refuses a strategy with a cap
// while an ad set has none.
func setCaps(own, below url.Values, groups []state) {
	amount := below.Get("bid_amount")
	if below.Del("bid_amount"); amount == "" || len(groups) == 0 {
		return
	}
	caps := map[string]string{}
	for _, g := range groups {
		caps[g.ID] = amount
	}
	own.Set("adset_bid_amounts", jsonText(caps))
}

// entity reads what was changed. If that fails, the error is ErrIndeterminate, because the change took place.
func (n *Network) entity(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (e ads.Entity, err error) {
	switch ref.Level {
	case advert.LevelCampaign:
		var node campaignNode
		err = n.graph.get(ctx, c.Token, place{id: ref.ID}, url.Values{"fields": {campaignFields}}, &node)
		row := n.campaign(node, patch.Currency)
		e.Campaign = &row
	case advert.LevelAd:
		var node adNode
		err = n.graph.get(ctx, c.Token, place{id: ref.ID}, url.Values{"fields": {adFields}}, &node)
		row := n.ad(node)
		e.Ad = &row
	default:
		var node groupNode
		err = n.graph.get(ctx, c.Token, place{id: ref.ID}, url.Values{"fields": {groupFields}}, &node)
		row := n.group(node, patch.Currency)
		e.Group = &row
	}
	if err != nil {
		return ads.Entity{}, fmt.Errorf("%w: read after the change: %w", ads.ErrIndeterminate, err)
	}
	return e, nil
}

// Delete implements ads.Network.
func (n *Network) Delete(ctx context.Context, c ads.Conn, ref ads.Ref) (ads.Deleted, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	switch ref.Level {
	case advert.LevelCampaign:
	case advert.LevelAd:
		return ads.Deleted{Ads: 1}, n.graph.delete(ctx, c.Token, place{id: ref.ID})
	default:
		return ads.Deleted{}, ads.ErrUnsupported
	}
	groups, err := list[state](ctx, n.graph, c.Token, place{ref.ID, "adsets"}, url.Values{"fields": {"id"}})
	if err != nil {
		return ads.Deleted{}, err
	}
	all, err := list[state](ctx, n.graph, c.Token, place{ref.ID, "ads"}, url.Values{"fields": {"id"}})
	if err != nil {
		return ads.Deleted{}, err
	}
	return ads.Deleted{AdGroups: len(groups), Ads: len(all)}, n.graph.delete(ctx, c.Token, place{id: ref.ID})
}
