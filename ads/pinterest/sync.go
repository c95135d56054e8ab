package pinterest

import (
	"context"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// stretch is how many campaigns one call of Sync returns, with everything in them.
const stretch = "50"

// Sync implements ads.Network. It returns the next campaigns with their ad groups and ads, the oldest first and archived
// ones too.
func (d *Driver) Sync(ctx context.Context, c ads.Conn, adAccount, cursor string) (advert.Batch, string, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	query := every()
	query.Set("order", "ASCENDING")
	query.Set("page_size", stretch)
	if cursor != "" {
		query.Set("bookmark", cursor)
	}
	var p page[campaign]
	if err := d.read(ctx, c, inAccount(adAccount, "campaigns"), query, &p); err != nil {
		return advert.Batch{}, "", err
	}
	t, err := d.within(ctx, c, adAccount, p.Items)
	if err != nil {
		return advert.Batch{}, "", err
	}
	batch, err := d.batch(t)
	return batch, p.Bookmark, err
}

// within returns the tree of campaigns with everything in them.
func (d *Driver) within(ctx context.Context, c ads.Conn, adAccount string, campaigns []campaign) (tree, error) {
	t := tree{campaigns: campaigns}
	ids := make([]string, len(campaigns))
	for i, w := range campaigns {
		ids[i] = w.ID
	}
	var err error
	if t.groups, err = filtered[group](ctx, d, c, inAccount(adAccount, "ad_groups"), "campaign_ids", ids); err != nil {
		return t, err
	}
	t.ads, err = filtered[ad](ctx, d, c, inAccount(adAccount, "ads"), "campaign_ids", ids)
	return t, err
}
