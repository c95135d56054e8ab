package pinterest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// campaignBudget is a change of a campaign's budget. One of the two fields is set.
type campaignBudget struct {
	DailyCap    json.Number `json:"daily_spend_cap,omitempty"`
	LifetimeCap json.Number `json:"lifetime_spend_cap,omitempty"`
}

// groupBudget is the change of an ad group's budget and bid. The type of a budget cannot be changed. A bid of null
// removes it.
type groupBudget struct {
	Budget  json.Number      `json:"budget_in_micro_currency,omitempty"`
	Bidding string           `json:"bid_strategy_type,omitempty"`
	Bid     *json.RawMessage `json:"bid_in_micro_currency,omitempty"`

	Targeting *advert.Object `json:"targeting_spec,omitempty"` // the whole of it
	Widens    *bool          `json:"auto_targeting_enabled,omitempty"`
	Placement string         `json:"placement_group,omitempty"`
}

// Update implements ads.Network. It can change the budget and the end of a campaign, and the budget, the end and the bid of an ad group. Of an ad it
// can change the name and the switch.
func (d *Driver) Update(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	switch {
	case patch.RoasFloor != nil && *patch.RoasFloor != 0:
		return ads.Entity{}, fmt.Errorf("pinterest: %w", ads.ErrUnsupported)
	case ref.Level == advert.LevelCampaign:
		return d.updateCampaign(ctx, c, ref, patch)
	case ref.Level == advert.LevelGroup:
		return d.updateGroup(ctx, c, ref, patch)
	}
	return d.updateAd(ctx, c, ref, patch)
}

// updateCampaign changes a campaign. A bid is rejected, because only ad groups have one.
func (d *Driver) updateCampaign(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	if patch.BidStrategy != nil || patch.BidAmount != nil {
		return ads.Entity{}, &ads.Rejected{Field: "bid_strategy", Message: "On Pinterest each ad group has its own bid strategy."}
	}
	change := changedCampaign{AdAccountID: ref.AdAccount, ID: ref.ID, End: seconds(patch.EndsAt)}
	if patch.Budget != nil {
		amount, err := d.wire(patch.Budget.Amount, patch.Currency, "budget.amount")
		if err != nil {
			return ads.Entity{}, err
		}
		change.DailyCap = amount
		if patch.Budget.Type == advert.BudgetTypeLifetime {
			change.DailyCap, change.LifetimeCap = "", amount
		}
	}
	w, err := one[campaign](ctx, d, c, http.MethodPatch, inAccount(ref.AdAccount, "campaigns"), change)
	if err != nil {
		return ads.Entity{}, err
	}
	row, err := d.campaignRow(*w)
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	return ads.Entity{Campaign: &row}, nil
}

// unread wraps an error of a read that follows a write. It is ErrIndeterminate: the write took place, but how things are
// now is not known.
func unread(err error) error {
	return fmt.Errorf("pinterest: read after the change: %w: %w", ads.ErrIndeterminate, err)
}

// updateGroup changes an ad group. It then reads the campaign too, because the ad group's state depends on it.
func (d *Driver) updateGroup(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	change, err := d.groupChange(ref, patch)
	if err != nil {
		return ads.Entity{}, err
	}
	w, err := one[group](ctx, d, c, http.MethodPatch, inAccount(ref.AdAccount, "ad_groups"), change)
	if err != nil {
		return ads.Entity{}, err
	}
	row, err := d.groupBelow(ctx, c, ref.AdAccount, *w)
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	return ads.Entity{Group: &row}, nil
}

// groupBelow converts an ad group, whose campaign it reads for its state.
func (d *Driver) groupBelow(ctx context.Context, c ads.Conn, adAccount string, w group) (advert.Group, error) {
	above := advert.Campaign{Status: advert.StatusActive}
	campaigns, err := filtered[campaign](ctx, d, c, inAccount(adAccount, "campaigns"), "campaign_ids", []string{w.CampaignID})
	if err == nil && len(campaigns) == 1 {
		above, err = d.campaignRow(campaigns[0])
	}
	if err != nil {
		return advert.Group{}, err
	}
	return d.groupRow(w, above)
}

// groupChange returns the change of an ad group that a patch asks for.
func (d *Driver) groupChange(ref ads.Ref, patch ads.Patch) (changedGroup, error) {
	change := changedGroup{ID: ref.ID, End: seconds(patch.EndsAt)}
	var err error
	if patch.Budget != nil {
		if change.Budget, err = d.wire(patch.Budget.Amount, patch.Currency, "budget.amount"); err != nil {
			return change, err
		}
	}
	if patch.BidStrategy != nil {
		rule, known := d.caps.Bid(*patch.BidStrategy)
		if !known {
			return change, fmt.Errorf("pinterest: %w", ads.ErrUnsupported)
		}
		change.Bidding = rule.Word
	}
	if t := patch.Targeting; t != nil {
		change.Targeting, change.Widens, change.Placement = &patch.PlatformTargeting, &t.Expand, cmp.Or(placementGroup(t.Placements), "ALL")
	}
	change.Bid, err = d.bidChange(patch)
	return change, err
}

// bidChange returns the bid to send: an amount, null to remove it, or nil to leave it as it is. With the strategy of the
// lowest cost the network bids on its own, so the bid is removed.
func (d *Driver) bidChange(patch ads.Patch) (*json.RawMessage, error) {
	none := json.RawMessage("null")
	switch {
	case patch.BidStrategy != nil && *patch.BidStrategy == advert.BidStrategyLowestCost:
		return &none, nil
	case patch.BidAmount == nil:
		return nil, nil
	case *patch.BidAmount == 0:
		return &none, nil
	}
	amount, err := d.wire(*patch.BidAmount, patch.Currency, "bid_amount")
	bid := json.RawMessage(amount)
	return &bid, err
}

// Delete implements ads.Network. It archives a campaign, which is how Pinterest ends one for good, and counts what in it
// was not archived before. Or it archives an ad. What is archived already is ads.ErrNotFound.
func (d *Driver) Delete(ctx context.Context, c ads.Conn, ref ads.Ref) (ads.Deleted, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	switch ref.Level {
	case advert.LevelCampaign:
	case advert.LevelAd:
		return ads.Deleted{Ads: 1}, d.archiveAd(ctx, c, ref)
	default:
		return ads.Deleted{}, fmt.Errorf("pinterest: %w", ads.ErrUnsupported)
	}
	t, err := d.below(ctx, c, ref.AdAccount, []string{ref.ID})
	if err != nil {
		return ads.Deleted{}, err
	}
	if len(t.campaigns) == 0 || t.campaigns[0].Status == archived {
		return ads.Deleted{}, fmt.Errorf("pinterest: campaign %s: %w", ref.ID, ads.ErrNotFound)
	}
	var gone ads.Deleted
	for _, w := range t.groups {
		if w.Status != archived {
			gone.AdGroups++
		}
	}
	for _, w := range t.ads {
		if w.Status != archived {
			gone.Ads++
		}
	}
	return gone, d.archive(ctx, c, ref.AdAccount, ref.ID)
}
