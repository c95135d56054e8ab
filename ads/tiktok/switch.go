package tiktok

import (
	"context"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// SetStatus implements ads.Network. It turns up to twenty switches of one level with each request, and then reads how things
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

// setSome turns the switches of the results at these places, which are all of one level. TikTok refuses a request whole because of one
// thing in it; each is then sent alone. Any other error is returned and also stands in each of these results.
func (d *Driver) setSome(ctx context.Context, c ads.Conn, results []ads.ItemResult, places []int, to advert.Configured) error {
	ids := make([]string, len(places))
	for i, place := range places {
		ids[i] = results[place].Ref.ID
	}
	ref := results[places[0]].Ref
	err := d.turn(ctx, c, ref.AdAccount, ref.Level, d.caps.SwitchWord(to), ids...)
	if isRejected(err) && len(places) > 1 {
		for _, place := range places {
			results[place].Err = d.turn(ctx, c, ref.AdAccount, ref.Level, d.caps.SwitchWord(to), results[place].Ref.ID)
		}
		return nil
	}
	for _, place := range places {
		results[place].Err = err
	}
	if isRejected(err) {
		return nil
	}
	return err
}

// turn turns switches of one level.
func (d *Driver) turn(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, word string, ids ...string) error {
	kind := kinds[level]
	return d.write(ctx, c, kind+"/status/update", fields{"advertiser_id": adAccount, kind + "_ids": ids, "operation_status": word}, nil)
}

// deleted is TikTok's word for the end of a thing.
const deleted = "DELETE"

// remove ends a thing for good. It is tried as often as a read, because deleting twice does no harm. What is gone already cannot be changed, so
// after a refusal the driver looks whether it is gone.
func (d *Driver) remove(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, id string) error {
	err := d.again(ctx, func() error { return d.turn(ctx, c, adAccount, level, deleted, id) })
	if !isRejected(err) {
		return err
	}
	gone, look := d.isGone(ctx, c, adAccount, level, id)
	if look != nil || !gone {
		return err
	}
	return nil
}

// isGone reports whether a thing is deleted.
func (d *Driver) isGone(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, id string) (bool, error) {
	t, err := d.above(ctx, c, adAccount, level, []string{id})
	if err != nil {
		return false, err
	}
	if level == advert.LevelCampaign {
		return len(t.campaigns) == 0 || t.campaigns[0].isDeleted(), nil
	}
	return len(t.ads) == 0 || t.ads[0].isDeleted(), nil
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
			d.count(r, t.on(r.Ref, stamp(c.Now())))
		}
	}
}

// on returns the tree as it would be with the switch of a reference on: what is off because of it is not. An ad that is delivered in that
// tree is one that the switch affects. TikTok's own word for an ad says which switch above it is off.
func (t tree) on(ref ads.Ref, now string) tree {
	t.campaigns, t.groups, t.ads = slices.Clone(t.campaigns), slices.Clone(t.groups), slices.Clone(t.ads)
	above := map[advert.Level]string{advert.LevelCampaign: "_CAMPAIGN_DISABLE", advert.LevelGroup: "_ADGROUP_DISABLE"}[ref.Level]
	for i, w := range t.campaigns {
		if ref.Level == advert.LevelCampaign && w.ID == ref.ID {
			t.campaigns[i].Secondary = "CAMPAIGN_STATUS_ENABLE"
		}
	}
	for i, w := range t.groups {
		ended := w.ScheduleType == "SCHEDULE_START_END" && w.End <= now
		switch {
		case !ref.Holds(w.CampaignID, w.ID, ""):
		case ended && !w.isDeleted():
			t.groups[i].Secondary = "ADGROUP_STATUS_TIME_DONE"
		case ref.Level == advert.LevelGroup && !w.isDeleted(), above != "" && strings.HasSuffix(w.Secondary, above):
			t.groups[i].Secondary = "ADGROUP_STATUS_DELIVERY_OK"
		}
	}
	for i, w := range t.ads {
		if ref.Holds(w.CampaignID, w.AdGroupID, w.ID) && above != "" && strings.HasSuffix(w.Secondary, above) {
			t.ads[i].Secondary = "AD_STATUS_DELIVERY_OK"
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
