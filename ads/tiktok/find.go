package tiktok

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// Find implements ads.Network. It looks for what carries the token: a campaign, an ad that joined an ad group, an audience. It reads
// everything that is not older than the token, deleted things too.
//
// It deletes the campaign of a Create that did not get as far as its last ad. So a request that is still on its way cannot spend anything:
// TikTok changes nothing in a deleted campaign any more. Only an ad that joins an ad group may still turn up late; it has no budget of its
// own.
func (d *Driver) Find(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	for _, look := range []func(context.Context, ads.Conn, string, string) (ads.Created, bool, error){
		d.findCampaign, d.findAd, d.findAudience,
	} {
		if made, found, err := look(ctx, c, adAccount, token); err != nil || found {
			return made, found, err
		}
	}
	return ads.Created{}, false, nil
}

// marking returns the things of an ad account that carry one of some tokens, which are of one creation.
func marking[T titled](ctx context.Context, d *Driver, c ads.Conn, adAccount, path string, tokens ...string) ([]T, error) {
	filter := fields{"primary_status": everyStatus}
	if first := since(tokens[0]); first != "" {
		filter["creation_filter_start_time"] = first
	}
	var found []T
	err := walk(ctx, d, c, path, fields{"advertiser_id": adAccount, "filtering": filter}, mostRows, func(page []T) bool {
		for _, item := range page {
			if _, name, _ := item.title(); slices.Contains(tokens, tokenIn(name)) {
				found = append(found, item)
			}
		}
		return true
	})
	return found, err
}

// findCampaign returns the campaign that carries a token, with its ad group and its ads. One without its last ad is deleted.
func (d *Driver) findCampaign(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	found, err := marking[campaign](ctx, d, c, adAccount, "campaign/get", token)
	if err != nil {
		return ads.Created{}, false, err
	}
	t, err := d.within(ctx, c, adAccount, found)
	if err != nil {
		return ads.Created{}, false, err
	}
	for _, w := range t.campaigns {
		if part := t.of(w, token); len(part.ads) > 0 {
			made, err := d.whole(part, token)
			return made, err == nil, err
		}
	}
	for _, w := range t.campaigns {
		if w.isDeleted() {
			continue
		}
		if err := d.remove(ctx, c, adAccount, advert.LevelCampaign, w.ID); err != nil {
			return ads.Created{}, false, err
		}
	}
	return ads.Created{}, false, nil
}

// of returns a campaign with the ads that were made in it and their ad group. The ad that carries the token is made last, so without it there are no
// ads in what it returns. But if none of the campaign's ads carries a token of this creation, one of them stands for it. Somebody may have renamed
// it, so such a campaign is whole.
func (t tree) of(w campaign, token string) tree {
	part := tree{campaigns: []campaign{w}}
	tokens := ads.AdTokens(token)
	var others []ad
	for _, a := range t.ads {
		switch {
		case a.CampaignID != w.ID:
		case slices.Contains(tokens, tokenIn(a.Name)):
			part.ads = append(part.ads, a)
		default:
			others = append(others, a)
		}
	}
	switch first := slices.ContainsFunc(part.ads, func(a ad) bool { return carries(a.Name, token) }); {
	case !first && len(part.ads) > 0:
		part.ads = nil
	case !first && len(others) > 0:
		part.ads = others[:1]
	}
	if len(part.ads) > 0 {
		part.groups = slices.DeleteFunc(slices.Clone(t.groups), func(g group) bool { return g.ID != part.ads[0].AdGroupID })
	}
	return part
}

// whole converts a tree of one campaign, one ad group and the ads of a creation.
func (d *Driver) whole(t tree, token string) (ads.Created, error) {
	made, err := d.joined(t, token)
	if err != nil {
		return made, err
	}
	b, err := d.batch(t)
	if err != nil {
		return made, err
	}
	made.Campaign, made.Group = &b.Campaigns[0], &b.Groups[0]
	return made, nil
}

// joined converts the ads of a creation. One that carries none of its tokens is the first: somebody has renamed it.
func (d *Driver) joined(t tree, token string) (ads.Created, error) {
	var made ads.Created
	b, err := d.batch(t)
	if err != nil {
		return made, err
	}
	tokens := map[string]string{}
	for _, w := range t.ads {
		tokens[w.ID] = tokenIn(w.Name)
	}
	for i := range b.Ads {
		row := &b.Ads[i]
		own := tokens[row.PlatformID]
		if own == token || !slices.Contains(ads.AdTokens(token), own) {
			made.Ad = row
			continue
		}
		if made.More == nil {
			made.More = map[string]*advert.Ad{}
		}
		made.More[own] = row
	}
	return made, nil
}

// findAd returns the ads that joined an ad group and carry the tokens of a creation. Without the first one, which is made last,
// nothing whole was made, and the others are deleted.
func (d *Driver) findAd(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	found, err := marking[ad](ctx, d, c, adAccount, "ad/get", ads.AdTokens(token)...)
	if err != nil || len(found) == 0 {
		return ads.Created{}, false, err
	}
	if slices.ContainsFunc(found, func(w ad) bool { return carries(w.Name, token) }) {
		t, err := d.above(ctx, c, adAccount, advert.LevelAd, idsOf(found))
		if err != nil {
			return ads.Created{}, false, err
		}
		made, err := d.joined(t, token)
		return made, err == nil && made.Ad != nil, err
	}
	for _, w := range found {
		if w.isDeleted() {
			continue
		}
		if err := d.remove(ctx, c, adAccount, advert.LevelAd, w.ID); err != nil {
			return ads.Created{}, false, err
		}
	}
	return ads.Created{}, false, nil
}
