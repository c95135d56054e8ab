package ads

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// DeletedCampaign names a campaign that was cancelled for good, and says how much was in it.
type DeletedCampaign struct {
	ID           string
	Platform     advert.Platform
	AdGroupCount int
	AdCount      int
}

// DeleteCampaign cancels a campaign with all that is in it, for good. What it has spent still counts. A campaign that is
// deleted already is CodeMissing, unless this very request has deleted it before.
func (s *Service) DeleteCampaign(ctx context.Context, by Actor, id, platform string) (*DeletedCampaign, error) {
	known, err := bodyPlatform(platform)
	if err != nil {
		return nil, err
	}
	c, err := s.store.GetCampaign(ctx, by.Account, known, id)
	if err != nil {
		return nil, err
	}
	if c.DeletedAt != nil {
		if deleted, err := s.deletedBefore(ctx, by, advert.OpDeleteCampaign, c.PlatformID); err != nil || deleted {
			return deletedCampaign(c), err
		}
		return nil, core.Missing("campaign", "", id)
	}
	line, err := s.activated(ctx, by.Account, c.ChannelID)
	if err != nil {
		return nil, err
	}
	if c.AdAccount == nil {
		return nil, fmt.Errorf("campaign %s has no ad account", c.PlatformID)
	}
	_, err = s.perform(ctx, by, deed{
		line: line,
		begin: intent(by, advert.OpDeleteCampaign, advert.BeginAction{
			AdAccount: c.AdAccount, TargetID: c.PlatformID,
			Before: advert.NewObject(map[string]string{"name": c.Name, "status": string(c.Status)}),
		}),
		ask: func(ctx context.Context, _ *advert.Action, _ bool) (advert.Outcome, error) {
			return line.delete(ctx, c)
		},
	})
	if err != nil {
		return nil, err
	}
	return deletedCampaign(c), nil
}

// deletedCampaign returns the answer to a deletion.
func deletedCampaign(c *advert.Campaign) *DeletedCampaign {
	return &DeletedCampaign{ID: c.PlatformID, Platform: c.Platform, AdGroupCount: c.AdGroupCount, AdCount: c.AdCount}
}

// deletedBefore reports whether this very request, when it was sent before, deleted the thing with an id.
func (s *Service) deletedBefore(ctx context.Context, by Actor, op advert.Op, id string) (bool, error) {
	action, err := s.store.RequestedAction(ctx, by.Account)
	if err != nil || action == nil {
		return false, err
	}
	return action.Op == op && action.TargetID == id && action.State == advert.ActionDone, nil
}

// delete deletes a campaign at the network. One that is gone already is no error.
func (l *line) delete(ctx context.Context, c *advert.Campaign) (advert.Outcome, error) {
	_, err := l.Delete(ctx, l.conn, Ref{AdAccount: c.AdAccountID, Level: advert.LevelCampaign, ID: c.PlatformID})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return advert.Outcome{}, err
	}
	return advert.Outcome{CancelledCampaign: c.PlatformID}, nil
}
