package ads

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
)

// refreshBatch is how many channels one round renews at most.
const refreshBatch = 100

// RefreshDue renews the access of channels before it ends. Any number of replicas may do so at the same time: each channel is claimed
// by one of them. A network that does not answer is asked again ten minutes later, until the access has ended; one that refuses is not.
func (s *Service) RefreshDue(ctx context.Context) error {
	due, err := s.store.DueRefreshes(ctx, refreshBatch)
	if err != nil {
		return err
	}
	return inTurns(s, due, func(one advert.DueRefresh) string { return one.AccountID }, func(one advert.DueRefresh) error {
		if err := s.refresh(ctx, one); err != nil {
			return fmt.Errorf("renew the access of %s: %w", one.ID, err)
		}
		return nil
	})
}

// refresh claims one channel and renews its access. If the process ends between the network's answer and the commit, the next one asks with the text
// that was good before. A network that takes it only once has to be connected again then.
func (s *Service) refresh(ctx context.Context, due advert.DueRefresh) error {
	channel, err := s.store.ClaimRefresh(ctx, due.AccountID, due.ID)
	if err != nil || channel == nil {
		return err
	}
	connector, _ := s.drivers[channel.Driver][channel.Platform].(Connector)
	if connector == nil {
		return nil // and due again when whoever runs the service has turned the network on again
	}
	token, err := s.store.RefreshToken(channel)
	if err != nil {
		return err
	}
	grant, err := connector.Refresh(ctx, Secret(token))
	ctx = context.WithoutCancel(ctx) // the network may take the old text no more
	switch {
	case err == nil:
		return s.store.RefreshSocialAccount(ctx, channel, grant.access(s.store.Now()))
	case errors.Is(err, ErrUnauthorized):
		return s.store.FailRefresh(ctx, channel, reason(err))
	case channel.TokenExpiresAt != nil && *channel.TokenExpiresAt <= s.store.Now():
		return errors.Join(err, s.store.FailRefresh(ctx, channel, fmt.Sprintf("The access has ended, and %s did not renew it in time.", channel.Platform)))
	}
	return err
}
