package ads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

const (
	reconcileBatch = 100
	// maxUnknownPause is the longest time between two looks at an action that stays unknown.
	maxUnknownPause = 5 * time.Minute
)

// Reconcile finds out what became of the actions that were left without an outcome, by a crash or because a network did
// not answer. It spends nothing. If the network has not done what was asked, the action is settled as refused once it
// cannot be on its way any more. Only an upload and a removal of people are sent again, because they may be repeated.
func (s *Service) Reconcile(ctx context.Context) error {
	due, err := s.store.DueActions(ctx, reconcileBatch)
	if err != nil {
		return err
	}
	return inTurns(s, together(due), func(group []advert.DueAction) string { return group[0].AccountID }, func(group []advert.DueAction) error {
		return s.reconcile(ctx, group)
	})
}

// together groups actions so that one look at an ad account is enough for all changes in it. Every other action is a
// group of its own.
func together(due []advert.DueAction) [][]advert.DueAction {
	var groups [][]advert.DueAction
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
		groups = append(groups, []advert.DueAction{one})
	}
	return groups
}

// isChange reports whether the mirror of its ad account, once it is up to date, shows what became of an action.
func isChange(op advert.Op) bool {
	switch op {
	case advert.OpCreateAd, advert.OpBoostPost, advert.OpCreateAudience, advert.OpUploadAudience, advert.OpRemoveAudience, advert.OpDeleteAudience:
		return false
	}
	return true
}

// reconcile finds out about a group of actions. It claims all of them first, and only then brings the mirror of their ad
// account up to date, once. By then whoever asked the network for one of them has finished.
func (s *Service) reconcile(ctx context.Context, group []advert.DueAction) error {
	var mine []*advert.Action
	for _, due := range group {
		leased, err := s.store.LeaseAction(ctx, due.AccountID, due.ID)
		if err != nil {
			return fmt.Errorf("action %s: %w", due.ID, err)
		}
		if !leased {
			continue
		}
		action, err := s.store.GetAction(ctx, due.AccountID, due.ID)
		if err != nil {
			return fmt.Errorf("action %s: %w", due.ID, err)
		}
		mine = append(mine, action)
	}
	var once sync.Once
	var seen error
	mirrored := func(line *line, action *advert.Action) error {
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

// lookAt brings the mirror of an action's ad account up to date. If there is no time for all of it, the error is
// undecided.
func (s *Service) lookAt(ctx context.Context, l *line, action *advert.Action) error {
	a, err := s.store.GetAccount(ctx, l.channel, action.AdAccountID)
	if err != nil {
		return err
	}
	whole, err := s.syncAdAccount(ctx, l, a, s.store.Now().Add(walkTime))
	if err == nil && !whole {
		err = &undecided{fmt.Errorf("ad account %s is too large to be seen in %s", a.PlatformID, walkTime)}
	}
	return err
}

// look brings the mirror of an action's ad account up to date, once for several actions.
type look func(*line, *advert.Action) error

// reconcileOne finds out about one leased action, and settles it or leaves it for later.
func (s *Service) reconcileOne(ctx context.Context, action *advert.Action, mirrored look) error {
	out, done, err := s.findOut(ctx, action, mirrored)
	switch {
	case err != nil:
		return s.stillUnknown(ctx, action, err)
	case done:
		out.State = advert.ActionDone
	case s.mayCome(action):
		return s.stillUnknown(ctx, action, errNotYet)
	default:
		out = advert.Outcome{State: advert.ActionRefused, Failure: &advert.Failure{
			Code: codeUnavailable, Message: fmt.Sprintf("%s did not do it. Nothing was changed: send the request again.", action.Platform),
		}}
	}
	_, err = s.store.SettleAction(ctx, action.AccountID, action.ID, out)
	return err
}

// errNotYet says that a network has not done something so far, but may still do it.
var errNotYet = errors.New("it was not done so far")

// mayCome reports whether an action that the network has not done may still take place. It may until its time is over
// and the network has been looked at twice, unless there is proof.
func (s *Service) mayCome(action *advert.Action) bool {
	if hasProof(action) {
		return false
	}
	f := action.Failure.V
	return s.store.Now() < openUntil(action) || f == nil || !f.Absent
}

// hasProof reports whether one look is enough to know that an action was not done and cannot be done any more. That holds
// for an ad that was to get a campaign of its own. Find removes what there is of it, so no ad can come into it any more.
func hasProof(action *advert.Action) bool {
	if action.Op != advert.OpCreateAd && action.Op != advert.OpBoostPost {
		return false
	}
	var r recipe
	return action.Plan.Decode(&r) == nil && r.Plan.AdGroupID == ""
}

// stillUnknown leaves an action for later. The older it is, the longer is the pause. It returns an error only if the
// cause is a fault of ours and not something that a network said.
func (s *Service) stillUnknown(ctx context.Context, action *advert.Action, cause error) error {
	age := s.store.Now().Time().Sub(action.CreatedAt.Time())
	failure := &advert.Failure{
		Code: codeUnavailable, Message: fmt.Sprintf("%s does not say what became of it.", action.Platform),
		OpenUntil: openUntil(action), Absent: errors.Is(cause, errNotYet),
	}
	if err := s.store.YieldAction(ctx, action.AccountID, action.ID, min(max(age/4, unknownPause), maxUnknownPause), failure); err != nil {
		return errors.Join(cause, err)
	}
	var open *undecided
	if errors.As(cause, &open) || failure.Absent {
		return nil
	}
	return ignoreAnswer(cause)
}

// findOut returns the outcome of an action and whether it was done, from the network or from the mirror.
func (s *Service) findOut(ctx context.Context, action *advert.Action, mirrored look) (out advert.Outcome, done bool, err error) {
	channel, err := s.store.GetSocialAccount(ctx, action.AccountID, action.ChannelID)
	if err != nil {
		return out, false, err
	}
	line, err := s.line(channel)
	if err != nil {
		return out, false, err
	}
	switch action.Op {
	case advert.OpCreateAd, advert.OpBoostPost:
		return line.findAd(ctx, action)
	case advert.OpCreateAudience:
		return line.findAudience(ctx, action)
	case advert.OpUploadAudience:
		return s.repeatUpload(ctx, line, action)
	case advert.OpRemoveAudience:
		return s.repeatRemoval(ctx, line, action)
	case advert.OpDeleteAudience:
		return s.findDeletedAudience(ctx, line, action)
	}
	if err := mirrored(line, action); err != nil {
		return out, false, err
	}
	return s.findChange(ctx, action)
}

// findAd returns what the network made with the token of an action that creates an ad, and whether it made it.
func (l *line) findAd(ctx context.Context, action *advert.Action) (out advert.Outcome, done bool, err error) {
	var r recipe
	if err := action.Plan.Decode(&r); err != nil {
		return out, false, err
	}
	r.Plan.Token = action.ID
	created, found, err := l.found(ctx, action)
	if err != nil || !found {
		return out, false, err
	}
	out, err = r.outcome(created)
	return out, true, err
}

// findAudience returns what the network made with the token of an action that creates an audience, and whether it made
// it.
func (l *line) findAudience(ctx context.Context, action *advert.Action) (out advert.Outcome, done bool, err error) {
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

// repeatUpload sends the identifiers of an upload once more, because adding people again changes nothing. An upload to
// an audience that was deleted was not done.
func (s *Service) repeatUpload(ctx context.Context, l *line, action *advert.Action) (out advert.Outcome, done bool, err error) {
	a, err := s.store.GetAudience(ctx, action.AccountID, action.TargetID, "")
	if err != nil {
		return out, false, goneIsNotDone(err)
	}
	fresh, err := s.store.Members(ctx, action.AccountID, action.ID)
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

// goneIsNotDone drops a CodeMissing: if what an action is about does not exist any more, that is no error here.
func goneIsNotDone(err error) error {
	var missing *core.Error
	if errors.As(err, &missing) && missing.Code == core.CodeMissing {
		return nil
	}
	return err
}

// findDeletedAudience returns the outcome of the deletion of an audience, and whether it is gone at the network.
func (s *Service) findDeletedAudience(ctx context.Context, l *line, action *advert.Action) (out advert.Outcome, done bool, err error) {
	out.DeletedAudience = action.TargetID
	a, err := s.store.GetAudience(ctx, action.AccountID, action.TargetID, "")
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

// findChange compares what an action was to change with the mirror, which has just been brought up to date.
func (s *Service) findChange(ctx context.Context, action *advert.Action) (out advert.Outcome, done bool, err error) {
	now, err := s.standing(ctx, action)
	if err != nil || now == nil {
		gone := action.Op == advert.OpDeleteCampaign || action.Op == advert.OpDeleteAd
		return out, gone, err
	}
	switch action.Op {
	case advert.OpDeleteAd:
		out.CancelledAd = action.TargetID
		return out, now.status == advert.StatusCancelled, nil
	case advert.OpDeleteCampaign:
		out.CancelledCampaign = action.TargetID
		return out, now.status == advert.StatusCancelled, nil
	case advert.OpUpdateCampaign, advert.OpUpdateGroup, advert.OpUpdateAd:
		var patch Patch
		if err := action.Plan.Decode(&patch); err != nil {
			return out, false, err
		}
		out.After = action.Plan
		if !now.has(patch) || patch.Creative == nil {
			return out, now.has(patch), nil
		}
		done, err = s.showsCreative(ctx, action)
		if done { // of which the mirror has heard less
			out.Changed = now.showing(*patch.Creative)
		}
		return out, done, err
	default:
		var plan switchPlan
		if err := action.Plan.Decode(&plan); err != nil {
			return out, false, err
		}
		out.After = advert.NewObject(switchResult{Status: now.status})
		return out, now.configured == plan.To, nil
	}
}

// standing is how a campaign, an ad group or an ad is in the mirror, as far as an action can change it.
type standing struct {
	name       string
	configured advert.Configured
	status     advert.Status
	budget     Budget
	bid        Bid
	ad         *advert.Ad // nil for the others
}

// showing returns the ad with another creative, for the mirror.
func (n *standing) showing(creative advert.Creative) advert.Batch {
	ad := *n.ad
	ad.Creative = core.JSONOf(creative)
	return advert.Batch{Ads: []advert.Ad{ad}}
}

// showsCreative asks the network whether an ad shows the creative that an action was to give it.
func (s *Service) showsCreative(ctx context.Context, action *advert.Action) (bool, error) {
	channel, err := s.store.GetSocialAccount(ctx, action.AccountID, action.ChannelID)
	if err != nil {
		return false, err
	}
	line, err := s.line(channel)
	if err != nil {
		return false, err
	}
	ref := Ref{AdAccount: action.AdAccountID, Level: advert.LevelAd, ID: action.TargetID}
	shows, err := line.Shows(ctx, line.conn, ref, action.ID)
	if err != nil {
		return false, &undecided{err}
	}
	return shows, nil
}

// standing returns how the target of an action is now, or nil if it does not exist any more.
func (s *Service) standing(ctx context.Context, action *advert.Action) (*standing, error) {
	switch action.Op {
	case advert.OpUpdateGroup, advert.OpPauseGroup, advert.OpResumeGroup:
		g, err := s.store.GetGroup(ctx, action.AccountID, action.Platform, action.TargetID)
		if err != nil {
			return nil, goneIsNotDone(err)
		}
		return &standing{g.Name, g.ConfiguredStatus, g.Status, Budget{g.BudgetAmount, g.BudgetType}, Bid{g.BidStrategy, g.BidAmount, g.RoasFloor}, nil}, nil
	case advert.OpUpdateAd, advert.OpPauseAd, advert.OpResumeAd, advert.OpDeleteAd:
		a, err := s.store.GetAd(ctx, action.AccountID, action.Platform, action.TargetID)
		if err != nil {
			return nil, goneIsNotDone(err)
		}
		return &standing{name: a.Name, configured: a.ConfiguredStatus, status: a.Status, ad: a}, nil
	}
	c, err := s.store.GetCampaign(ctx, action.AccountID, action.Platform, action.TargetID)
	if err != nil {
		return nil, goneIsNotDone(err)
	}
	now := &standing{c.Name, c.ConfiguredStatus, c.Status, Budget{c.BudgetAmount, c.BudgetType}, Bid{c.BidStrategy, c.BidAmount, c.RoasFloor}, nil}
	groups, err := s.store.GroupsOf(ctx, c)
	groups = slices.DeleteFunc(groups, func(g advert.Group) bool { return g.DeletedAt != nil })
	if len(groups) > 0 && now.bid.Amount == 0 && now.bid.RoasFloor == 0 {
		now.bid.ofGroups(groups)
	}
	return now, err
}

// ofGroups takes over the bid amount and the ROAS floor of a campaign's ad groups if all of them have the same. At some
// networks only the ad groups have them.
func (b *Bid) ofGroups(groups []advert.Group) {
	first := groups[0]
	same := func(g advert.Group) bool { return g.BidAmount == first.BidAmount && g.RoasFloor == first.RoasFloor }
	if !slices.ContainsFunc(groups, func(g advert.Group) bool { return !same(g) }) {
		b.Amount, b.RoasFloor = first.BidAmount, first.RoasFloor
	}
}

// has reports whether everything that a patch was to change is as the patch says.
func (n *standing) has(p Patch) bool {
	return (p.Budget == nil || *p.Budget == n.budget) && (p.BidStrategy == nil || *p.BidStrategy == n.bid.Strategy) &&
		(p.BidAmount == nil || *p.BidAmount == n.bid.Amount) && (p.RoasFloor == nil || *p.RoasFloor == n.bid.RoasFloor) &&
		(p.Name == nil || *p.Name == n.name) && (p.Configured == nil || *p.Configured == n.configured)
}
