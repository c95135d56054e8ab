package pinterest

import (
	"context"
	"net/http"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
)

// changedCampaign is what a campaign is to be.
type changedCampaign struct {
	AdAccountID string `json:"ad_account_id"`
	ID          string `json:"id"`
	Status      string `json:"status,omitempty"`
	campaignBudget
	End int64 `json:"end_time,omitempty"`
}

// changedGroup is what an ad group is to be.
type changedGroup struct {
	ID     string `json:"id"`
	Status string `json:"status,omitempty"`
	groupBudget
	End int64 `json:"end_time,omitempty"`
}

// changedAd is what an ad is to be.
type changedAd struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

// kinds are the lists that the levels are in.
var kinds = map[store.AdLevel]string{store.AdLevelCampaign: "campaigns", store.AdLevelGroup: "ad_groups", store.AdLevelAd: "ads"}

// SetStatus turns switches, 30 of one level with a request, and then reads how things stand below them. The error is
// that of the first request. What a later one left open is with its items.
func (d *Driver) SetStatus(ctx context.Context, c ads.Conn, refs []ads.Ref, to store.AdConfigured) ([]ads.ItemResult, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	results := make([]ads.ItemResult, len(refs))
	for i, ref := range refs {
		results[i].Ref = ref
	}
	first := true
	for _, level := range []store.AdLevel{store.AdLevelCampaign, store.AdLevelGroup, store.AdLevelAd} {
		var places []int
		for i, ref := range refs {
			if ref.Level == level {
				places = append(places, i)
			}
		}
		for chunk := range slices.Chunk(places, d.caps.StatusBatch) {
			if err := d.setSome(ctx, c, results, chunk, to); err != nil && first {
				return nil, err
			}
			first = false
		}
	}
	d.tellState(ctx, c, results)
	return results, nil
}

// setSome turns the switches of the results at these places, all of one level. An error stands with each of them, too.
func (d *Driver) setSome(ctx context.Context, c ads.Conn, results []ads.ItemResult, places []int, to store.AdConfigured) error {
	items := make([]any, len(places))
	for i, place := range places {
		items[i] = switched(results[place].Ref, d.caps.SwitchWord(to))
	}
	ref := results[places[0]].Ref
	outcomes, err := batch[struct{}](ctx, d, c, http.MethodPatch, inAccount(ref.AdAccount, kinds[ref.Level]), items)
	for i, place := range places {
		results[place].Err = err
		if err == nil {
			results[place].Err = outcomes[i].err(c)
		}
	}
	return err
}

// switched is the change of a switch.
func switched(ref ads.Ref, word string) any {
	switch ref.Level {
	case store.AdLevelCampaign:
		return changedCampaign{AdAccountID: ref.AdAccount, ID: ref.ID, Status: word}
	case store.AdLevelGroup:
		return changedGroup{ID: ref.ID, Status: word}
	}
	return changedAd{ID: ref.ID, Status: word}
}

// tellState fills in how the things whose switch was turned stand, and which ads that moved. The switches are turned,
// so if this cannot be read nothing is said.
func (d *Driver) tellState(ctx context.Context, c ads.Conn, results []ads.ItemResult) {
	var ids []string
	for _, r := range results {
		if id := campaignOf(r.Ref); r.Err == nil && id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	t, err := d.below(ctx, c, results[0].Ref.AdAccount, ids)
	if err != nil {
		return
	}
	now, err := d.batch(t)
	if err != nil {
		return
	}
	for i := range results {
		if r := &results[i]; r.Err == nil {
			r.State = part(now, r.Ref)
			d.count(r, t.on(r.Ref, c.Now().Unix()))
		}
	}
}

// below returns campaigns with all that is in them.
func (d *Driver) below(ctx context.Context, c ads.Conn, adAccount string, ids []string) (tree, error) {
	campaigns, err := filtered[campaign](ctx, d, c, inAccount(adAccount, "campaigns"), "campaign_ids", ids)
	if err != nil {
		return tree{}, err
	}
	return d.within(ctx, c, adAccount, campaigns)
}

func campaignOf(ref ads.Ref) string {
	if ref.Level == store.AdLevelCampaign {
		return ref.ID
	}
	return ref.CampaignID
}

// part returns what the reference names and what is below it.
func part(b store.AdBatch, ref ads.Ref) store.AdBatch {
	var p store.AdBatch
	for _, row := range b.Campaigns {
		if isOrIn(ref, row.PlatformID, "", "") {
			p.Campaigns = append(p.Campaigns, row)
		}
	}
	for _, row := range b.Groups {
		if isOrIn(ref, row.CampaignID, row.PlatformID, "") {
			p.Groups = append(p.Groups, row)
		}
	}
	for _, row := range b.Ads {
		if isOrIn(ref, row.CampaignID, row.AdGroupID, row.PlatformID) {
			p.Ads = append(p.Ads, row)
		}
	}
	return p
}

// isOrIn reports whether something is what the reference names, or below it.
func isOrIn(ref ads.Ref, campaignID, groupID, adID string) bool {
	switch ref.Level {
	case store.AdLevelCampaign:
		return campaignID == ref.ID
	case store.AdLevelGroup:
		return groupID == ref.ID
	}
	return adID == ref.ID
}

// on returns the tree as it is when the switch is on: what is delivered then is what the switch moves.
func (t tree) on(ref ads.Ref, now int64) tree {
	as := func(end int64) string {
		if end != 0 && end <= now {
			return "COMPLETED"
		}
		return "RUNNING"
	}
	t.campaigns, t.groups = slices.Clone(t.campaigns), slices.Clone(t.groups)
	for i, w := range t.campaigns {
		if ref.Level == store.AdLevelCampaign && w.ID == ref.ID {
			t.campaigns[i].Summary = as(w.End)
		}
	}
	for i, w := range t.groups {
		if ref.Level == store.AdLevelGroup && w.ID == ref.ID {
			t.groups[i].Summary = as(w.End)
		}
	}
	return t
}

// count tells the ads below a switch that it moves from those that stay as they are, and why these do.
func (d *Driver) count(r *ads.ItemResult, on tree) {
	if r.Ref.Level == store.AdLevelAd {
		return
	}
	b, err := d.batch(on)
	if err != nil {
		return
	}
	for _, row := range part(b, r.Ref).Ads {
		if row.Status != store.AdStatusPaused && !row.Status.IsTerminal() {
			r.Updated++
			continue
		}
		r.Skipped++
		if reason := string(row.Status); !slices.Contains(r.Reasons, reason) {
			r.Reasons = append(r.Reasons, reason)
		}
	}
}
