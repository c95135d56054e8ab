package tiktok

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Update implements ads.Network. It can change the budget and the end of a campaign, and the budget, the end, the bid and the targeting of an ad
// group. Of an ad it can change the name, the switch and the creative.
func (d *Driver) Update(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	switch ref.Level {
	case advert.LevelCampaign:
		return d.updateCampaign(ctx, c, ref, patch)
	case advert.LevelGroup:
		return d.updateGroup(ctx, c, ref, patch)
	case advert.LevelAd:
	}
	return d.updateAd(ctx, c, ref, patch)
}

// updateCampaign changes a campaign. Its end is that of its ad groups. A bid is rejected, because only ad groups have one.
func (d *Driver) updateCampaign(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	if patch.BidStrategy != nil || patch.BidAmount != nil || patch.RoasFloor != nil {
		return ads.Entity{}, rejected("bid_strategy", "On TikTok each ad group has its own bid strategy.")
	}
	if patch.Budget != nil {
		if patch.Budget.Amount < leastCampaign {
			return ads.Entity{}, rejected("budget.amount", "A campaign's budget on TikTok is at least 50.")
		}
		amount, err := d.wire(patch.Budget.Amount, patch.Currency, "budget.amount")
		if err != nil {
			return ads.Entity{}, err
		}
		change := fields{"advertiser_id": ref.AdAccount, "campaign_id": ref.ID, "budget": amount}
		if err := d.write(ctx, c, "campaign/update", change, nil); err != nil {
			return ads.Entity{}, err
		}
	}
	t, err := d.below(ctx, c, ref.AdAccount, []string{ref.ID})
	if err == nil && patch.EndsAt != nil {
		for _, g := range t.groups {
			if g.isDeleted() {
				continue
			}
			if err := d.write(ctx, c, "adgroup/update", ending(fields{"advertiser_id": ref.AdAccount, "adgroup_id": g.ID}, patch.EndsAt), nil); err != nil {
				return ads.Entity{}, unread(err)
			}
		}
	}
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	if len(t.campaigns) != 1 || t.campaigns[0].isDeleted() {
		return ads.Entity{}, notFound("campaign", ref.ID)
	}
	row, err := d.campaignRow(t.campaigns[0])
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	return ads.Entity{Campaign: &row}, nil
}

// ending adds the end of an ad group to a change.
func ending(change fields, at *core.Time) fields {
	if at != nil {
		change["schedule_type"], change["schedule_end_time"] = "SCHEDULE_START_END", stamp(at.Time())
	}
	return change
}

// updateGroup reads an ad group, changes it, and reads it again with its campaign, on which its state depends.
func (d *Driver) updateGroup(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	t, err := d.above(ctx, c, ref.AdAccount, advert.LevelGroup, []string{ref.ID})
	if err != nil {
		return ads.Entity{}, err
	}
	if len(t.groups) != 1 || t.groups[0].isDeleted() {
		return ads.Entity{}, notFound("ad group", ref.ID)
	}
	change, err := d.groupChange(t.groups[0], ref, patch)
	if err != nil {
		return ads.Entity{}, err
	}
	if err := d.write(ctx, c, "adgroup/update", change, nil); err != nil {
		return ads.Entity{}, err
	}
	t, err = d.above(ctx, c, ref.AdAccount, advert.LevelGroup, []string{ref.ID})
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	b, err := d.batch(t)
	if err == nil && len(b.Groups) != 1 {
		err = ads.ErrNotFound
	}
	if err != nil {
		return ads.Entity{}, unread(err)
	}
	return ads.Entity{Group: &b.Groups[0]}, nil
}

// groupChange returns the change of an ad group that a patch asks for.
func (d *Driver) groupChange(was group, ref ads.Ref, patch ads.Patch) (fields, error) {
	change := ending(fields{"advertiser_id": ref.AdAccount, "adgroup_id": ref.ID}, patch.EndsAt)
	if patch.Budget != nil {
		amount, err := d.wire(patch.Budget.Amount, patch.Currency, "budget.amount")
		if err != nil {
			return nil, err
		}
		change["budget"] = amount
	}
	if err := d.bidChange(change, was, patch); err != nil {
		return nil, err
	}
	return change, retarget(change, was, patch)
}

// bidChange adds what a patch says about the bid. With the strategy of the lowest cost the network bids on its own.
func (d *Driver) bidChange(change fields, was group, patch ads.Patch) error {
	if s := patch.BidStrategy; s != nil {
		rule, known := d.caps.Bid(*s)
		if !known || *s == advert.BidStrategyMinROAS != (was.Optimization == "VALUE") {
			return rejected("bid_strategy", "TikTok changes an ad group between value and other bid strategies no more.")
		}
		if *s != advert.BidStrategyMinROAS {
			change["bid_type"] = rule.Word
		}
	}
	if patch.RoasFloor != nil && *patch.RoasFloor != 0 {
		change["roas_bid"] = json.Number(patch.RoasFloor.String())
	}
	if patch.BidAmount == nil || *patch.BidAmount == 0 {
		return nil
	}
	amount, err := d.wire(*patch.BidAmount, patch.Currency, "bid_amount")
	change[bidField(was.Billing)] = amount
	return err
}

// nothing is what each word of a targeting is if it narrows nothing. TikTok keeps what a change does not name.
var nothing = fields{
	"location_ids": []string{}, "zipcode_ids": []string{}, "languages": []string{}, "gender": anyGender, "age_groups": []string{},
	"interest_category_ids": []string{}, "actions": []action{}, "audience_ids": []string{}, "excluded_audience_ids": []string{},
	"smart_audience_enabled": false, "smart_interest_behavior_enabled": false,
}

// retarget adds whom the ad group is shown to from now on, which replaces all that was. Placements are set for good (T9).
func retarget(change fields, was group, patch ads.Patch) error {
	t := patch.Targeting
	if t == nil {
		return nil
	}
	if len(t.Placements) > 0 && !slices.Equal(sorted(t.Placements), sorted(was.placements())) {
		return rejected("targeting.placements", "TikTok changes the placements of an ad group no more. Leave them out.")
	}
	if len(t.Zips) > 0 && !slices.Equal(was.Placements, []string{onTikTok}) {
		return rejected("targeting.zips", "TikTok shows ads for postal codes in its own app only, and changes the placements of an ad group no more. Make a new ad group with an ad of its own.")
	}
	words := map[string]json.RawMessage{}
	if patch.PlatformTargeting.Decode(&words) != nil {
		return rejected("platform_targeting", "Send platform_targeting as a JSON object.")
	}
	for word, none := range nothing {
		change[word] = none
	}
	for word, value := range words {
		change[word] = value
	}
	return nil
}

func sorted(words []string) []string { return slices.Sorted(slices.Values(words)) }

// Delete implements ads.Network. It deletes a campaign, and counts what in it was not deleted before; or it deletes an ad.
func (d *Driver) Delete(ctx context.Context, c ads.Conn, ref ads.Ref) (ads.Deleted, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	switch ref.Level {
	case advert.LevelCampaign:
	case advert.LevelAd:
		if _, err := d.adNow(ctx, c, ref); err != nil {
			return ads.Deleted{}, err
		}
		return ads.Deleted{Ads: 1}, d.remove(ctx, c, ref.AdAccount, advert.LevelAd, ref.ID)
	case advert.LevelGroup:
		return ads.Deleted{}, unsupported()
	}
	t, err := d.below(ctx, c, ref.AdAccount, []string{ref.ID})
	if err != nil {
		return ads.Deleted{}, err
	}
	if len(t.campaigns) == 0 || t.campaigns[0].isDeleted() {
		return ads.Deleted{}, notFound("campaign", ref.ID)
	}
	var gone ads.Deleted
	for _, w := range t.groups {
		if !w.isDeleted() {
			gone.AdGroups++
		}
	}
	for _, w := range t.ads {
		if !w.isDeleted() {
			gone.Ads++
		}
	}
	return gone, d.remove(ctx, c, ref.AdAccount, advert.LevelCampaign, ref.ID)
}
