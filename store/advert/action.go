package advert

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Op is an operation that changes ads, audiences or the limits.
type Op string

// The operations that change something at a network, by the names that limits can block.
const (
	OpCreateAd       Op = "create_ad"
	OpBoostPost      Op = "boost_post"
	OpUpdateGroup    Op = "update_ad_group"
	OpUpdateCampaign Op = "update_campaign"
	OpPauseGroup     Op = "pause_ad_group"
	OpResumeGroup    Op = "resume_ad_group"
	OpPauseCampaign  Op = "pause_campaign"
	OpResumeCampaign Op = "resume_campaign"
	OpDeleteCampaign Op = "delete_campaign"
	OpUpdateAd       Op = "update_ad"
	OpPauseAd        Op = "pause_ad"
	OpResumeAd       Op = "resume_ad"
	OpDeleteAd       Op = "delete_ad"
	OpCreateAudience Op = "create_audience"
	OpDeleteAudience Op = "delete_audience"
	OpUploadAudience Op = "upload_audience_users"
	OpRemoveAudience Op = "remove_audience_users"
)

// OpUpdateLimits stands on the audit trail only: no network is asked for it, and the limits cannot block it.
const OpUpdateLimits Op = "update_limits"

// ops lists the operations that change something at a network. It is never changed.
var ops = []Op{
	OpCreateAd, OpBoostPost, OpUpdateGroup, OpUpdateCampaign, OpPauseGroup, OpResumeGroup, OpPauseCampaign,
	OpResumeCampaign, OpDeleteCampaign, OpUpdateAd, OpPauseAd, OpResumeAd, OpDeleteAd, OpCreateAudience, OpDeleteAudience, OpUploadAudience,
	OpRemoveAudience,
}

// isPause reports whether the operation switches something off.
func (o Op) isPause() bool { return o == OpPauseGroup || o == OpPauseCampaign || o == OpPauseAd }

// IsSwitch reports whether the operation switches something on or off, and does nothing else.
func (o Op) IsSwitch() bool {
	return o.isPause() || o == OpResumeGroup || o == OpResumeCampaign || o == OpResumeAd
}

// ActionState says how far an action has come.
type ActionState string

// The states of an action. Done and refused are final.
const (
	ActionBegun   ActionState = "begun"   // somebody asks the network, or did when their process ended
	ActionUnknown ActionState = "unknown" // the network did not say, and nobody asks it now
	ActionDone    ActionState = "done"
	ActionRefused ActionState = "refused"
)

// Action is one write at a network. It is stored before the network is asked, to say what is intended, and is a line
// of the audit trail afterwards. Its id is also the token that the network is given for what the action creates. It is minted once, and every retry
// sends the same one. A change of the account's limits is an action, too, one without a channel.
type Action struct {
	AccountID   string              `db:"account_id"`
	ID          string              `db:"id"` // adact_
	ChannelID   string              `db:"channel_id"`
	Platform    Platform            `db:"platform"`
	AdAccountID string              `db:"ad_account_id"` // platform id
	Op          Op                  `db:"op"`
	Approval    string              `db:"approval"` // the operation's tag: allow or ask
	Actor       string              `db:"actor"`    // key_ of who asked
	RequestID   string              `db:"request_id"`
	TargetID    string              `db:"target_id"` // platform id, or aud_; of what was created once it is known
	State       ActionState         `db:"state"`
	Plan        Object              `db:"plan"` // what the network is asked for: all that it takes to go on
	Before      Object              `db:"before_state"`
	After       Object              `db:"after_state"`
	Failure     core.JSON[*Failure] `db:"failure"`
	Currency    string              `db:"currency"`
	Daily       Amount              `db:"daily_amount"` // what it adds to what may be spent in a day; counted while it is open
	Seen        core.Time           `db:"seen"`         // when the target's row was written last before the network was asked; 0 = not known
	LeaseUntil  core.Time           `db:"lease_until"`  // by the database's clock; the reconciler leaves it alone until then
	CreatedAt   core.Time           `db:"created_at"`
	UpdatedAt   core.Time           `db:"updated_at"`
}

// IsFinal reports whether the action has its outcome.
func (a *Action) IsFinal() bool { return a.State == ActionDone || a.State == ActionRefused }

// Target returns what the action changes.
func (a *Action) Target() Place {
	switch a.Op {
	case OpUpdateGroup, OpPauseGroup, OpResumeGroup:
		return Place{LevelGroup, a.TargetID}
	case OpUpdateCampaign, OpPauseCampaign, OpResumeCampaign, OpDeleteCampaign:
		return Place{LevelCampaign, a.TargetID}
	}
	return Place{LevelAd, a.TargetID}
}

// saw reports whether a place is the target of the action, and was written last at a time that the action has seen.
func (a *Action) saw(p Place, at core.Time) bool { return p == a.Target() && at == a.Seen }

// Failure says why an action was refused, or why its outcome is not known.
type Failure struct {
	Code    core.Code           `json:"code"`
	Param   string              `json:"param,omitempty"`
	Message string              `json:"message"`
	Fields  map[string][]string `json:"fields,omitempty"`

	// Of an unknown outcome: until when what was asked for may still be on its way. Absent says whether the network was seen not to have done it.
	OpenUntil core.Time `json:"open_until,omitempty"`
	Absent    bool      `json:"absent,omitempty"`
}

// Err returns the error that the request which wanted the action is answered with.
func (f *Failure) Err() *core.Error {
	return &core.Error{Code: f.Code, Param: f.Param, Message: f.Message, Fields: f.Fields}
}

var actionColumns = db.ColumnsOf[Action]("ad_actions")

// actionLease is how long an action is left to whoever asks the network for it before somebody else may take it over. All
// calls of one action together take less.
const actionLease = time.Minute

// BeginAction describes an action that is about to begin.
type BeginAction struct {
	Index     int // among the actions of one request, from 0
	Op        Op
	Approval  string
	Actor     string
	RequestID string
	AdAccount *Account // where it happens
	TargetID  string
	Seen      core.Time // when the target's row had been written last; 0 = another change may be under way
	Plan      Object    // its token is the action's id, which is not known yet
	Before    Object
	Change    Change
}

// BegunAction is an action whose network may be asked now.
//
// Resumed says that the network may have been asked before. Unless the action already has its outcome, the caller then
// first looks whether the network did what was asked (Find).
//
// Err says why the action was not begun; Action is nil then.
type BegunAction struct {
	Action  *Action
	Resumed bool
	Err     error
}

// BeginAction checks an action against the account's limits and stores it. It commits at once, before the network is
// asked. Until the action is settled, the daily amount that it adds counts as spent.
//
// A request that is sent again gets the action of its first time. If somebody is at work on that one, the error is
// CodeInProgress.
func (s *Store) BeginAction(ctx context.Context, account string, in BeginAction) (*BegunAction, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BegunAction, error) { return s.beginAction(ctx, u, account, in) })
}

// BeginActions begins several actions of one request, as BeginAction does. One that is refused has its Err set and
// does not keep the others from beginning. Each counts towards the limits of those behind it.
func (s *Store) BeginActions(ctx context.Context, account string, ins []BeginAction) ([]BegunAction, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]BegunAction, error) {
		all := make([]BegunAction, len(ins))
		for i, in := range ins {
			begun, err := s.beginAction(ctx, u, account, in)
			var refused *core.Error
			switch {
			case err == nil:
				all[i] = *begun
			case errors.As(err, &refused) && refused.Outcome == core.Refused:
				all[i].Err = err
			default:
				return nil, err
			}
		}
		return all, nil
	})
}

// GetAction returns an action by its id, or CodeMissing.
func (s *Store) GetAction(ctx context.Context, account, ref string) (*Action, error) {
	return findAction(ctx, s.db, account, ref)
}

// RequestedAction returns the action that this request began when it was sent before, or nil if there is none. Of
// several actions it is the first one.
func (s *Store) RequestedAction(ctx context.Context, account string) (*Action, error) {
	action, err := db.Get[Action](ctx, s.db, actionColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, actionID(s.db.Effect(ctx), 0))
	if err != nil {
		return nil, fmt.Errorf("read action: %w", err)
	}
	return action, nil
}

// ListActions holds the filters of the audit trail. An empty one does not filter.
type ListActions struct {
	core.Page
	core.ListFilter
	Channel  string
	Op       Op
	State    ActionState
	TargetID string
}

// ListActions returns a page of the audit trail, newest first, and whether there is more.
func (s *Store) ListActions(ctx context.Context, account string, in ListActions) ([]Action, bool, error) {
	var f db.Filter
	f.OrderedIfSet("channel_id", in.Channel)
	f.OrderedIfSet("op", string(in.Op))
	f.OrderedIfSet("state", string(in.State))
	f.OrderedIfSet("target_id", in.TargetID)
	f.Made(db.Moment{Within: db.KeyLifetime})
	f.List(s.db, "ad_actions", core.KindAdAction, in.ListFilter)
	return db.Page(ctx, s.db, actionColumns, core.KindAdAction, account, in.Page, &f)
}

// DueAction names an action without an outcome that somebody may have to go on with, and says where it happens.
type DueAction struct {
	AccountID   string `db:"account_id"`
	ID          string `db:"id"`
	Op          Op     `db:"op"`
	ChannelID   string `db:"channel_id"`
	AdAccountID string `db:"ad_account_id"`
}

// DueActions returns at most limit actions, of all accounts, that have no outcome and that nobody is at work on now.
// One of each account comes before the second of any. They are only candidates: somebody else may have settled one
// before the caller has leased it with LeaseAction.
func (s *Store) DueActions(ctx context.Context, limit int) ([]DueAction, error) {
	return db.Select[DueAction](ctx, s.db, `
		SELECT account_id, id, op, channel_id, ad_account_id FROM (
			SELECT a.*, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY lease_until, id) AS turn
			FROM ad_actions AS a WHERE state IN ('begun', 'unknown') AND lease_until < `+s.db.NowSQL()+`) AS due
		ORDER BY turn, lease_until, id LIMIT ?`, limit)
}

// LeaseAction claims a due action for the caller, and reports whether it succeeded: of several that ask, the first one
// has it. It commits at once.
func (s *Store) LeaseAction(ctx context.Context, account, id string) (bool, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		return s.leaseAction(ctx, u, account, id, `lease_until < `+s.db.NowSQL())
	})
}

// YieldAction ends the lease on an action whose outcome is not known and stores why. The reconciler looks at it again
// after the pause. An action that has its outcome stays as it is. It commits at once.
func (s *Store) YieldAction(ctx context.Context, account, id string, pause time.Duration, failure *Failure) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			UPDATE ad_actions SET state = 'unknown', failure = ?, lease_until = `+s.db.NowSQL()+` + ?, updated_at = ?
			WHERE account_id = ? AND id = ? AND state IN ('begun', 'unknown')`,
			core.JSONOf(failure), pause.Microseconds(), s.Now(), account, id)
	})
	return err
}

// NotePlan replaces the plan of an action that has no outcome. So whoever goes on with it knows what was done for it so far. It commits at once.
func (s *Store) NotePlan(ctx context.Context, account, id string, plan Object) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE ad_actions SET plan = ?, updated_at = ? WHERE account_id = ? AND id = ? AND state IN ('begun', 'unknown')`,
			plan, s.Now(), account, id)
	})
	return err
}

// lockAction does what GetAction does, and locks the row until the transaction ends.
func (s *Store) lockAction(ctx context.Context, u *db.Unit, account, id string) (*Action, error) {
	return findAction(ctx, u.Locked(), account, id)
}

// findAction returns an action by its id, or CodeMissing.
func findAction(ctx context.Context, r db.Reader, account, id string) (*Action, error) {
	action, err := db.Get[Action](ctx, r, actionColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read action: %w", err)
	}
	if action == nil {
		return nil, core.Missing("ad action", "", id)
	}
	return action, nil
}

// actionID makes the id of the action at an index of a request from the token of the request's effect. A request that
// is sent again gives the same ids.
func actionID(effect string, index int) string {
	if index > 0 {
		sum := sha256.Sum256([]byte(effect + " " + strconv.Itoa(index)))
		effect = effect[:10] + core.TokenEncoding.EncodeToString(sum[:10])
	}
	return core.KindAdAction.Prefix() + effect
}

// beginAction does the work of BeginAction inside a transaction. The lease of the new action ends actionLease from now
// by the database's clock, which all replicas share.
func (s *Store) beginAction(ctx context.Context, u *db.Unit, account string, in BeginAction) (*BegunAction, error) {
	id := actionID(s.db.Effect(ctx), in.Index)
	begun, err := db.Get[Action](ctx, u, actionColumns.SelectSQL+` WHERE account_id = ? AND id = ?`+u.Lock(), account, id)
	if err != nil {
		return nil, fmt.Errorf("read action: %w", err)
	}
	if begun != nil {
		return s.resumeAction(ctx, u, begun)
	}
	figures, err := s.checkBegun(ctx, u, account, in)
	if err != nil {
		return nil, err
	}
	action, err := s.insertAction(ctx, u, account, id, in, figures.TotalAfter-figures.TotalBefore)
	if err != nil {
		return nil, err
	}
	u.NoteLeased(id)
	return &BegunAction{Action: action}, nil
}

// insertAction stores a new action, which adds an amount to what may be spent in a day.
func (s *Store) insertAction(ctx context.Context, u *db.Unit, account, id string, in BeginAction, daily Amount) (*Action, error) {
	lease, err := u.LeaseUntil(ctx, actionLease)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	action := &Action{
		AccountID: account, ID: id, ChannelID: in.AdAccount.ChannelID, Platform: in.AdAccount.Platform, AdAccountID: in.AdAccount.PlatformID,
		Op: in.Op, Approval: in.Approval, Actor: in.Actor, RequestID: in.RequestID, TargetID: in.TargetID, State: ActionBegun,
		Plan: in.Plan, Before: in.Before, Currency: in.AdAccount.Currency, Daily: daily, Seen: in.Seen,
		LeaseUntil: lease, CreatedAt: now, UpdatedAt: now,
	}
	return action, u.Insert(ctx, actionColumns, action)
}

// checkBegun checks an action against the account's limits, as CheckSpend does. If the action changes what may be spent, the limits are locked first
// and stay so until the commit. So two actions cannot both use what is left.
func (s *Store) checkBegun(ctx context.Context, u *db.Unit, account string, in BeginAction) (*Figures, error) {
	var limits *Limits
	var err error
	if in.Change == (Change{}) {
		limits, err = s.getLimitsIn(ctx, u, account)
	} else {
		limits, err = s.lockLimits(ctx, u, account)
	}
	if err != nil {
		return nil, err
	}
	if err := s.alone(ctx, u, account, in.Change); err != nil {
		return nil, err
	}
	return s.checkSpend(ctx, u, limits, in.Op, in.AdAccount, in.Change)
}

// resumeAction gives an action that was begun before to the request that asks for it again. If somebody is at work on
// it, the error is CodeInProgress. An action whose outcome is not known may be taken during the pause before the reconciler looks at it. That pause
// is not meant for the request.
func (s *Store) resumeAction(ctx context.Context, u *db.Unit, action *Action) (*BegunAction, error) {
	resumed := &BegunAction{Action: action, Resumed: true}
	if action.IsFinal() || u.IsLeased(action.ID) {
		return resumed, nil
	}
	mine, err := s.leaseAction(ctx, u, action.AccountID, action.ID, `(state = 'unknown' OR lease_until < `+s.db.NowSQL()+`)`)
	if err == nil && !mine {
		busy := db.InProgress()
		busy.Outcome = core.Unknown // the key stays with the action
		return nil, busy
	}
	u.NoteLeased(action.ID)
	return resumed, err
}

// leaseAction claims an action without an outcome if the condition holds, and reports whether it did. The action is
// begun then, and nobody else takes it before the lease is over.
func (s *Store) leaseAction(ctx context.Context, u *db.Unit, account, id, condition string) (bool, error) {
	rows, err := u.Exec(ctx, `
		UPDATE ad_actions SET state = 'begun', lease_until = `+s.db.NowSQL()+` + ?
		WHERE account_id = ? AND id = ? AND state IN ('begun', 'unknown') AND `+condition, actionLease.Microseconds(), account, id)
	return rows == 1, err
}
