package advert

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Outcome says what became of an action, and what the mirror has to take over from it. What the action made is native.
type Outcome struct {
	State             ActionState // done or refused; YieldAction is for what is not known
	Failure           *Failure    // unless it is done
	TargetID          string      // of what was created
	After             Object
	Made              Batch
	NamesDue          bool // the action's token stands in the names of what was made, and has to be taken off
	Changed           Batch
	Asked             core.Time // when the network was asked; 0 = when the action began
	CancelledCampaign string    // platform id; all that is in it is cancelled, too
	CancelledAd       string    // platform id
	Audience          *Audience // created, or as it stands now
	DeletedAudience   string    // aud_
	InvalidMembers    []Member  // which the network did not take
	ForgetMembers     bool      // those who were to be removed are forgotten here, though the network keeps them
}

// Settlement is the outcome of the action with an id.
type Settlement struct {
	ID string // adact_
	Outcome
}

// SettleAction stores what became of an action, and brings the mirror to what the network has now. An outcome that is
// done commits together with the answer of the request; one that is refused commits at once, because the answer is an
// error then and would roll it back.
//
// An action that already has an outcome keeps it and is returned as it is, with one exception: one that was settled as
// refused can still become done. What the network says it did counts for more than that nobody found it.
func (s *Store) SettleAction(ctx context.Context, account, id string, out Outcome) (*Action, error) {
	settle := func(ctx context.Context, u *db.Unit) (*Action, error) {
		return s.settleAction(ctx, u, account, id, out)
	}
	if out.State == ActionDone {
		return db.Tx(ctx, s.db, settle)
	}
	return db.Step(ctx, s.db, settle)
}

// SettleActions stores the outcomes of several actions of one request, all in one transaction. It is for a request
// that is answered with success even if some of its actions were refused.
func (s *Store) SettleActions(ctx context.Context, account string, settlements []Settlement) ([]Action, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]Action, error) {
		all := make([]Action, len(settlements))
		for i, settlement := range settlements {
			action, err := s.settleAction(ctx, u, account, settlement.ID, settlement.Outcome)
			if err != nil {
				return nil, err
			}
			all[i] = *action
		}
		return all, nil
	})
}

// settleAction locks an action and does the work of SettleAction inside a transaction.
func (s *Store) settleAction(ctx context.Context, u *db.Unit, account, id string, out Outcome) (*Action, error) {
	action, err := s.lockAction(ctx, u, account, id)
	if err != nil || action.State == ActionDone || action.State == ActionRefused && out.State != ActionDone {
		return action, err
	}
	if out.State == ActionDone {
		if err := s.applyOutcome(ctx, u, action, out); err != nil {
			return nil, err
		}
		if out.NamesDue {
			if err := s.dueNames(ctx, u, action); err != nil {
				return nil, err
			}
		}
	}
	if err := s.settleMembers(ctx, u, action, out); err != nil {
		return nil, err
	}
	action.State, action.Failure, action.UpdatedAt = out.State, core.JSONOf(out.Failure), s.Now()
	if out.TargetID != "" {
		action.TargetID = out.TargetID
	}
	if out.Audience != nil {
		action.TargetID = out.Audience.ID // which it may have had before
	}
	if out.After != "" {
		action.After = out.After
	}
	return action, u.Update(ctx, actionColumns, action)
}

// applyOutcome brings the mirror to what the network has after an action that is done: what was made, changed,
// cancelled or deleted.
func (s *Store) applyOutcome(ctx context.Context, u *db.Unit, action *Action, out Outcome) error {
	a, err := s.accountOfAction(ctx, action)
	if err != nil {
		return err
	}
	now := s.Now()
	out.Asked = cmp.Or(out.Asked, action.CreatedAt)
	if err := s.keepHeard(ctx, u, a, &out.Made, out.Asked, true); err != nil {
		return err
	}
	if err := s.putBatch(ctx, u, a, out.Made, SourceNative, now); err != nil {
		return err
	}
	if err := s.putChanged(ctx, u, action, a, out, now); err != nil {
		return err
	}
	if out.CancelledCampaign != "" {
		if err := s.cancelCampaign(ctx, u, action, out.CancelledCampaign); err != nil {
			return err
		}
	}
	if out.CancelledAd != "" {
		if err := s.cancel(ctx, u, action, "ads", "platform_id", out.CancelledAd); err != nil {
			return err
		}
	}
	if out.Audience != nil {
		return s.putAudience(ctx, u, a, out.Audience)
	}
	return s.deleteAudience(ctx, u, action, out.DeletedAudience)
}

// putChanged mirrors what an action changed. After a switch only the states are taken over: the network may have
// described the budget before another change, made at the same time, took effect. If something was resumed since a
// pause was asked for, what was heard since then stays. A resume always counts: too much is safer than too little.
func (s *Store) putChanged(ctx context.Context, u *db.Unit, action *Action, a *Account, out Outcome, now core.Time) error {
	b, asked := out.Changed, now
	switch action.Op {
	case OpPauseGroup, OpPauseCampaign, OpPauseAd:
		if err := s.leaveOn(ctx, action, &b); err != nil {
			return err
		}
		resumed, err := s.resumedSince(ctx, u, action, &b, out.Asked)
		if err != nil {
			return err
		}
		if resumed {
			asked = out.Asked
		}
	case OpResumeGroup, OpResumeCampaign, OpResumeAd:
	case OpUpdateAd:
		if err := s.putBatch(ctx, u, a, b, SourceExternal, now); err != nil {
			return err
		}
		return s.reviveAbove(ctx, u, a, action.TargetID)
	default:
		if err := s.keepHeard(ctx, u, a, &b, out.Asked, false); err != nil {
			return err
		}
		return s.putBatch(ctx, u, a, b, SourceExternal, now)
	}
	states := map[Level][]State{}
	for _, c := range b.Campaigns {
		states[LevelCampaign] = append(states[LevelCampaign], State{c.PlatformID, c.ConfiguredStatus, c.Status, c.ReviewStatus, c.PlatformStatus, c.RejectionReason})
	}
	for _, g := range b.Groups {
		states[LevelGroup] = append(states[LevelGroup], State{g.PlatformID, g.ConfiguredStatus, g.Status, g.ReviewStatus, g.PlatformStatus, g.RejectionReason})
	}
	for _, ad := range b.Ads {
		states[LevelAd] = append(states[LevelAd], State{ad.PlatformID, ad.ConfiguredStatus, ad.Status, ad.ReviewStatus, ad.PlatformStatus, ad.RejectionReason})
	}
	for _, level := range []Level{LevelCampaign, LevelGroup, LevelAd} { // the order in which all lock them
		if err := s.recordStates(ctx, action.AccountID, action.Platform, level, states[level], asked, now); err != nil {
			return err
		}
	}
	return nil
}

// accountOfAction returns the ad account that an action is about, as its channel sees it. It is an error if there is
// none.
func (s *Store) accountOfAction(ctx context.Context, action *Action) (*Account, error) {
	key := accountKey{action.ChannelID, action.AdAccountID}
	found, err := s.accountsOf(ctx, action.AccountID, []accountKey{key})
	if err == nil && found[key] == nil {
		err = fmt.Errorf("action %s has no ad account", action.ID)
	}
	return found[key], err
}

// cancelCampaign marks a campaign and all that is in it as cancelled and deleted.
func (s *Store) cancelCampaign(ctx context.Context, u *db.Unit, action *Action, id string) error {
	for table, column := range map[string]string{"ads": "campaign_id", "ad_groups": "campaign_id", "ad_campaigns": "platform_id"} {
		if err := s.cancel(ctx, u, action, table, column, id); err != nil {
			return err
		}
	}
	return nil
}

// cancel marks the rows of a table as cancelled and deleted that have an id in a column.
func (s *Store) cancel(ctx context.Context, u *db.Unit, action *Action, table, column, id string) error {
	now := s.Now()
	if _, err := u.Exec(ctx, `
		UPDATE `+table+` SET status = 'cancelled', configured_status = 'paused', deleted_at = ?, synced_at = ?, updated_at = ?
		WHERE account_id = ? AND `+column+` = ? AND platform = ?`, now, now, now, action.AccountID, id, action.Platform); err != nil {
		return fmt.Errorf("cancel %s: %w", table, err)
	}
	return nil
}
