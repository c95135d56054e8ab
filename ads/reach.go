package ads

import (
	"context"
	"errors"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// ReachQuery is a targeting whose reach is asked for: in the words of all networks, and as Target writes it.
type ReachQuery struct {
	AdAccount advert.Account
	Targeting Targeting
	Words     advert.Object
}

// Reach is how many people a targeting reaches, as a network guesses it. A bound is nil if the network does not tell it.
type Reach struct {
	Platform  advert.Platform // a driver leaves out what is not Lower, Upper and Ready
	Available bool            // the network makes such guesses
	Lower     *int64
	Upper     *int64
	Ready     bool // the guess is made, and does not change soon
	Warnings  []string
}

// EstimateReach is a targeting, as it was sent.
type EstimateReach struct {
	AccountID   string
	AdAccountID string
	Targeting   advert.Object
	Goal        string
}

// EstimateReach asks a network how many people a targeting reaches. The targeting is read as that of a new ad. A network that makes no
// such guesses is no error.
func (s *Service) EstimateReach(ctx context.Context, account string, in EstimateReach) (*Reach, error) {
	if err := (required{{"account_id", in.AccountID}, {"ad_account_id", in.AdAccountID}}).err(); err != nil {
		return nil, err
	}
	line, err := s.activated(ctx, account, in.AccountID)
	if err != nil {
		return nil, err
	}
	a, err := s.store.GetAccount(ctx, line.channel, in.AdAccountID)
	if err != nil {
		return nil, err
	}
	q, warnings, err := s.readReach(ctx, line, a, in)
	if err != nil {
		return nil, err
	}
	if err := s.store.Leave(ctx); err != nil {
		return nil, err
	}
	reach, err := line.Reach(ctx, line.conn, q)
	if err != nil && !errors.Is(err, ErrUnsupported) {
		return nil, unanswered(a.Platform, "estimate", err)
	}
	reach.Platform, reach.Available, reach.Warnings = a.Platform, err == nil, warnings
	return &reach, nil
}

// readReach reads the targeting and checks it, and returns what else there is to say. No network's guess depends on the goal so far.
func (s *Service) readReach(ctx context.Context, l *line, a *advert.Account, in EstimateReach) (q ReachQuery, warnings []string, err error) {
	var p core.Problems
	w := (&TargetingInput{Targeting: in.Targeting}).read(&p)
	warnings = w.settle(a, &p)
	caps := l.Caps()
	caps.checkTargeting(&p, w)
	if in.Goal != "" {
		caps.CheckGoal(&p, advert.Goal(in.Goal))
		warnings = append(warnings, "goal makes no difference to what "+string(a.Platform)+" estimates.")
	}
	if _, err := s.resolveAudiences(ctx, l, a.PlatformID, w, &p); err != nil {
		return q, nil, err
	}
	if err := p.Err(); err != nil {
		return q, nil, err
	}
	words, err := l.Target(w.Targeting, "")
	if err := errors.Join(rejectedIn(&p, err), p.Err()); err != nil {
		return q, nil, err
	}
	return ReachQuery{*a, w.Targeting, words}, warnings, nil
}

// Reach implements Network.
func (o outside) Reach(ctx context.Context, c Conn, q ReachQuery) (Reach, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Reach(ctx, c, q)
}
