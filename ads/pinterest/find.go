package pinterest

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
)

// Find looks for what carries the token: a campaign, an ad that joined a group, an audience. The network cannot search,
// so it walks through the ad account's lists from their newest end, and down to the other end before it says that
// there is nothing. What is left of a Create that did not get as far as the ad is archived.
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

// marking returns the things of a list that carry the token.
func marking[T any](ctx context.Context, d *Driver, c ads.Conn, path string, query url.Values, carries func(T) bool) ([]T, error) {
	var found []T
	err := walk(ctx, d, c, path, newestFirst(query), func(page []T) bool {
		for _, item := range page {
			if carries(item) {
				found = append(found, item)
			}
		}
		return len(found) == 0
	})
	return found, err
}

// findCampaign finds a campaign with its ad group and its ad.
func (d *Driver) findCampaign(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	named := func(w campaign) bool { return carries(w.Name, token) }
	found, err := marking(ctx, d, c, inAccount(adAccount, "campaigns"), every(), named)
	if err != nil {
		return ads.Created{}, false, err
	}
	t, err := d.within(ctx, c, adAccount, found)
	if err != nil {
		return ads.Created{}, false, err
	}
	for _, w := range t.campaigns {
		if part := t.of(w, token); len(part.ads) > 0 {
			made, err := d.whole(part)
			return made, err == nil, err
		}
	}
	for _, w := range t.campaigns {
		if w.Status == archived {
			continue
		}
		if err := d.archive(ctx, c, adAccount, w.ID); err != nil {
			return ads.Created{}, false, err
		}
	}
	return ads.Created{}, false, nil
}

// of returns a campaign with the ad that was made in it and the ad group of that. An ad that somebody has renamed since
// counts, too, if there is no other one: what has an ad is whole.
func (t tree) of(w campaign, token string) tree {
	part := tree{campaigns: []campaign{w}}
	for _, a := range t.ads {
		if a.CampaignID == w.ID && (len(part.ads) == 0 || carries(a.Name, token)) {
			part.ads = []ad{a}
		}
	}
	for _, g := range t.groups {
		if len(part.ads) > 0 && g.ID == part.ads[0].AdGroupID {
			part.groups = append(part.groups, g)
		}
	}
	return part
}

var errNotWhole = errors.New("not a campaign with one ad group and one ad")

// whole converts a tree that has one of each.
func (d *Driver) whole(t tree) (ads.Created, error) {
	b, err := d.batch(t)
	if err == nil && (len(b.Campaigns) != 1 || len(b.Groups) != 1 || len(b.Ads) != 1) {
		err = errNotWhole
	}
	if err != nil {
		return ads.Created{}, err
	}
	return ads.Created{Campaign: &b.Campaigns[0], Group: &b.Groups[0], Ad: &b.Ads[0]}, nil
}

// findAd finds an ad that joined an ad group.
func (d *Driver) findAd(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	named := func(w ad) bool { return carries(w.Name, token) }
	found, err := marking(ctx, d, c, inAccount(adAccount, "ads"), every(), named)
	if err != nil || len(found) == 0 {
		return ads.Created{}, false, err
	}
	row := d.adRow(found[0], store.AdGroup{Status: store.AdStatusActive})
	return ads.Created{Ad: &row}, true, nil
}

// archived is the state of what is gone for good.
const archived = "ARCHIVED"

// archive ends a campaign. It is tried as often as a read: archiving twice is archiving.
func (d *Driver) archive(ctx context.Context, c ads.Conn, adAccount, id string) error {
	item := changedCampaign{AdAccountID: adAccount, ID: id, Status: archived}
	var err error
	for try, pause := 0, d.config.Pause; try < d.config.Tries; try, pause = try+1, 2*pause {
		_, err = one[campaign](ctx, d, c, http.MethodPatch, inAccount(adAccount, "campaigns"), item)
		unanswered := errors.Is(err, ads.ErrIndeterminate) || errors.Is(err, ads.ErrUnavailable)
		if !unanswered || !sleep(ctx, pause) {
			return err
		}
	}
	return err
}
