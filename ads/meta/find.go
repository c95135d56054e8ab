package meta

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// label is an ad label: a text that is attached to campaigns, ad sets and ads.
type label struct{ Name string }

// Find implements ads.Network. The first ad is made last, so if there is none, nothing whole was made. What there is of the rest is then removed: an
// ad that is still on its way finds no ad set to come into. What somebody has deleted since is in no list of Meta's, so it counts as never made.
func (n *Network) Find(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	audience, err := n.findAudience(ctx, c, adAccount, token)
	if err != nil || audience != nil {
		return ads.Created{Audience: audience}, err == nil, err
	}
	found, err := n.findAd(ctx, c, adAccount, token)
	if err != nil {
		return ads.Created{}, false, err
	}
	if err := n.clear(ctx, c, found); err != nil || len(found.ads) == 0 {
		return ads.Created{}, false, err
	}
	made, err := n.rows(ctx, c, adAccount, found)
	return made, err == nil, err
}

// trail holds everything that carries the label of one action.
type trail struct {
	campaigns []campaignNode
	groups    []groupNode
	ads       []adNode            // the first one of the action
	more      map[string][]adNode // the others, by their tokens
}

// findAd returns everything that carries a token as its label, on all three levels.
func (n *Network) findAd(ctx context.Context, c ads.Conn, adAccount, token string) (t trail, err error) {
	all, err := carrying[adNode](ctx, n, c, adAccount, advert.LevelAd, ads.AdTokens(token), adFields)
	if err != nil {
		return t, err
	}
	t.more = map[string][]adNode{}
	for i, one := range ads.AdTokens(token) {
		these := only(all, func(node adNode) bool { return node.carries(one) })
		if i == 0 {
			t.ads = these
		} else if len(these) > 0 {
			t.more[one] = these
		}
	}
	if t.campaigns, err = carrying[campaignNode](ctx, n, c, adAccount, advert.LevelCampaign, []string{token}, campaignFields); err != nil {
		return t, err
	}
	t.groups, err = carrying[groupNode](ctx, n, c, adAccount, advert.LevelGroup, []string{token}, groupFields)
	return t, err
}

// clear removes what interrupted creations have left: campaigns, all but the one that the ad is in, and without the first ad
// the others.
func (n *Network) clear(ctx context.Context, c ads.Conn, t trail) error {
	if len(t.ads) == 0 {
		for _, others := range t.more {
			for _, ad := range others {
				if err := n.remove(ctx, c, ad.ID); err != nil {
					return fmt.Errorf("remove an ad of an interrupted creation: %w", err)
				}
			}
		}
	}
	for _, campaign := range t.campaigns {
		if len(t.ads) > 0 && campaign.ID == t.ads[0].CampaignID {
			continue
		}
		if err := n.remove(ctx, c, campaign.ID); err != nil {
			return fmt.Errorf("remove what is left of an interrupted creation: %w", err)
		}
	}
	return nil
}

// rows returns what was made, as Meta has it now.
func (n *Network) rows(ctx context.Context, c ads.Conn, adAccount string, t trail) (ads.Created, error) {
	currency, err := n.currency(ctx, c, adAccount)
	if err != nil {
		return ads.Created{}, err
	}
	ad := n.ad(t.ads[0])
	made := ads.Created{Ad: &ad}
	if len(t.more) > 0 {
		made.More = map[string]*advert.Ad{}
	}
	for token, others := range t.more {
		other := n.ad(others[0])
		made.More[token] = &other
	}
	for _, node := range t.campaigns {
		if node.ID == ad.CampaignID {
			campaign := n.campaign(node, currency)
			made.Campaign = &campaign
		}
	}
	for _, node := range t.groups {
		if node.ID == ad.AdGroupID {
			group := n.group(node, currency)
			made.Group = &group
		}
	}
	return made, nil
}

// carrying returns the things of a level that carry one of some labels. It checks the labels of the answer again: if Meta ignored
// the filter, somebody else's campaign must not be taken for ours.
func carrying[T interface{ carries(string) bool }](
	ctx context.Context, n *Network, c ads.Conn, adAccount string, of advert.Level, tokens []string, fields string,
) ([]T, error) {
	params := url.Values{"fields": {fields + ",adlabels{name}"}, "effective_status": {jsonText(levels[of].states)},
		"filtering": {jsonText([]filter{{levels[of].name + ".adlabels", "ANY", tokens}})}}
	all, err := list[T](ctx, n.graph, c.Token, place{adAccount, levels[of].edge}, params)
	return slices.DeleteFunc(all, func(node T) bool { return !slices.ContainsFunc(tokens, node.carries) }), err
}

func (s state) carries(token string) bool { return slices.Contains(s.Labels, label{token}) }

// findAudience returns the audience whose description ends with a token, or nil.
func (n *Network) findAudience(ctx context.Context, c ads.Conn, adAccount, token string) (*advert.Audience, error) {
	nodes, err := n.audiences(ctx, c, adAccount)
	for _, node := range nodes {
		if strings.HasSuffix(node.Description, mark(token)) {
			audience := node.audience()
			return &audience, err
		}
	}
	return nil, err
}

// TidyNames implements ads.Network. There is nothing to do: the token stands in a label.
func (*Network) TidyNames(context.Context, ads.Conn, string, []ads.MadeName) error { return nil }

// only returns the rows that are wanted.
func only[T any](all []T, wanted func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !wanted(v) })
}
