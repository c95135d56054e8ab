package advert

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
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
	Asked             core.Time // as of when a switch says how things stand; 0 = now
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
	settle := func(ctx context.Context, u *unit) (*Action, error) { return u.settleAction(ctx, account, id, out) }
	if out.State == ActionDone {
		return tx(ctx, s, settle)
	}
	return step(ctx, s, settle)
}

// SettleActions stores the outcomes of several actions of one request, all in one transaction. It is for a request
// that is answered with success even if some of its actions were refused.
func (s *Store) SettleActions(ctx context.Context, account string, settlements []Settlement) ([]Action, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) ([]Action, error) {
		all := make([]Action, len(settlements))
		for i, settlement := range settlements {
			action, err := u.settleAction(ctx, account, settlement.ID, settlement.Outcome)
			if err != nil {
				return nil, err
			}
			all[i] = *action
		}
		return all, nil
	})
}

// settleAction locks an action and does the work of SettleAction inside a transaction.
func (u *unit) settleAction(ctx context.Context, account, id string, out Outcome) (*Action, error) {
	action, err := u.lockAction(ctx, account, id)
	if err != nil || action.State == ActionDone || action.State == ActionRefused && out.State != ActionDone {
		return action, err
	}
	if out.State == ActionDone {
		if err := u.applyOutcome(ctx, action, out); err != nil {
			return nil, err
		}
		if out.NamesDue {
			if err := u.dueNames(ctx, action); err != nil {
				return nil, err
			}
		}
	}
	if err := u.settleMembers(ctx, action, out); err != nil {
		return nil, err
	}
	action.State, action.Failure, action.UpdatedAt = out.State, core.JSONOf(out.Failure), u.store.Now()
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
func (u *unit) applyOutcome(ctx context.Context, action *Action, out Outcome) error {
	a, err := u.store.accountOfAction(ctx, action)
	if err != nil {
		return err
	}
	now := u.store.Now()
	if err := u.putBatch(ctx, a, out.Made, SourceNative, now); err != nil {
		return err
	}
	if err := u.putChanged(ctx, action, a, out, now); err != nil {
		return err
	}
	if out.CancelledCampaign != "" {
		if err := u.cancelCampaign(ctx, action, out.CancelledCampaign); err != nil {
			return err
		}
	}
	if out.CancelledAd != "" {
		if err := u.cancel(ctx, action, "ads", "platform_id", out.CancelledAd); err != nil {
			return err
		}
	}
	if out.Audience != nil {
		return u.putAudience(ctx, a, out.Audience)
	}
	return u.deleteAudience(ctx, action, out.DeletedAudience)
}

// putChanged mirrors what an action changed. After a switch only the states are taken over: the network may have
// described the budget before another change, made at the same time, took effect.
func (u *unit) putChanged(ctx context.Context, action *Action, a *Account, out Outcome, now core.Time) error {
	b, asked := out.Changed, cmp.Or(out.Asked, now)
	switch action.Op {
	case OpPauseGroup, OpResumeGroup, OpPauseCampaign, OpResumeCampaign, OpPauseAd, OpResumeAd:
	case OpUpdateAd:
		if err := u.putBatch(ctx, a, b, SourceExternal, now); err != nil {
			return err
		}
		return u.reviveAbove(ctx, a, action.TargetID)
	default:
		return u.putBatch(ctx, a, b, SourceExternal, now)
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
	for level, changed := range states {
		if err := u.store.RecordStates(ctx, action.AccountID, action.Platform, level, changed, asked); err != nil {
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
func (u *unit) cancelCampaign(ctx context.Context, action *Action, id string) error {
	for table, column := range map[string]string{"ads": "campaign_id", "ad_groups": "campaign_id", "ad_campaigns": "platform_id"} {
		if err := u.cancel(ctx, action, table, column, id); err != nil {
			return err
		}
	}
	return nil
}

// cancel marks the rows of a table as cancelled and deleted that have an id in a column.
func (u *unit) cancel(ctx context.Context, action *Action, table, column, id string) error {
	now := u.store.Now()
	if _, err := u.Exec(ctx, `
		UPDATE `+table+` SET status = 'cancelled', configured_status = 'paused', deleted_at = ?, synced_at = ?, updated_at = ?
		WHERE account_id = ? AND `+column+` = ? AND platform = ?`, now, now, now, action.AccountID, id, action.Platform); err != nil {
		return fmt.Errorf("cancel %s: %w", table, err)
	}
	return nil
}
