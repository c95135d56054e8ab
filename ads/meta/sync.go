package meta

import (
	"context"
	"errors"
	"net/url"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// position says how far a walk through an ad account has come. It is what the cursor holds.
type position struct {
	level    advert.Level
	currency string
	after    string
}

var errCursor = errors.New("meta: the cursor is not one of this driver")

// nextLevel is the level that is read after another one has been read to its end.
var nextLevel = map[advert.Level]advert.Level{advert.LevelCampaign: advert.LevelGroup, advert.LevelGroup: advert.LevelAd}

func (p position) String() string {
	return url.Values{"level": {string(p.level)}, "currency": {p.currency}, "after": {p.after}}.Encode()
}

func parsePosition(cursor string) (position, error) {
	v, err := url.ParseQuery(cursor)
	p := position{advert.Level(v.Get("level")), v.Get("currency"), v.Get("after")}
	if _, ok := levels[p.level]; err != nil || !ok {
		return position{}, errCursor
	}
	return p, nil
}

// Sync implements ads.Network: campaigns first, then ad sets, then ads, a page each.
func (n *Network) Sync(ctx context.Context, c ads.Conn, adAccount, cursor string) (advert.Batch, string, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	at, err := n.position(ctx, c, adAccount, cursor)
	if err != nil {
		return advert.Batch{}, "", err
	}
	b, after, err := n.stretch(ctx, c, adAccount, at)
	if err != nil {
		return advert.Batch{}, "", err
	}
	at.after = after
	if after == "" {
		at.level = nextLevel[at.level]
	}
	if at.level == "" {
		return b, "", nil
	}
	return b, at.String(), nil
}

// position reads a cursor. Without one the walk begins with the campaigns.
func (n *Network) position(ctx context.Context, c ads.Conn, adAccount, cursor string) (position, error) {
	if cursor != "" {
		return parsePosition(cursor)
	}
	currency, err := n.currency(ctx, c, adAccount)
	return position{level: advert.LevelCampaign, currency: currency}, err
}

// stretch reads one page of the level that a walk is at, and returns the cursor of the next page, "" at the end.
func (n *Network) stretch(ctx context.Context, c ads.Conn, adAccount string, at position) (b advert.Batch, after string, err error) {
	switch at.level {
	case advert.LevelCampaign:
		var nodes []campaignNode
		nodes, after, err = stretchOf[campaignNode](ctx, n, c, adAccount, at, campaignFields)
		b.Campaigns = n.campaigns(nodes, at.currency)
	case advert.LevelGroup:
		var nodes []groupNode
		nodes, after, err = stretchOf[groupNode](ctx, n, c, adAccount, at, groupFields)
		b.Groups = n.groups(nodes, at.currency)
	default:
		var nodes []adNode
		nodes, after, err = stretchOf[adNode](ctx, n, c, adAccount, at, adFields)
		b.Ads = n.ads(nodes)
	}
	return b, after, err
}

// stretchOf reads one page of a level.
func stretchOf[T any](ctx context.Context, n *Network, c ads.Conn, adAccount string, at position, fields string) ([]T, string, error) {
	params := url.Values{"fields": {fields}, "effective_status": {jsonText(levels[at.level].states)}}
	return listPage[T](ctx, n.graph, c.Token, place{adAccount, levels[at.level].edge}, params, at.after)
}

func (n *Network) campaigns(nodes []campaignNode, currency string) []advert.Campaign {
	rows := make([]advert.Campaign, len(nodes))
	for i, node := range nodes {
		rows[i] = n.campaign(node, currency)
	}
	return rows
}

func (n *Network) groups(nodes []groupNode, currency string) []advert.Group {
	rows := make([]advert.Group, len(nodes))
	for i, node := range nodes {
		rows[i] = n.group(node, currency)
	}
	return rows
}

func (n *Network) ads(nodes []adNode) []advert.Ad {
	rows := make([]advert.Ad, len(nodes))
	for i, node := range nodes {
		rows[i] = n.ad(node)
	}
	return rows
}
