package pinterest

import (
	"context"
	"net/http"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// changedCampaign is a change of a campaign as the network takes it. An empty field is left as it is.
type changedCampaign struct {
	AdAccountID string `json:"ad_account_id"`
	ID          string `json:"id"`
	Status      string `json:"status,omitempty"`
	Name        string `json:"name,omitempty"`
	campaignBudget
	End int64 `json:"end_time,omitempty"`
}

// changedGroup is a change of an ad group as the network takes it. An empty field is left as it is.
type changedGroup struct {
	ID     string `json:"id"`
	Status string `json:"status,omitempty"`
	Name   string `json:"name,omitempty"`
	groupBudget
	End int64 `json:"end_time,omitempty"`
}

// changedAd is a change of an ad as the network takes it. An empty field is left as it is.
type changedAd struct {
	ID     string `json:"id"`
	Status string `json:"status,omitempty"`
	Name   string `json:"name,omitempty"`
}

// kinds are the names of the lists that the levels are in.
var kinds = map[advert.Level]string{advert.LevelCampaign: "campaigns", advert.LevelGroup: "ad_groups", advert.LevelAd: "ads"}

// SetStatus implements ads.Network. It turns up to 30 switches of one level with each request, and then reads how things
// are at and below them. Only an error of the first request is returned; an error of a later one is with the items that
// it concerns.
func (d *Driver) SetStatus(ctx context.Context, c ads.Conn, refs []ads.Ref, to advert.Configured) ([]ads.ItemResult, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	results := make([]ads.ItemResult, len(refs))
	for i, ref := range refs {
		results[i].Ref = ref
	}
	first := true
	for _, level := range []advert.Level{advert.LevelCampaign, advert.LevelGroup, advert.LevelAd} {
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

// setSome turns the switches of the results at these places, which are all of one level. If the request fails, its error
// is returned and also stands in each of these results.
func (d *Driver) setSome(ctx context.Context, c ads.Conn, results []ads.ItemResult, places []int, to advert.Configured) error {
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

// switched returns the change that turns a switch to the network's word.
func switched(ref ads.Ref, word string) any {
	switch ref.Level {
	case advert.LevelCampaign:
		return changedCampaign{AdAccountID: ref.AdAccount, ID: ref.ID, Status: word}
	case advert.LevelGroup:
		return changedGroup{ID: ref.ID, Status: word}
	}
	return changedAd{ID: ref.ID, Status: word}
}

// tellState adds to the results how the switched things are now, and how many ads were affected. If that cannot be read,
// the results stay without it: the switches were turned all the same.
func (d *Driver) tellState(ctx context.Context, c ads.Conn, results []ads.ItemResult) {
	var ids []string
	for _, r := range results {
		if id := r.Ref.Campaign(); r.Err == nil && id != "" && !slices.Contains(ids, id) {
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
			r.State = r.Ref.Part(now)
			d.count(r, t.on(r.Ref, c.Now().Unix()))
		}
	}
}

// below returns the campaigns with the ids and everything in them.
func (d *Driver) below(ctx context.Context, c ads.Conn, adAccount string, ids []string) (tree, error) {
	campaigns, err := filtered[campaign](ctx, d, c, inAccount(adAccount, "campaigns"), "campaign_ids", ids)
	if err != nil {
		return tree{}, err
	}
	return d.within(ctx, c, adAccount, campaigns)
}

// on returns the tree as it would be with the switch of a reference on. An ad that is delivered in that tree is one that
// the switch affects.
func (t tree) on(ref ads.Ref, now int64) tree {
	as := func(end int64) string {
		if end != 0 && end <= now {
			return "COMPLETED"
		}
		return "RUNNING"
	}
	t.campaigns, t.groups = slices.Clone(t.campaigns), slices.Clone(t.groups)
	for i, w := range t.campaigns {
		if ref.Level == advert.LevelCampaign && w.ID == ref.ID {
			t.campaigns[i].Summary = as(w.End)
		}
	}
	for i, w := range t.groups {
		if ref.Level == advert.LevelGroup && w.ID == ref.ID {
			t.groups[i].Summary = as(w.End)
		}
	}
	return t
}

// count counts the ads below a switch that it affects, and those that it does not, with a reason for each state of these.
// The argument on is the tree with the switch on.
func (d *Driver) count(r *ads.ItemResult, on tree) {
	if r.Ref.Level == advert.LevelAd {
		return
	}
	b, err := d.batch(on)
	if err != nil {
		return
	}
	for _, row := range r.Ref.Part(b).Ads {
		if row.Status != advert.StatusPaused && !row.Status.IsTerminal() {
			r.Updated++
			continue
		}
		r.Skipped++
		if reason := string(row.Status); !slices.Contains(r.Reasons, reason) {
			r.Reasons = append(r.Reasons, reason)
		}
	}
}
