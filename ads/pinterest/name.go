package pinterest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// TidyNames implements ads.Network. It reads the names and changes only those that still carry their token. So it may be repeated, and what somebody
// has renamed keeps that name.
func (d *Driver) TidyNames(ctx context.Context, c ads.Conn, adAccount string, made []ads.MadeName) error {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	of := map[advert.Level]map[string]ads.MadeName{advert.LevelCampaign: {}, advert.LevelGroup: {}, advert.LevelAd: {}}
	for _, one := range made {
		of[one.Level][one.ID] = one
	}
	ended, err := tidy(ctx, d, c, inAccount(adAccount, "campaigns"), "campaign_ids", of[advert.LevelCampaign], func(w campaign, name string) any {
		return changedCampaign{AdAccountID: adAccount, ID: w.ID, Name: name}
	})
	if ended || err != nil {
		return err
	}
	_, groups := tidy(ctx, d, c, inAccount(adAccount, "ad_groups"), "ad_group_ids", of[advert.LevelGroup], func(w group, name string) any {
		return changedGroup{ID: w.ID, Name: name}
	})
	_, shown := tidy(ctx, d, c, inAccount(adAccount, "ads"), "ad_ids", of[advert.LevelAd], func(w ad, name string) any {
		return changedAd{ID: w.ID, Name: name}
	})
	return errors.Join(groups, shown)
}

// titled is a thing with an id, a name and a status.
type titled interface {
	identified
	title() (name, status string)
}

func (w campaign) title() (string, string) { return w.Name, w.Status }
func (w group) title() (string, string)    { return w.Name, w.Status }
func (w ad) title() (string, string)       { return w.Name, w.Status }

// tidy takes the tokens off the names of things of one level, and reports whether one of them is archived. Then neither it nor what is in it can be
// changed any more.
func tidy[T titled](ctx context.Context, d *Driver, c ads.Conn, path, filter string, made map[string]ads.MadeName, change func(T, string) any) (ended bool, err error) {
	found, err := filtered[T](ctx, d, c, path, filter, slices.Sorted(maps.Keys(made)))
	if err != nil {
		return false, err
	}
	var errs []error
	for _, w := range found {
		name, status := w.title()
		plan := made[w.id()]
		ended = ended || status == archived
		if status == archived || !carries(name, plan.Token) {
			continue
		}
		tidied := unmark(name)
		if name == mark(plan.Name, plan.Token) {
			tidied = plan.Name
		}
		_, err := one[T](ctx, d, c, http.MethodPatch, path, change(w, tidied))
		errs = append(errs, err)
	}
	return ended, errors.Join(errs...)
}
