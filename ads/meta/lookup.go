package meta

import (
	"context"
	"net/url"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// level holds Meta's names for a level of the hierarchy, and the states that its things can be in. Lists are asked for
// by state, because without states they leave out what is archived. What is deleted is in no list: it is read by its id.
type level struct {
	name, edge string
	states     []string
}

// deleted is the state of what is gone. Meta keeps its figures, and leaves them out unless they are asked for by this state.
const deleted = "DELETED"

var (
	campaignStates = []string{"ACTIVE", "PAUSED", "IN_PROCESS", "WITH_ISSUES", "ARCHIVED"}
	groupStates    = append([]string{"CAMPAIGN_PAUSED"}, campaignStates...)
	adStates       = append([]string{"ADSET_PAUSED", "PENDING_REVIEW", "PREAPPROVED", "PENDING_BILLING_INFO", "DISAPPROVED"}, groupStates...)
)

var levels = map[advert.Level]level{
	advert.LevelCampaign: {"campaign", "campaigns", campaignStates},
	advert.LevelGroup:    {"adset", "adsets", groupStates},
	advert.LevelAd:       {"ad", "ads", adStates},
}

// everything returns the states of the level, and the one for what is deleted, for a filter of figures: a list refuses it.
func (l level) everything() []string { return append(slices.Clone(l.states), deleted) }

// filter is a condition on a list.
type filter struct {
	Field    string   `json:"field"`
	Operator string   `json:"operator"`
	Value    []string `json:"value"`
}

// idsPerCall is how many ids go into one request, so that its address does not become too long.
const idsPerCall = 100

// lookup returns the things of the level `of` that have one of the ids, or that are below what has one. The argument by
// is the level that the ids are of.
func lookup[T any](ctx context.Context, n *Network, c ads.Conn, adAccount string, of, by advert.Level, ids []string, fields string) ([]T, error) {
	var found []T
	for chunk := range slices.Chunk(ids, idsPerCall) {
		params := url.Values{"fields": {fields}, "effective_status": {jsonText(levels[of].states)},
			"filtering": {jsonText([]filter{{levels[by].name + ".id", "IN", chunk}})}}
		some, err := list[T](ctx, n.graph, c.Token, place{adAccount, levels[of].edge}, params)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return found, nil
}
