package meta

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
)

// label is a text that stands on campaigns, ad sets and ads.
type label struct{ Name string }

// Find implements ads.Network. An ad is made last, so without it nothing whole was made: what there is of the rest is
// removed, and an ad that is still on its way finds no ad set any more.
func (n *Network) Find(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	var made ads.Created
	var err error
	if made.Audience, err = n.findAudience(ctx, c, adAccount, token); err != nil || made.Audience != nil {
		return made, err == nil, err
	}
	found, err := n.findAd(ctx, c, adAccount, token)
	switch {
	case err != nil:
		return ads.Created{}, false, err
	case len(found.ads) > 0:
		made, err = n.rows(ctx, c, adAccount, found)
		return made, err == nil, err
	}
	for _, campaign := range found.campaigns {
		if err := n.remove(ctx, c, campaign.ID); err != nil {
			return ads.Created{}, false, fmt.Errorf("remove what is left of %s: %w", token, err)
		}
	}
	return ads.Created{}, false, nil
}

// trail is what carries the label of one action.
type trail struct {
	campaigns []campaignNode
	groups    []groupNode
	ads       []adNode
}

func (n *Network) findAd(ctx context.Context, c ads.Conn, adAccount, token string) (t trail, err error) {
	if t.ads, err = carrying[adNode](ctx, n, c, adAccount, store.AdLevelAd, token, adFields, everything); err != nil {
		return t, err
	}
	if t.campaigns, err = carrying[campaignNode](ctx, n, c, adAccount, store.AdLevelCampaign, token, campaignFields, everyState); err != nil {
		return t, err
	}
	t.groups, err = carrying[groupNode](ctx, n, c, adAccount, store.AdLevelGroup, token, groupFields, everyState)
	return t, err
}

// rows are what was made, as Meta has it now.
func (n *Network) rows(ctx context.Context, c ads.Conn, adAccount string, t trail) (ads.Created, error) {
	currency, err := n.currency(ctx, c, adAccount)
	if err != nil {
		return ads.Created{}, err
	}
	ad := n.ad(t.ads[0])
	made := ads.Created{Ad: &ad}
	if len(t.campaigns) > 0 {
		campaign := n.campaign(t.campaigns[0], currency)
		made.Campaign = &campaign
	}
	if len(t.groups) > 0 {
		group := n.group(t.groups[0], currency)
		made.Group = &group
	}
	return made, nil
}

// carrying returns what of a level carries a label. The labels are looked at once more: should a filter be ignored, a
// stranger's campaign must not be taken for ours.
func carrying[T interface{ carries(string) bool }](ctx context.Context, n *Network, c ads.Conn, adAccount string, of store.AdLevel, token, fields string, states []string) ([]T, error) {
	params := url.Values{"fields": {fields + ",adlabels{name}"}, "effective_status": {jsonText(states)},
		"filtering": {jsonText([]filter{{levels[of].name + ".adlabels", "ANY", []string{token}}})}}
	all, err := list[T](ctx, n.graph, c.Token, place{adAccount, levels[of].edge}, params)
	return slices.DeleteFunc(all, func(node T) bool { return !node.carries(token) }), err
}

func (s state) carries(token string) bool { return slices.Contains(s.Labels, label{token}) }

func (n *Network) findAudience(ctx context.Context, c ads.Conn, adAccount, token string) (*store.AdAudience, error) {
	nodes, err := n.audiences(ctx, c, adAccount)
	for _, node := range nodes {
		if strings.HasSuffix(node.Description, mark(token)) {
			audience := node.audience()
			return &audience, err
		}
	}
	return nil, err
}
