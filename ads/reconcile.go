package ads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

const (
	reconcileBatch = 100
	// maxUnknownPause is how rarely the reconciler asks about an action that stays unknown.
	maxUnknownPause = 5 * time.Minute
)

// Reconcile finds out about every action that was left without an outcome, by a crash or by a network that did not
// answer. It spends nothing: what it cannot find at the network is settled as not done once it cannot be on its way any
// more, and only an upload, which may be repeated, is sent again.
func (s *Service) Reconcile(ctx context.Context) error {
	due, err := s.store.DueAdActions(ctx, reconcileBatch)
	if err != nil {
		return err
	}
	return inTurns(s, together(due), func(group []store.DueAdAction) string { return group[0].AccountID }, func(group []store.DueAdAction) error {
		return s.reconcile(ctx, group)
	})
}

// together makes groups of the actions about which one look at an ad account tells.
func together(due []store.DueAdAction) [][]store.DueAdAction {
	var groups [][]store.DueAdAction
	group := map[reportPlace]int{}
	for _, one := range due {
		at := reportPlace{one.ChannelID, one.AdAccountID}
		if i, known := group[at]; known && isChange(one.Op) {
			groups[i] = append(groups[i], one)
			continue
		}
		if isChange(one.Op) {
			group[at] = len(groups)
		}
		groups = append(groups, []store.DueAdAction{one})
	}
	return groups
}

// isChange reports whether what became of an action shows in the mirror of its ad account.
func isChange(op store.AdOp) bool {
	switch op {
	case store.AdOpCreateAd, store.AdOpBoostPost, store.AdOpCreateAudience, store.AdOpUploadAudience, store.AdOpDeleteAudience:
		return false
	}
	return true
}

// reconcile finds out about a group of actions. The mirror of their ad account is brought up to date once, after all of
// them are claimed: whoever has asked its network for one of them is through with that by then.
func (s *Service) reconcile(ctx context.Context, group []store.DueAdAction) error {
	var mine []*store.AdAction
	for _, due := range group {
		leased, err := s.store.LeaseAdAction(ctx, due.AccountID, due.ID)
		if err != nil {
			return fmt.Errorf("action %s: %w", due.ID, err)
		}
		if !leased {
			continue
		}
		action, err := s.store.GetAdAction(ctx, due.AccountID, due.ID)
		if err != nil {
			return fmt.Errorf("action %s: %w", due.ID, err)
		}
		mine = append(mine, action)
	}
	var once sync.Once
	var seen error
	mirrored := func(line *line, action *store.AdAction) error {
		once.Do(func() { seen = s.lookAt(ctx, line, action) })
		return seen
	}
	var errs []error
	for _, action := range mine {
		if err := s.reconcileOne(ctx, action, mirrored); err != nil {
			errs = append(errs, fmt.Errorf("action %s: %w", action.ID, err))
		}
	}
	return errors.Join(errs...)
}

// lookAt brings the mirror of an action's ad account up to date.
func (s *Service) lookAt(ctx context.Context, l *line, action *store.AdAction) error {
	a, err := s.store.GetAdAccount(ctx, l.channel, action.AdAccountID)
	if err != nil {
		return err
	}
	whole, err := s.syncAdAccount(ctx, l, a, s.store.Now().Add(walkTime))
	if err == nil && !whole {
		err = &undecided{fmt.Errorf("ad account %s is too large to be seen in %s", a.PlatformID, walkTime)}
	}
	return err
}

// look brings the mirror of an action's ad account up to date.
type look func(*line, *store.AdAction) error

func (s *Service) reconcileOne(ctx context.Context, action *store.AdAction, mirrored look) error {
	out, done, err := s.findOut(ctx, action, mirrored)
	switch {
	case err != nil:
		return s.stillUnknown(ctx, action, err)
	case done:
		out.State = store.AdActionDone
	case s.mayCome(action):
		return s.stillUnknown(ctx, action, errNotYet)
	default:
		out = store.AdOutcome{State: store.AdActionRefused, Failure: &store.AdFailure{
			Code: codeUnavailable, Message: fmt.Sprintf("%s did not do it. Nothing was changed: send the request again.", action.Platform),
		}}
	}
	_, err = s.store.SettleAdAction(ctx, action.AccountID, action.ID, out)
	return err
}

// errNotYet says that a network has not done what it may still do.
var errNotYet = errors.New("it was not done so far")

// mayCome reports whether what a network has not done may still take place. It is looked at twice before that is denied.
func (s *Service) mayCome(action *store.AdAction) bool {
	if hasProof(action) {
		return false
	}
	f := action.Failure.V
	return s.store.Now() < openUntil(action) || f == nil || !f.Absent
}

// hasProof reports whether an action cannot take place any more once the network was asked and had not done it: of a
// campaign that was to be created Find leaves nothing that an ad could still come into.
func hasProof(action *store.AdAction) bool {
	if action.Op != store.AdOpCreateAd && action.Op != store.AdOpBoostPost {
		return false
	}
	var r recipe
	return action.Plan.Decode(&r) == nil && r.Plan.AdGroupID == ""
}

// stillUnknown leaves an action for later, the longer it is unknown the longer. What a network says is no fault of ours.
func (s *Service) stillUnknown(ctx context.Context, action *store.AdAction, cause error) error {
	age := s.store.Now().Time().Sub(action.CreatedAt.Time())
	failure := &store.AdFailure{
		Code: codeUnavailable, Message: fmt.Sprintf("%s does not say what became of it.", action.Platform),
		OpenUntil: openUntil(action), Absent: errors.Is(cause, errNotYet),
	}
	if err := s.store.YieldAdAction(ctx, action.AccountID, action.ID, min(max(age/4, unknownPause), maxUnknownPause), failure); err != nil {
		return errors.Join(cause, err)
	}
	var open *undecided
	if errors.As(cause, &open) || failure.Absent {
		return nil
	}
	return ignoreAnswer(cause)
}

// findOut returns what became of an action, and whether it was done at all.
func (s *Service) findOut(ctx context.Context, action *store.AdAction, mirrored look) (out store.AdOutcome, done bool, err error) {
	channel, err := s.store.GetSocialAccount(ctx, action.AccountID, action.ChannelID)
	if err != nil {
		return out, false, err
	}
	line, err := s.line(channel)
	if err != nil {
		return out, false, err
	}
	switch action.Op {
	case store.AdOpCreateAd, store.AdOpBoostPost:
		return line.findAd(ctx, action)
	case store.AdOpCreateAudience:
		return line.findAudience(ctx, action)
	case store.AdOpUploadAudience:
		return s.repeatUpload(ctx, line, action)
	case store.AdOpDeleteAudience:
		return s.findDeletedAudience(ctx, line, action)
	}
	if err := mirrored(line, action); err != nil {
		return out, false, err
	}
	return s.findChange(ctx, action)
}

func (l *line) findAd(ctx context.Context, action *store.AdAction) (out store.AdOutcome, done bool, err error) {
	var r recipe
	if err := action.Plan.Decode(&r); err != nil {
		return out, false, err
	}
	created, found, err := l.found(ctx, action)
	if err != nil || !found {
		return out, false, err
	}
	out, err = r.outcome(created)
	return out, true, err
}

func (l *line) findAudience(ctx context.Context, action *store.AdAction) (out store.AdOutcome, done bool, err error) {
	var r audienceRecipe
	if err := action.Plan.Decode(&r); err != nil {
		return out, false, err
	}
	created, found, err := l.found(ctx, action)
	if err != nil || !found || created.Audience == nil {
		return out, false, err
	}
	return r.outcome(action, *created.Audience), true, nil
}

// repeatUpload sends once more what an upload had to send: adding people again changes nothing.
func (s *Service) repeatUpload(ctx context.Context, l *line, action *store.AdAction) (out store.AdOutcome, done bool, err error) {
	a, err := s.store.GetAdAudience(ctx, action.AccountID, action.TargetID, "")
	if err != nil {
		return out, false, goneIsNotDone(err)
	}
	fresh, err := s.store.AdMembers(ctx, action.AccountID, action.ID)
	if err != nil {
		return out, false, err
	}
	var plan struct {
		Users int `json:"users"`
	}
	if err := action.Plan.Decode(&plan); err != nil {
		return out, false, err
	}
	out, err = l.upload(ctx, action, a, fresh, plan.Users, &HashedUsers{})
	return out, err == nil, err
}

// goneIsNotDone makes nothing of the absence of what an action is about.
func goneIsNotDone(err error) error {
	var missing *core.Error
	if errors.As(err, &missing) && missing.Code == core.CodeMissing {
		return nil
	}
	return err
}

func (s *Service) findDeletedAudience(ctx context.Context, l *line, action *store.AdAction) (out store.AdOutcome, done bool, err error) {
	out.DeletedAudience = action.TargetID
	a, err := s.store.GetAdAudience(ctx, action.AccountID, action.TargetID, "")
	if err != nil {
		return out, goneIsNotDone(err) == nil, goneIsNotDone(err)
	}
	if a.PlatformID == nil {
		return out, true, nil
	}
	_, err = l.Audience(ctx, l.conn, a.AdAccountID, *a.PlatformID)
	if errors.Is(err, ErrNotFound) {
		return out, true, nil
	}
	return out, false, err
}

// findChange compares what an action wanted with the mirror, which has just been brought up to date.
func (s *Service) findChange(ctx context.Context, action *store.AdAction) (out store.AdOutcome, done bool, err error) {
	now, err := s.standing(ctx, action)
	if err != nil || now == nil {
		return out, action.Op == store.AdOpDeleteCampaign, err
	}
	switch action.Op {
	case store.AdOpDeleteCampaign:
		out.CancelledCampaign = action.TargetID
		return out, now.status == store.AdStatusCancelled, nil
	case store.AdOpUpdateCampaign, store.AdOpUpdateGroup:
		var patch Patch
		if err := action.Plan.Decode(&patch); err != nil {
			return out, false, err
		}
		out.After = action.Plan
		return out, now.has(patch), nil
	default:
		var plan switchPlan
		if err := action.Plan.Decode(&plan); err != nil {
			return out, false, err
		}
		out.After = store.NewAdObject(switchResult{Status: now.status})
		return out, now.configured == plan.To, nil
	}
}

// standing is how a campaign or an ad group stands in the mirror.
type standing struct {
	configured store.AdConfigured
	status     store.AdStatus
	budget     Budget
	bid        Bid
}

// standing returns how the target of an action stands, nil if there is none any more.
func (s *Service) standing(ctx context.Context, action *store.AdAction) (*standing, error) {
	switch action.Op {
	case store.AdOpUpdateGroup, store.AdOpPauseGroup, store.AdOpResumeGroup:
		g, err := s.store.GetAdGroup(ctx, action.AccountID, action.Platform, action.TargetID)
		if err != nil {
			return nil, goneIsNotDone(err)
		}
		return &standing{g.ConfiguredStatus, g.Status, Budget{g.BudgetAmount, g.BudgetType}, Bid{g.BidStrategy, g.BidAmount, g.RoasFloor}}, nil
	}
	c, err := s.store.GetAdCampaign(ctx, action.AccountID, action.Platform, action.TargetID)
	if err != nil {
		return nil, goneIsNotDone(err)
	}
	now := &standing{c.ConfiguredStatus, c.Status, Budget{c.BudgetAmount, c.BudgetType}, Bid{c.BidStrategy, c.BidAmount, c.RoasFloor}}
	groups, err := s.store.AdGroupsOf(ctx, c)
	groups = slices.DeleteFunc(groups, func(g store.AdGroup) bool { return g.DeletedAt != nil })
	if len(groups) > 0 && now.bid.Amount == 0 && now.bid.RoasFloor == 0 {
		now.bid.ofGroups(groups)
	}
	return now, err
}

// ofGroups takes over the cap and the floor that a campaign's ad groups have all of them: with some networks they stand
// there alone.
func (b *Bid) ofGroups(groups []store.AdGroup) {
	first := groups[0]
	same := func(g store.AdGroup) bool { return g.BidAmount == first.BidAmount && g.RoasFloor == first.RoasFloor }
	if !slices.ContainsFunc(groups, func(g store.AdGroup) bool { return !same(g) }) {
		b.Amount, b.RoasFloor = first.BidAmount, first.RoasFloor
	}
}

// has reports whether it stands as a change wanted it.
func (n *standing) has(p Patch) bool {
	return (p.Budget == nil || *p.Budget == n.budget) && (p.BidStrategy == nil || *p.BidStrategy == n.bid.Strategy) &&
		(p.BidAmount == nil || *p.BidAmount == n.bid.Amount) && (p.RoasFloor == nil || *p.RoasFloor == n.bid.RoasFloor)
}
