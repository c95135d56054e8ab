package tiktok

import (
	"context"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// stretch is how many campaigns one call of Sync returns, with everything in them.
const stretch = 50

// kinds are TikTok's words for the levels.
var kinds = map[advert.Level]string{advert.LevelCampaign: "campaign", advert.LevelGroup: "adgroup", advert.LevelAd: "ad"}

// Sync implements ads.Network. It returns the next campaigns with their ad groups and ads, deleted ones too. The cursor is the number of a page. The
// newest come first: if something is made meanwhile, a campaign may be seen twice, but none is missed.
func (d *Driver) Sync(ctx context.Context, c ads.Conn, adAccount, cursor string) (advert.Batch, string, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	number := 1
	if cursor != "" {
		var err error
		if number, err = strconv.Atoi(cursor); err != nil {
			return advert.Batch{}, "", err
		}
	}
	var p page[campaign]
	err := d.read(ctx, c, "campaign/get", fields{
		"advertiser_id": adAccount, "filtering": fields{"primary_status": everyStatus}, "page": number, "page_size": stretch,
	}, &p)
	if err != nil {
		return advert.Batch{}, "", err
	}
	t, err := d.within(ctx, c, adAccount, p.List)
	if err != nil {
		return advert.Batch{}, "", err
	}
	next := ""
	if number < p.Info.Pages {
		next = strconv.Itoa(number + 1)
	}
	batch, err := d.batch(t)
	return batch, next, err
}

// within returns the tree of campaigns with everything in them.
func (d *Driver) within(ctx context.Context, c ads.Conn, adAccount string, campaigns []campaign) (tree, error) {
	t := tree{campaigns: campaigns}
	var err error
	if t.groups, err = filtered[group](ctx, d, c, adAccount, "adgroup/get", "campaign_ids", idsOf(campaigns)); err != nil {
		return t, err
	}
	t.ads, err = filtered[ad](ctx, d, c, adAccount, "ad/get", "campaign_ids", idsOf(campaigns))
	return t, err
}

// below returns the campaigns with the ids and everything in them.
func (d *Driver) below(ctx context.Context, c ads.Conn, adAccount string, ids []string) (tree, error) {
	campaigns, err := filtered[campaign](ctx, d, c, adAccount, "campaign/get", "campaign_ids", ids)
	if err != nil {
		return tree{}, err
	}
	return d.within(ctx, c, adAccount, campaigns)
}

// above returns the things of a level with what they are in, because their state depends on that.
func (d *Driver) above(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, ids []string) (t tree, err error) {
	if level == advert.LevelAd {
		if t.ads, err = filtered[ad](ctx, d, c, adAccount, "ad/get", "ad_ids", ids); err != nil {
			return t, err
		}
		ids = distinct(t.ads, func(w ad) string { return w.AdGroupID })
	}
	if level != advert.LevelCampaign {
		if t.groups, err = filtered[group](ctx, d, c, adAccount, "adgroup/get", "adgroup_ids", ids); err != nil {
			return t, err
		}
		ids = distinct(t.groups, func(w group) string { return w.CampaignID })
	}
	t.campaigns, err = filtered[campaign](ctx, d, c, adAccount, "campaign/get", "campaign_ids", ids)
	return t, err
}

// distinct returns the keys of items, sorted and each once.
func distinct[T any](items []T, key func(T) string) []string {
	var keys []string
	for _, item := range items {
		keys = append(keys, key(item))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
