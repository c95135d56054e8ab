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
// so it walks through the ad account's lists from their newest end, and past everything that is not older than the
// token before it says that there is nothing.
//
// What is left of a Create that did not get as far as the ad is archived. So a request that is still on its way when this
// looks cannot spend: without the ad a campaign is empty, and an ad comes into an archived one. Only an ad that joins
// an ad group may turn up late, which has no budget of its own.
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

// marking returns the things of a list that carry the token, those of the first page that has one.
func marking[T marker](ctx context.Context, d *Driver, c ads.Conn, path string, query url.Values, token string) ([]T, error) {
	var found []T
	first := since(token)
	err := walk(ctx, d, c, path, newestFirst(query), func(page []T) bool {
		older := false
		for _, item := range page {
			text, made := item.markedText()
			if carries(text, token) {
				found = append(found, item)
			}
			older = older || made != 0 && made < first
		}
		return len(found) == 0 && !older
	})
	return found, err
}

// marker is what a token can be left with: in a text, at a time in seconds, which is 0 if the network does not say.
type marker interface {
	markedText() (text string, made int64)
}

func (w campaign) markedText() (string, int64) { return w.Name, w.Created }
func (w ad) markedText() (string, int64)       { return w.Name, w.Created }
func (w audience) markedText() (string, int64) { return w.Description, w.Created }

// findCampaign finds a campaign with its ad group and its ad.
func (d *Driver) findCampaign(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	found, err := marking[campaign](ctx, d, c, inAccount(adAccount, "campaigns"), every(), token)
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
	found, err := marking[ad](ctx, d, c, inAccount(adAccount, "ads"), every(), token)
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
