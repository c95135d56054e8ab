package advert

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// TakeAction claims an action without an outcome for somebody who has found out what became of it. If it has its
// outcome, the error is CodeInvalid; if its network is being asked at this moment, CodeInProgress. It commits at once.
func (s *Store) TakeAction(ctx context.Context, account, id string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		action, err := s.lockAction(ctx, u, account, id)
		if err != nil {
			return nil, err
		}
		if err := action.CheckOpen(); err != nil {
			return nil, err
		}
		mine, err := s.leaseAction(ctx, u, account, id, `(state = 'unknown' OR lease_until < `+s.db.NowSQL()+`)`)
		if err == nil && !mine {
			err = &core.Error{Code: core.CodeInProgress, After: actionLease, Message: "The network is being asked about " + id + " at this moment. Try again in a minute."}
		}
		return nil, err
	})
	return err
}

// CheckOpen returns CodeInvalid for an action that has its outcome, and nil for one that has none yet.
func (a *Action) CheckOpen() error {
	if a.IsFinal() {
		return core.Invalid("state", fmt.Sprintf("%s has its outcome already: it is %s. Nothing was changed.", a.ID, a.State))
	}
	return nil
}

// MirroredAd returns a campaign, an ad group or an ad from the mirror, together with what it is in. The state of its
// channel does not matter. What the mirror does not have is missing from the batch.
func (s *Store) MirroredAd(ctx context.Context, account string, platform Platform, level Level, id string) (Batch, error) {
	var b Batch
	switch level {
	case LevelAd:
		ads, err := entitiesByID(ctx, s.db, s, adRows, account, []string{id})
		a := ads[entityKey{platform, id}]
		if err != nil || a == nil {
			return b, err
		}
		b, err = s.MirroredAd(ctx, account, platform, LevelGroup, a.AdGroupID)
		b.Ads = append(b.Ads, *a)
		return b, err
	case LevelGroup:
		groups, err := entitiesByID(ctx, s.db, s, groupRows, account, []string{id})
		g := groups[entityKey{platform, id}]
		if err != nil || g == nil {
			return b, err
		}
		b, err = s.MirroredAd(ctx, account, platform, LevelCampaign, g.CampaignID)
		b.Groups = append(b.Groups, *g)
		return b, err
	default:
		campaigns, err := entitiesByID(ctx, s.db, s, campaignRows, account, []string{id})
		if c := campaigns[entityKey{platform, id}]; err == nil && c != nil {
			b.Campaigns = append(b.Campaigns, *c)
		}
		return b, err
	}
}
