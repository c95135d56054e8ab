package ads

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/advert"
)

const (
	// conversionBatch is how many destinations one round tells at most, and expiryBatch how many conversions it ends.
	conversionBatch = 100
	expiryBatch     = 1000
	// The pause after a network did not take conversions: it doubles with each attempt.
	shortestPause = time.Minute
	longestPause  = time.Hour
)

// TellConversions tells the destinations what has happened. Any number of replicas may do so at the same time: what waits is claimed by one
// of them. A network that does not answer is told again, under the same event ids, for as long as it counts them once.
func (s *Service) TellConversions(ctx context.Context) error {
	_, err := s.store.ExpireConversions(ctx, expiryBatch)
	if err != nil {
		return fmt.Errorf("end conversions: %w", err)
	}
	due, err := s.store.DueConversions(ctx, conversionBatch)
	if err != nil {
		return fmt.Errorf("find conversions: %w", err)
	}
	return inTurns(s, due, func(one advert.DueDestination) string { return one.AccountID }, func(one advert.DueDestination) error {
		if err := s.tell(ctx, one); err != nil {
			return fmt.Errorf("tell %s: %w", one.ID, err)
		}
		return nil
	})
}

// tell claims what a destination is to be told, and tells it in one call.
func (s *Service) tell(ctx context.Context, due advert.DueDestination) error {
	line, err := s.activated(ctx, due.AccountID, due.ChannelID)
	if err != nil {
		return errors.Join(ignoreAnswer(err), s.store.PostponeConversions(ctx, due.AccountID, due.ID, longestPause))
	}
	rules := line.Caps().Conversions
	if rules.PerCall == 0 { // it waits until it expires, and keeps nobody else waiting
		return s.store.PostponeConversions(ctx, due.AccountID, due.ID, longestPause)
	}
	claim, err := s.store.ClaimConversions(ctx, due.AccountID, due.ID, advert.ConversionLimits{
		Most: rules.PerCall, MaxAge: rules.MaxAge, Dedupe: rules.Dedupe, OffsiteOnce: rules.OffsiteOnce,
	})
	if err != nil || len(claim.Conversions) == 0 {
		return err
	}
	results, err := s.send(ctx, line, claim)
	ctx = context.WithoutCancel(ctx) // what it said is to be stored, even if the server stops
	if err == nil && len(results) != len(claim.Conversions) {
		err = fmt.Errorf("%w: %d results for %d events", ErrIndeterminate, len(results), len(claim.Conversions))
	}
	if err != nil {
		results = slices.Repeat([]error{err}, len(claim.Conversions))
	}
	outcomes := make([]advert.ConversionOutcome, len(results))
	for i, result := range results {
		outcomes[i] = s.outcome(&claim.Conversions[i], result)
		if err == nil && isShut(result) {
			err = result
		}
	}
	return errors.Join(s.store.SettleConversions(ctx, claim, outcomes), s.shut(ctx, line, claim.Destination, err))
}

// send tells the network what was claimed. A token that cannot be opened is ErrOperator: nothing was told.
func (s *Service) send(ctx context.Context, l *line, claim *advert.ConversionClaim) ([]error, error) {
	d := claim.Destination
	token, err := s.store.DestinationToken(d)
	if err != nil {
		return nil, fmt.Errorf("%w: open the token: %w", ErrOperator, err)
	}
	return l.SendConversions(ctx, l.conn, ConversionBatch{AdAccount: d.AdAccountID, PixelID: d.PixelID, Token: Secret(token), Events: claim.Events()})
}

// outcome returns what became of a conversion for which the network, or the driver, said err; nil = it was taken.
func (s *Service) outcome(c *advert.Conversion, err error) advert.ConversionOutcome {
	var rejected *Rejected
	var limited *RateLimited
	now := s.store.Now()
	later := advert.ConversionOutcome{Status: advert.ConversionPending, DueAt: now.Add(pause(c.Attempts))}
	switch {
	case err == nil:
		return advert.ConversionOutcome{Status: advert.ConversionSent}
	case errors.As(err, &rejected):
		return advert.ConversionOutcome{Status: advert.ConversionRefused, Reason: reason(errors.New(rejected.Message))}
	case errors.Is(err, ErrUnsupported):
		return advert.ConversionOutcome{Status: advert.ConversionRefused, Reason: reason(err)}
	case isShut(err):
		later.DueAt = now // as soon as it is let in again
	case errors.As(err, &limited):
		later.DueAt = max(later.DueAt, now.Add(limited.After))
	case !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrOperator):
		later.Unsure = true
	}
	later.Reason = reason(err)
	return later
}

// pause returns how long a conversion rests that was claimed so many times before.
func pause(attempts int) time.Duration {
	return min(shortestPause<<min(attempts, 10), longestPause)
}

// isShut reports whether a destination cannot be told anything until somebody does something about it.
func isShut(err error) bool {
	return errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound)
}

// shut marks a destination that its network does not let us tell any more, and its channel if that is not let in at all. It returns what
// whoever runs the service should know of.
func (s *Service) shut(ctx context.Context, l *line, d *advert.ConversionDestination, err error) error {
	switch {
	case errors.Is(err, ErrOperator):
		return err
	case !isShut(err):
		return nil
	}
	s.log.LogAttrs(ctx, slog.LevelWarn, "a conversion destination is not let in any more", slog.String("destination", d.ID), slog.String("error", err.Error()))
	failed := s.store.FailDestination(ctx, d, reason(err))
	if errors.Is(err, ErrUnauthorized) && d.SealedToken == nil && !l.Caps().Conversions.OwnToken {
		failed = errors.Join(failed, s.store.FailSocialAccount(ctx, l.channel, reason(err)))
	}
	return failed
}
