package ads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

const (
	erasuresBatch = 100
	// maxErasure is for how long a network is told that somebody leaves an audience. If it has not removed them by then, their hashes are deleted
	// here alone.
	maxErasure = 7 * 24 * time.Hour
)

// EraseDue takes customers who were deleted out of the audiences that have them, one action of the audit trail for each audience. A network that does
// not answer is told again by the reconciler, and one that refuses is told again later. If a network removes nobody, or could not be told within a
// week, the hashes are deleted here. The action is then refused and says that the network keeps them. Any number of replicas may do so at the same
// time.
func (s *Service) EraseDue(ctx context.Context) error {
	due, err := s.store.DueErasures(ctx, erasuresBatch)
	if err != nil {
		return err
	}
	return inTurns(s, due, func(one advert.DueErasure) string { return one.AccountID }, func(one advert.DueErasure) error {
		if err := s.erase(ctx, one); err != nil {
			return fmt.Errorf("take people out of audience %s: %w", one.AudienceID, err)
		}
		return nil
	})
}

// erase takes those who are to leave one audience out of it.
func (s *Service) erase(ctx context.Context, due advert.DueErasure) error {
	e, err := s.store.GetErasure(ctx, due)
	if err != nil || e == nil {
		return err
	}
	age := s.store.Now().Time().Sub(e.Since.Time())
	pause := min(max(age/2, offPause), 24*time.Hour)
	line, off := s.activated(ctx, e.Audience.AccountID, e.Audience.ChannelID)
	caps := CapsOf(e.Audience.Platform)
	if off == nil {
		caps = line.Caps()
	}
	kept := ""
	switch {
	case !caps.UserRemoval:
		kept = fmt.Sprintf("%s removes nobody from a customer list.", e.Audience.Platform)
	case off != nil && age < maxErasure:
		return errors.Join(ignoreAnswer(off), s.store.PostponeErasure(ctx, &e.Audience, pause))
	case off != nil:
		kept = fmt.Sprintf("The channel could not be used for %d days.", maxErasure/(24*time.Hour))
	}
	begun, err := s.store.BeginErasure(ctx, &e.Audience, pause)
	if err != nil || begun.Action == nil {
		return err
	}
	if kept != "" {
		return s.keepErased(ctx, begun.Action, kept)
	}
	out, err := line.remove(ctx, begun.Action, &e.Audience, begun.Fresh, len(begun.Fresh), &HashedUsers{})
	ctx = context.WithoutCancel(ctx)
	if refused := verdict(e.Audience.Platform, err); err != nil && refused != nil && age >= maxErasure {
		return s.keepErased(ctx, begun.Action, refused.Message)
	}
	_, err = s.conclude(ctx, line, begun.Action, out, err)
	return ignoreAnswer(err)
}

// keepErased stores that people are forgotten here and stay in an audience at its network, and why.
func (s *Service) keepErased(ctx context.Context, action *advert.Action, why string) error {
	message := fmt.Sprintf("%s The hashes of who was deleted are deleted here. %s keeps its own: delete the audience there, or ask its support.", why, action.Platform)
	_, err := s.store.SettleAction(ctx, action.AccountID, action.ID, advert.Outcome{
		State: advert.ActionRefused, ForgetMembers: true, Failure: &advert.Failure{Code: core.CodeInvalid, Message: message},
	})
	return err
}
