package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
)

// TakeAdAction claims an action without an outcome for somebody who has found out what became of it. If it has its
// outcome, the error is CodeInvalid; if its network is being asked at this moment, CodeInProgress. It commits at once.
func (s *Store) TakeAdAction(ctx context.Context, account, id string) error {
	_, err := step(ctx, s, func(ctx context.Context, u *unit) (any, error) {
		action, err := s.findAdAction(ctx, account, id, u.Lock())
		if err != nil {
			return nil, err
		}
		if err := action.CheckOpen(); err != nil {
			return nil, err
		}
		mine, err := u.leaseAdAction(ctx, account, id, `(state = 'unknown' OR lease_until < `+s.db.NowSQL()+`)`)
		if err == nil && !mine {
			err = &core.Error{Code: core.CodeInProgress, After: adLease, Message: "The network is being asked about " + id + " at this moment. Try again in a minute."}
		}
		return nil, err
	})
	return err
}

// CheckOpen returns CodeInvalid for an action that has its outcome, and nil for one that has none yet.
func (a *AdAction) CheckOpen() error {
	if a.IsFinal() {
		return core.Invalid("state", fmt.Sprintf("%s has its outcome already: it is %s. Nothing was changed.", a.ID, a.State))
	}
	return nil
}

// MirroredAd returns a campaign, an ad group or an ad from the mirror, together with what it is in. The state of its
// channel does not matter. What the mirror does not have is missing from the batch.
func (s *Store) MirroredAd(ctx context.Context, account string, platform Platform, level AdLevel, id string) (AdBatch, error) {
	var b AdBatch
	switch level {
	case AdLevelAd:
		ads, err := entitiesByID(ctx, s, adRows, account, []string{id})
		a := ads[entityKey{platform, id}]
		if err != nil || a == nil {
			return b, err
		}
		b, err = s.MirroredAd(ctx, account, platform, AdLevelGroup, a.AdGroupID)
		b.Ads = append(b.Ads, *a)
		return b, err
	case AdLevelGroup:
		groups, err := entitiesByID(ctx, s, adGroups, account, []string{id})
		g := groups[entityKey{platform, id}]
		if err != nil || g == nil {
			return b, err
		}
		b, err = s.MirroredAd(ctx, account, platform, AdLevelCampaign, g.CampaignID)
		b.Groups = append(b.Groups, *g)
		return b, err
	default:
		campaigns, err := entitiesByID(ctx, s, adCampaigns, account, []string{id})
		if c := campaigns[entityKey{platform, id}]; err == nil && c != nil {
			b.Campaigns = append(b.Campaigns, *c)
		}
		return b, err
	}
}
