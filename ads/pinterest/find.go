package pinterest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// Find implements ads.Network. It looks for what carries the token: a campaign, an ad that joined an ad group, an
// audience. Pinterest cannot search for a text, so Find reads the ad account's lists from their newest end. It says that
// there is nothing only after it has read everything that is not older than the token.
//
// It archives the campaign of a Create that did not get as far as the ad. So a request that is still on its way cannot
// spend anything. Without an ad a campaign delivers nothing, and an ad would come into an archived campaign. Only an ad
// that joins an ad group may still turn up late; it has no budget of its own.
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

// marking returns the things on a list that carry one of some tokens, which are of one creation. It reads the list up to the first page that has
// something older than the first token. For a single token it stops at the first page that has a thing with it.
func marking[T marker](ctx context.Context, d *Driver, c ads.Conn, path string, query url.Values, tokens ...string) ([]T, error) {
	var found []T
	first := since(tokens[0])
	err := walk(ctx, d, c, path, newestFirst(query), func(page []T) bool {
		older := false
		for _, item := range page {
			text, made := item.markedText()
			if slices.ContainsFunc(tokens, func(token string) bool { return carries(text, token) }) {
				found = append(found, item)
			}
			older = older || made != 0 && made < first
		}
		return (len(found) == 0 || len(tokens) > 1) && !older
	})
	return found, err
}

// marker is a thing that a token can be left on. markedText returns the text that it stands in. It also returns when the
// thing was made, in Unix seconds, or 0 if the network does not say.
type marker interface {
	markedText() (text string, made int64)
}

func (w campaign) markedText() (string, int64) { return w.Name, w.Created }
func (w ad) markedText() (string, int64)       { return w.Name, w.Created }
func (w audience) markedText() (string, int64) { return w.Description, w.Created }

// findCampaign returns the campaign that carries a token, with its ad group and its ad. A campaign without an ad is
// archived.
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
			made, err := d.whole(part, token)
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
		case slices.ContainsFunc(tokens, func(one string) bool { return carries(a.Name, one) }):
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
	for _, g := range t.groups {
		if len(part.ads) > 0 && g.ID == part.ads[0].AdGroupID {
			part.groups = append(part.groups, g)
		}
	}
	return part
}

var errNotWhole = errors.New("not a campaign with one ad group and its ads")

// whole converts a tree that has exactly one campaign, one ad group and ads in it. Any other tree is an error.
func (d *Driver) whole(t tree, token string) (ads.Created, error) {
	b, err := d.batch(t)
	if err == nil && (len(b.Campaigns) != 1 || len(b.Groups) != 1 || len(b.Ads) != len(t.ads) || len(b.Ads) == 0) {
		err = errNotWhole
	}
	if err != nil {
		return ads.Created{}, err
	}
	made := arranged(t.ads, b.Ads, token)
	made.Campaign, made.Group = &b.Campaigns[0], &b.Groups[0]
	return made, nil
}

// joined converts ads that joined an ad group.
func (d *Driver) joined(found []ad, token string) ads.Created {
	rows := make([]advert.Ad, len(found))
	for i, w := range found {
		rows[i] = d.adRow(w, advert.Group{Status: advert.StatusActive})
	}
	return arranged(found, rows, token)
}

// arranged returns the rows of ads by the tokens that the ads carry. One without a token is the first.
func arranged(found []ad, rows []advert.Ad, token string) ads.Created {
	var made ads.Created
	for i := range rows {
		own := tokenIn(found[i].Name)
		if own == token || !slices.Contains(ads.AdTokens(token), own) {
			made.Ad = &rows[i]
			continue
		}
		if made.More == nil {
			made.More = map[string]*advert.Ad{}
		}
		made.More[own] = &rows[i]
	}
	return made
}

// findAd returns the ads that joined an ad group and carry the tokens of a creation. Without the first one, which is made last,
// nothing whole was made, and the others are archived.
func (d *Driver) findAd(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	found, err := marking[ad](ctx, d, c, inAccount(adAccount, "ads"), every(), ads.AdTokens(token)...)
	if err != nil {
		return ads.Created{}, false, err
	}
	if slices.ContainsFunc(found, func(w ad) bool { return carries(w.Name, token) }) {
		return d.joined(found, token), true, nil
	}
	for _, w := range found {
		if err := d.archiveAd(ctx, c, ads.Ref{AdAccount: adAccount, ID: w.ID}); err != nil && !errors.Is(err, ads.ErrNotFound) {
			return ads.Created{}, false, err
		}
	}
	return ads.Created{}, false, nil
}

// archived is the state of what has ended for good.
const archived = "ARCHIVED"

// archive ends a campaign for good. It is tried as often as a read, because archiving twice does no harm.
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
