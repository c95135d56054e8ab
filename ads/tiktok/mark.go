package tiktok

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// titled is a thing with an id, a name and a switch.
type titled interface {
	title() (id, name, status string)
}

func (w campaign) title() (string, string, string) { return w.ID, w.Name, w.Secondary }
func (w group) title() (string, string, string)    { return w.ID, w.Name, w.Secondary }
func (w ad) title() (string, string, string)       { return w.ID, w.Name, w.Secondary }

// idsOf returns the ids of things.
func idsOf[T titled](all []T) []string {
	texts := make([]string, len(all))
	for i, w := range all {
		texts[i], _, _ = w.title()
	}
	return texts
}

// TidyNames implements ads.Network. It reads the names and changes only those that still carry their token. So it may be repeated, and what somebody
// has renamed keeps that name. A name that TikTok does not take, because another thing has it, stays.
func (d *Driver) TidyNames(ctx context.Context, c ads.Conn, adAccount string, made []ads.MadeName) error {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	of := map[advert.Level]map[string]ads.MadeName{advert.LevelCampaign: {}, advert.LevelGroup: {}, advert.LevelAd: {}}
	for _, one := range made {
		of[one.Level][one.ID] = one
	}
	return errors.Join(
		tidy[campaign](ctx, d, c, adAccount, advert.LevelCampaign, of, func(w campaign, name string) fields {
			return fields{"campaign_id": w.ID, "campaign_name": name}
		}),
		tidy[group](ctx, d, c, adAccount, advert.LevelGroup, of, func(w group, name string) fields {
			return fields{"adgroup_id": w.ID, "adgroup_name": name}
		}),
		tidy[ad](ctx, d, c, adAccount, advert.LevelAd, of, func(w ad, name string) fields {
			return fields{"adgroup_id": w.AdGroupID, "patch_update": true, "creatives": []fields{{"ad_id": w.ID, "ad_name": name}}}
		}),
	)
}

// tidy takes the tokens off the names of things of one level. What is deleted cannot be changed any more.
func tidy[T titled](
	ctx context.Context, d *Driver, c ads.Conn, adAccount string, level advert.Level, of map[advert.Level]map[string]ads.MadeName, change func(T, string) fields,
) error {
	made := of[level]
	found, err := filtered[T](ctx, d, c, adAccount, kinds[level]+"/get", kinds[level]+"_ids", slices.Sorted(maps.Keys(made)))
	if err != nil {
		return err
	}
	var errs []error
	for _, w := range found {
		id, name, status := w.title()
		plan := made[id]
		if ads.StatusOf(advert.PlatformTikTok, status) == advert.StatusCancelled || !carries(name, plan.Token) {
			continue
		}
		tidied := unmark(name)
		if name == mark(plan.Name, plan.Token, widestName) {
			tidied = plan.Name
		}
		body := change(w, tidied)
		body["advertiser_id"] = adAccount
		if err := d.write(ctx, c, kinds[level]+"/update", body, nil); !isRejected(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
