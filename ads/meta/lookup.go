package meta

import (
	"context"
	"net/url"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
)

// level is what Meta calls a level of the hierarchy.
type level struct{ name, edge string }

var levels = map[store.AdLevel]level{
	store.AdLevelCampaign: {"campaign", "campaigns"},
	store.AdLevelGroup:    {"adset", "adsets"},
	store.AdLevelAd:       {"ad", "ads"},
}

// everyState are the states that lists are asked for: without them they leave out what is archived.
var everyState = []string{"ACTIVE", "PAUSED", "CAMPAIGN_PAUSED", "ADSET_PAUSED", "PENDING_REVIEW", "IN_PROCESS", "PREAPPROVED", "PENDING_BILLING_INFO",
	"WITH_ISSUES", "DISAPPROVED", "ARCHIVED"}

// everything also has what is deleted, of which Meta keeps the figures.
var everything = append(slices.Clone(everyState), "DELETED")

// filter is a condition on a list.
type filter struct {
	Field    string   `json:"field"`
	Operator string   `json:"operator"`
	Value    []string `json:"value"`
}

// idsPerCall keeps an address short enough.
const idsPerCall = 100

// lookup returns what of one level has one of these ids, or is below what has them: by says whose ids they are.
func lookup[T any](ctx context.Context, n *Network, c ads.Conn, adAccount string, of, by store.AdLevel, ids []string, fields string, states []string) ([]T, error) {
	var found []T
	for chunk := range slices.Chunk(ids, idsPerCall) {
		params := url.Values{"fields": {fields}, "effective_status": {jsonText(states)}, "filtering": {jsonText([]filter{{levels[by].name + ".id", "IN", chunk}})}}
		some, err := list[T](ctx, n.graph, c.Token, place{adAccount, levels[of].edge}, params)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return found, nil
}
