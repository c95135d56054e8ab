package store

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

// AdOp is an operation that changes ads, audiences or the limits.
type AdOp string

// The operations that change something at a network, by the names that limits can block.
const (
	AdOpCreateAd       AdOp = "create_ad"
	AdOpBoostPost      AdOp = "boost_post"
	AdOpUpdateGroup    AdOp = "update_ad_group"
	AdOpUpdateCampaign AdOp = "update_campaign"
	AdOpPauseGroup     AdOp = "pause_ad_group"
	AdOpResumeGroup    AdOp = "resume_ad_group"
	AdOpPauseCampaign  AdOp = "pause_campaign"
	AdOpResumeCampaign AdOp = "resume_campaign"
	AdOpDeleteCampaign AdOp = "delete_campaign"
	AdOpCreateAudience AdOp = "create_audience"
	AdOpDeleteAudience AdOp = "delete_audience"
	AdOpUploadAudience AdOp = "upload_audience_users"
)

// AdOpUpdateLimits stands on the audit trail only: no network is asked for it, and the limits cannot block it.
const AdOpUpdateLimits AdOp = "update_limits"

// AdOps lists the operations that change something at a network. It is never changed.
var AdOps = []AdOp{
	AdOpCreateAd, AdOpBoostPost, AdOpUpdateGroup, AdOpUpdateCampaign, AdOpPauseGroup, AdOpResumeGroup, AdOpPauseCampaign,
	AdOpResumeCampaign, AdOpDeleteCampaign, AdOpCreateAudience, AdOpDeleteAudience, AdOpUploadAudience,
}

// AdActionState says how far an action has come.
type AdActionState string

// The states of an action. Done and refused are final.
const (
	AdActionBegun   AdActionState = "begun"   // somebody asks the network, or did when their process ended
	AdActionUnknown AdActionState = "unknown" // the network did not say, and nobody asks it now
	AdActionDone    AdActionState = "done"
	AdActionRefused AdActionState = "refused"
)

// AdAction is one write at a network. It is stored before the network is asked, to say what is intended, and is a line
// of the audit trail afterwards. Its id is also the token that the network is given for what the action creates: it is
// minted once, and every retry sends the same one. A change of the account's limits is an action, too, one without a
// channel.
type AdAction struct {
	AccountID   string                `db:"account_id"`
	ID          string                `db:"id"` // adact_
	ChannelID   string                `db:"channel_id"`
	Platform    Platform              `db:"platform"`
	AdAccountID string                `db:"ad_account_id"` // platform id
	Op          AdOp                  `db:"op"`
	Approval    string                `db:"approval"` // the operation's tag: allow or ask
	Actor       string                `db:"actor"`    // key_ of who asked
	RequestID   string                `db:"request_id"`
	TargetID    string                `db:"target_id"` // platform id, or aud_; of what was created once it is known
	State       AdActionState         `db:"state"`
	Plan        AdObject              `db:"plan"` // what the network is asked for: all that it takes to go on
	Before      AdObject              `db:"before_state"`
	After       AdObject              `db:"after_state"`
	Failure     core.JSON[*AdFailure] `db:"failure"`
	Currency    string                `db:"currency"`
	Daily       AdAmount              `db:"daily_amount"` // what it adds to what may be spent in a day; counted while it is open
	LeaseUntil  core.Time             `db:"lease_until"`  // by the database's clock; the reconciler leaves it alone until then
	CreatedAt   core.Time             `db:"created_at"`
	UpdatedAt   core.Time             `db:"updated_at"`
}

// IsFinal reports whether the action has its outcome.
func (a *AdAction) IsFinal() bool { return a.State == AdActionDone || a.State == AdActionRefused }

// AdFailure says why an action was refused, or why its outcome is not known.
type AdFailure struct {
	Code    core.Code           `json:"code"`
	Param   string              `json:"param,omitempty"`
	Message string              `json:"message"`
	Fields  map[string][]string `json:"fields,omitempty"`

	// Of an unknown outcome: what was asked for may still be on its way until then, and whether the network was seen not
	// to have done it.
	OpenUntil core.Time `json:"open_until,omitempty"`
	Absent    bool      `json:"absent,omitempty"`
}

// Err returns the error that the request which wanted the action is answered with.
func (f *AdFailure) Err() *core.Error {
	return &core.Error{Code: f.Code, Param: f.Param, Message: f.Message, Fields: f.Fields}
}

var adActionColumns = db.ColumnsOf[AdAction]("ad_actions")

// adLease is how long an action is left to whoever asks the network for it before somebody else may take it over. All
// calls of one action together take less.
const adLease = time.Minute

// BeginAdAction describes an action that is about to begin.
type BeginAdAction struct {
	Index     int // among the actions of one request, from 0
	Op        AdOp
	Approval  string
	Actor     string
	RequestID string
	AdAccount *AdAccount // where it happens
	TargetID  string
	Plan      AdObject // its token is the action's id, which is not known yet
	Before    AdObject
	Change    AdChange
}

// BegunAdAction is an action whose network may be asked now.
//
// Resumed says that the network may have been asked before. Unless the action already has its outcome, the caller then
// first looks whether the network did what was asked (Find).
//
// Err says why the action was not begun; Action is nil then.
type BegunAdAction struct {
	Action  *AdAction
	Resumed bool
	Err     error
}

// BeginAdAction checks an action against the account's limits and stores it. It commits at once, before the network is
// asked. Until the action is settled, the daily amount that it adds counts as spent.
//
// A request that is sent again gets the action of its first time. If somebody is at work on that one, the error is
// CodeInProgress.
func (s *Store) BeginAdAction(ctx context.Context, account string, in BeginAdAction) (*BegunAdAction, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (*BegunAdAction, error) { return u.beginAdAction(ctx, account, in) })
}

// BeginAdActions begins several actions of one request, as BeginAdAction does. One that is refused has its Err set and
// does not keep the others from beginning. Each counts towards the limits of those behind it.
func (s *Store) BeginAdActions(ctx context.Context, account string, ins []BeginAdAction) ([]BegunAdAction, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) ([]BegunAdAction, error) {
		all := make([]BegunAdAction, len(ins))
		for i, in := range ins {
			begun, err := u.beginAdAction(ctx, account, in)
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

// BegunUpload is an upload whose network may be asked now. Fresh holds the identifiers that still have to be sent: those
// that were not uploaded to the audience before.
type BegunUpload struct {
	BegunAdAction
	Fresh []AdMember
}

// BeginUpload begins the upload of identifiers to an audience, as BeginAdAction does, and stores those that the audience
// does not have yet in the same transaction.
func (s *Store) BeginUpload(ctx context.Context, account string, in BeginAdAction, audience string, members []AdMember) (*BegunUpload, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (*BegunUpload, error) {
		begun, err := u.beginAdAction(ctx, account, in)
		if err != nil {
			return nil, err
		}
		if !begun.Resumed {
			if err := u.holdMembers(ctx, begun.Action, audience, members); err != nil {
				return nil, err
			}
		}
		fresh, err := s.AdMembers(ctx, account, begun.Action.ID)
		detail(fresh, members)
		return &BegunUpload{*begun, fresh}, err
	})
}

// GetAdAction returns an action by its id, or CodeMissing.
func (s *Store) GetAdAction(ctx context.Context, account, ref string) (*AdAction, error) {
	return s.findAdAction(ctx, account, ref, "")
}

// RequestedAdAction returns the action that this request began when it was sent before, or nil if there is none. Of
// several actions it is the first one.
func (s *Store) RequestedAdAction(ctx context.Context, account string) (*AdAction, error) {
	action, err := db.Get[AdAction](ctx, s.db, adActionColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, adActionID(s.db.Effect(ctx), 0))
	if err != nil {
		return nil, fmt.Errorf("read action: %w", err)
	}
	return action, nil
}

// ListAdActions holds the filters of the audit trail. An empty one does not filter.
type ListAdActions struct {
	core.Page
	core.ListFilter
	Channel  string
	Op       AdOp
	State    AdActionState
	TargetID string
}

// ListAdActions returns a page of the audit trail, newest first, and whether there is more.
func (s *Store) ListAdActions(ctx context.Context, account string, in ListAdActions) ([]AdAction, bool, error) {
	var f db.Filter
	f.Is("channel_id", in.Channel)
	f.Is("op", string(in.Op))
	f.Is("state", string(in.State))
	f.Is("target_id", in.TargetID)
	f.List(s.db, in.ListFilter)
	return db.Page(ctx, s.db, adActionColumns, core.KindAdAction, account, in.Page, &f)
}

// DueAdAction names an action without an outcome that somebody may have to go on with, and says where it happens.
type DueAdAction struct {
	AccountID   string `db:"account_id"`
	ID          string `db:"id"`
	Op          AdOp   `db:"op"`
	ChannelID   string `db:"channel_id"`
	AdAccountID string `db:"ad_account_id"`
}

// DueAdActions returns at most limit actions, of all accounts, that have no outcome and that nobody is at work on now.
// One of each account comes before the second of any. They are only candidates: somebody else may have settled one
// before the caller has leased it with LeaseAdAction.
func (s *Store) DueAdActions(ctx context.Context, limit int) ([]DueAdAction, error) {
	return db.Select[DueAdAction](ctx, s.db, `
		SELECT account_id, id, op, channel_id, ad_account_id FROM (
			SELECT a.*, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY lease_until, id) AS turn
			FROM ad_actions AS a WHERE state IN ('begun', 'unknown') AND lease_until < `+s.db.NowSQL()+`) AS due
		ORDER BY turn, lease_until, id LIMIT ?`, limit)
}

// LeaseAdAction claims a due action for the caller, and reports whether it succeeded: of several that ask, the first one
// has it. It commits at once.
func (s *Store) LeaseAdAction(ctx context.Context, account, id string) (bool, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (bool, error) {
		return u.leaseAdAction(ctx, account, id, `lease_until < `+s.db.NowSQL())
	})
}

// YieldAdAction ends the lease on an action whose outcome is not known and stores why. The reconciler looks at it again
// after the pause. An action that has its outcome stays as it is. It commits at once.
func (s *Store) YieldAdAction(ctx context.Context, account, id string, pause time.Duration, failure *AdFailure) error {
	_, err := step(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
		return u.Exec(ctx, `
			UPDATE ad_actions SET state = 'unknown', failure = ?, lease_until = `+s.db.NowSQL()+` + ?, updated_at = ?
			WHERE account_id = ? AND id = ? AND state IN ('begun', 'unknown')`,
			core.JSONOf(failure), pause.Microseconds(), s.Now(), account, id)
	})
	return err
}

// findAdAction returns an action by its id, or CodeMissing. lock is the lock clause of a transaction, or empty.
func (s *Store) findAdAction(ctx context.Context, account, id, lock string) (*AdAction, error) {
	action, err := db.Get[AdAction](ctx, s.db, adActionColumns.SelectSQL+` WHERE account_id = ? AND id = ?`+lock, account, id)
	if err != nil {
		return nil, fmt.Errorf("read action: %w", err)
	}
	if action == nil {
		return nil, core.Missing("ad action", "", id)
	}
	return action, nil
}

// adActionID makes the id of the action at an index of a request from the token of the request's effect. A request that
// is sent again gives the same ids.
func adActionID(effect string, index int) string {
	if index > 0 {
		sum := sha256.Sum256([]byte(effect + " " + strconv.Itoa(index)))
		effect = effect[:10] + core.TokenEncoding.EncodeToString(sum[:10])
	}
	return core.KindAdAction.Prefix() + effect
}

// beginAdAction does the work of BeginAdAction inside a transaction. The lease of the new action ends adLease from now
// by the database's clock, which all replicas share.
func (u *unit) beginAdAction(ctx context.Context, account string, in BeginAdAction) (*BegunAdAction, error) {
	id := adActionID(u.store.db.Effect(ctx), in.Index)
	begun, err := db.Get[AdAction](ctx, u.store.db, adActionColumns.SelectSQL+` WHERE account_id = ? AND id = ?`+u.Lock(), account, id)
	if err != nil {
		return nil, fmt.Errorf("read action: %w", err)
	}
	if begun != nil {
		return u.resumeAdAction(ctx, begun)
	}
	figures, err := u.checkSpend(ctx, account, in)
	if err != nil {
		return nil, err
	}
	lease, err := db.Get[core.Time](ctx, u.store.db, `SELECT `+u.store.db.NowSQL()+` + ?`, adLease.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("read the database's clock: %w", err)
	}
	now := u.store.Now()
	action := &AdAction{
		AccountID: account, ID: id, ChannelID: in.AdAccount.ChannelID, Platform: in.AdAccount.Platform, AdAccountID: in.AdAccount.PlatformID,
		Op: in.Op, Approval: in.Approval, Actor: in.Actor, RequestID: in.RequestID, TargetID: in.TargetID, State: AdActionBegun,
		Plan: in.Plan, Before: in.Before, Currency: in.AdAccount.Currency, Daily: figures.TotalAfter - figures.TotalBefore,
		LeaseUntil: *lease, CreatedAt: now, UpdatedAt: now,
	}
	db.NoteLeased(ctx, id)
	return &BegunAdAction{Action: action}, u.Insert(ctx, adActionColumns, action)
}

// checkSpend checks an action against the account's limits, as CheckAdSpend does. If the action changes what may be
// spent, the limits are locked first and stay so until the commit, so that two actions cannot both use what is left.
func (u *unit) checkSpend(ctx context.Context, account string, in BeginAdAction) (*AdFigures, error) {
	read := u.store.GetAdLimits
	if in.Change != (AdChange{}) {
		read = u.lockAdLimits
	}
	limits, err := read(ctx, account)
	if err != nil {
		return nil, err
	}
	if err := u.store.alone(ctx, account, in.Change); err != nil {
		return nil, err
	}
	return u.store.checkSpend(ctx, limits, in.Op, in.AdAccount, in.Change)
}

// resumeAdAction gives an action that was begun before to the request that asks for it again. If somebody is at work on
// it, the error is CodeInProgress. An action whose outcome is not known may be taken during the pause before the
// reconciler looks at it: that pause is not meant for the request.
func (u *unit) resumeAdAction(ctx context.Context, action *AdAction) (*BegunAdAction, error) {
	resumed := &BegunAdAction{Action: action, Resumed: true}
	if action.IsFinal() || db.IsLeased(ctx, action.ID) {
		return resumed, nil
	}
	mine, err := u.leaseAdAction(ctx, action.AccountID, action.ID, `(state = 'unknown' OR lease_until < `+u.store.db.NowSQL()+`)`)
	if err == nil && !mine {
		busy := db.InProgress()
		busy.Outcome = core.Unknown // the key stays with the action
		return nil, busy
	}
	db.NoteLeased(ctx, action.ID)
	return resumed, err
}

// leaseAdAction claims an action without an outcome if the condition holds, and reports whether it did. The action is
// begun then, and nobody else takes it before the lease is over.
func (u *unit) leaseAdAction(ctx context.Context, account, id, condition string) (bool, error) {
	rows, err := u.Exec(ctx, `
		UPDATE ad_actions SET state = 'begun', lease_until = `+u.store.db.NowSQL()+` + ?
		WHERE account_id = ? AND id = ? AND state IN ('begun', 'unknown') AND `+condition, adLease.Microseconds(), account, id)
	return rows == 1, err
}
