package meta

import (
	"context"
	"net/url"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

var _ ads.Connector = (*Network)(nil)

// Profiles implements ads.Connector. On facebook they are the pages of whoever gave the token, on instagram the accounts that are
// linked to them.
func (n *Network) Profiles(ctx context.Context, c ads.Conn) ([]advert.SocialProfile, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	pages, err := n.pages(ctx, c)
	profiles := make([]advert.SocialProfile, len(pages))
	for i, p := range pages {
		profiles[i] = advert.SocialProfile{ID: p.ID, Username: p.Username, Name: p.Name}
		if n.caps.Platform == advert.PlatformInstagram {
			profiles[i] = advert.SocialProfile{ID: p.Instagram.ID, AlsoID: p.ID, Username: p.Instagram.Username, Name: p.Name}
		}
	}
	return profiles, err
}

// pages returns the pages that the channel's token can use; on instagram only those with an Instagram account.
func (n *Network) pages(ctx context.Context, c ads.Conn) ([]pageNode, error) {
	fields := url.Values{"fields": {"id,name,username,access_token,instagram_business_account{id,username}"}}
	all, err := list[pageNode](ctx, n.graph, c.Token, place{"me", "accounts"}, fields)
	var found []pageNode
	for _, p := range all {
		if n.caps.Platform != advert.PlatformInstagram || p.Instagram.ID != "" {
			found = append(found, p)
		}
	}
	return found, err
}
