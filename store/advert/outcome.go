package advert

import (
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
	Heard             Heard     // of what was looked at again; nil = as it was seen when the action began
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

// SettleAction stores what became of an action, and brings the mirror to what the network has now. An outcome that is done commits together with the
// answer of the request. One that is refused commits at once, because the answer is an error then and would roll it back.
//
// An action that already has an outcome keeps it and is returned as it is. There is one exception: one that was settled as refused can still become
// done. What the network says it did counts for more than that nobody found it.
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
func (s *Store) SettleActions(ctx context.Context, account string, settlements []Settlement) ([]*Action, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]*Action, error) {
		return s.settleActions(ctx, u, account, settlements)
	})
}

// settleActions does the work of SettleActions inside a transaction. It locks the actions, then the campaigns of all of
// them, and then the ad accounts that it marks.
func (s *Store) settleActions(ctx context.Context, u *db.Unit, account string, settlements []Settlement) ([]*Action, error) {
	actions := make([]*Action, len(settlements))
	for i := range settlements {
		action, err := s.lockAction(ctx, u, account, settlements[i].ID)
		if err != nil {
			return nil, err
		}
		actions[i] = action
	}
	if err := s.lockOutcomes(ctx, u, account, actions, settlements); err != nil {
		return nil, err
	}
	for _, i := range byAdAccount(actions) {
		if err := s.settleLocked(ctx, u, actions[i], settlements[i].Outcome); err != nil {
			return nil, err
		}
	}
	return actions, nil
}

// settleAction does the work of SettleAction inside a transaction.
func (s *Store) settleAction(ctx context.Context, u *db.Unit, account, id string, out Outcome) (*Action, error) {
	settled, err := s.settleActions(ctx, u, account, []Settlement{{id, out}})
	if err != nil {
		return nil, err
	}
	return settled[0], nil
}

// settleLocked stores the outcome of an action that is locked, as its campaign is.
func (s *Store) settleLocked(ctx context.Context, u *db.Unit, action *Action, out Outcome) error {
	if action.State == ActionDone || action.State == ActionRefused && out.State != ActionDone {
		return nil
	}
	if out.State == ActionDone {
		if err := s.applyOutcome(ctx, u, action, out); err != nil {
			return err
		}
		if out.NamesDue {
			if err := s.dueNames(ctx, u, action); err != nil {
				return err
			}
		}
	}
	if err := s.settleMembers(ctx, u, action, out); err != nil {
		return err
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
	return u.Update(ctx, actionColumns, action)
}

// applyOutcome brings the mirror to what the network has after an action that is done: what was made, changed,
// cancelled or deleted.
func (s *Store) applyOutcome(ctx context.Context, u *db.Unit, action *Action, out Outcome) error {
	a, err := s.accountOfAction(ctx, u, action)
	if err != nil {
		return err
	}
	if action.Op.isPause() {
		if err := s.leaveOn(ctx, u, action, &out.Changed); err != nil {
			return err
		}
	}
	at, err := s.decide(ctx, u, action, &out)
	if err != nil {
		return err
	}
	if err := s.putBatch(ctx, u, a, out.Made, SourceNative, at); err != nil {
		return err
	}
	if err := s.putChanged(ctx, u, action, a, out.Changed, at); err != nil {
		return err
	}
	if out.CancelledCampaign != "" {
		if err := s.cancelCampaign(ctx, u, action, out.CancelledCampaign); err != nil {
			return err
		}
	}
	if out.CancelledAd != "" {
		if err := s.cancel(ctx, u, action, LevelAd, "platform_id", out.CancelledAd); err != nil {
			return err
		}
	}
	if out.Audience != nil {
		return s.putAudience(ctx, u, a, out.Audience)
	}
	return s.deleteAudience(ctx, u, action, out.DeletedAudience)
}

// putChanged mirrors what an action changed, under a time that no row has yet. After a switch only the states are taken over. The network may have
// described the budget before another change, made at the same time, took effect.
func (s *Store) putChanged(ctx context.Context, u *db.Unit, action *Action, a *Account, b Batch, at core.Time) error {
	if !action.Op.IsSwitch() {
		if err := s.putBatch(ctx, u, a, b, SourceExternal, at); err != nil || action.Op != OpUpdateAd {
			return err
		}
		return s.reviveAbove(ctx, u, a, action.TargetID)
	}
	target, states := action.Target(), b.states()
	for _, level := range []Level{LevelCampaign, LevelGroup, LevelAd} {
		for i := range states[level] {
			if state := &states[level][i]; level != LevelAd && (Place{level, state.PlatformID}) != target {
				state.Configured = "" // of its own switch the answer may be older than the mirror
			}
		}
		if err := s.RecordStates(ctx, action.AccountID, action.Platform, level, states[level], at); err != nil {
			return err
		}
	}
	if len(states[target.Level]) == 0 {
		return nil
	}
	// Whoever changes it beside this has to see that something was done, also where it stands as before.
	_, err := u.Exec(ctx, `UPDATE `+levelTables[target.Level]+` SET synced_at = ? WHERE account_id = ? AND platform = ? AND platform_id = ?`,
		at, action.AccountID, action.Platform, target.ID)
	return err
}

// accountOfAction returns the ad account that an action is about, as its channel sees it. It is an error if there is
// none.
func (s *Store) accountOfAction(ctx context.Context, r db.Reader, action *Action) (*Account, error) {
	key := accountKey{action.ChannelID, action.AdAccountID}
	found, err := s.accountsOf(ctx, r, action.AccountID, []accountKey{key})
	if err == nil && found[key] == nil {
		err = fmt.Errorf("action %s has no ad account", action.ID)
	}
	return found[key], err
}

// cancelCampaign marks a campaign and all that is in it as cancelled and deleted.
func (s *Store) cancelCampaign(ctx context.Context, u *db.Unit, action *Action, id string) error {
	for level, column := range map[Level]string{LevelCampaign: "platform_id", LevelGroup: "campaign_id", LevelAd: "campaign_id"} {
		if err := s.cancel(ctx, u, action, level, column, id); err != nil {
			return err
		}
	}
	return nil
}

// cancel marks the rows of a level as cancelled and deleted that have an id in a column.
func (s *Store) cancel(ctx context.Context, u *db.Unit, action *Action, level Level, column, id string) error {
	now := s.Now()
	if _, err := u.Exec(ctx, `
		UPDATE `+levelTables[level]+` SET status = 'cancelled', configured_status = 'paused', deleted_at = ?, updated_at = ?,
			synced_at = CASE WHEN synced_at < ? THEN ? ELSE synced_at + 1 END
		WHERE account_id = ? AND `+column+` = ? AND platform = ?`, now, now, now, now, action.AccountID, id, action.Platform); err != nil {
		return fmt.Errorf("cancel a %s: %w", level, err)
	}
	return nil
}
