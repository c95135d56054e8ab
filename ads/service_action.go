package ads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// deed is one write at a network, and how to do it.
type deed struct {
	line  *line
	begin advert.BeginAction
	// ask does it, or finds out whether it was done. Again says that the network may have been asked before.
	ask func(ctx context.Context, action *advert.Action, again bool) (advert.Outcome, error)
}

// intent fills in the fields that all actions of an actor have.
func intent(by Actor, op advert.Op, in advert.BeginAction) advert.BeginAction {
	in.Op, in.Approval, in.Actor, in.RequestID = op, approvalOf(op), by.Key, by.RequestID
	return in
}

// approvalOf returns the tag of an operation: "ask" if it spends or destroys something, so that a person should be asked
// first, else "allow".
func approvalOf(op advert.Op) string {
	switch op {
	case advert.OpPauseGroup, advert.OpPauseCampaign, advert.OpPauseAd, advert.OpCreateAudience, advert.OpUploadAudience, advert.OpRemoveAudience:
		return "allow"
	default:
		return "ask"
	}
}

// perform does a write at a network, at most once however often its request is sent, and returns the action, which is
// done. If the network refuses it, the action is settled as refused, and the request's key is free again. After an error
// that is not a *core.Error the action has no outcome; the same request sent again, or the reconciler, takes it up.
func (s *Service) perform(ctx context.Context, by Actor, d deed) (*advert.Action, error) {
	begun, err := s.store.BeginAction(ctx, by.Account, d.begin)
	if err != nil {
		return nil, err
	}
	action := begun.Action
	if !action.IsFinal() {
		out, err := d.ask(ctx, action, begun.Resumed)
		if err == nil && !action.Op.IsSwitch() {
			s.confirmChange(ctx, d.line, d.begin.AdAccount, action, &out)
		}
		if action, err = s.conclude(context.WithoutCancel(ctx), d.line, action, out, err); err != nil {
			return nil, err
		}
	}
	if action.State == advert.ActionRefused {
		return nil, action.Failure.V.Err()
	}
	return action, nil
}

const (
	// unknownPause is how long the reconciler waits before it asks about an action of which nothing was heard.
	unknownPause = 10 * time.Second
	// underWay is for how long what a network did not answer to may still be on its way there. It is longer than any call
	// of a driver takes. That the network has not done it proves nothing until then.
	underWay = 90 * time.Second
)

// openUntil returns until when an action may still take place at the network.
func openUntil(action *advert.Action) core.Time {
	if f := action.Failure.V; f != nil && f.OpenUntil > 0 {
		return f.OpenUntil
	}
	return action.CreatedAt.Add(underWay)
}

// sent returns until when what was just asked for may still take place, if the network answered it with err.
func (s *Service) sent(action *advert.Action, err error) core.Time {
	var open *undecided
	if errors.As(err, &open) { // nothing was sent: it was not known yet what became of the last time
		return openUntil(action)
	}
	return s.store.Now().Add(underWay)
}

// conclude stores what became of an action: done if err is nil, refused if err says that it certainly did not take
// place, else unknown. The answer of a refusal is the error. A channel whose access the network refused is marked.
func (s *Service) conclude(ctx context.Context, l *line, action *advert.Action, out advert.Outcome, err error) (*advert.Action, error) {
	if err == nil {
		out.State = advert.ActionDone
		return s.store.SettleAction(ctx, action.AccountID, action.ID, out)
	}
	if errors.Is(err, errMedia) {
		return nil, s.processing(ctx, action, err)
	}
	answer := verdict(l.channel.Platform, err)
	if answer == nil {
		return nil, s.unknown(ctx, action, err)
	}
	if errors.Is(err, ErrUnauthorized) {
		if err := s.store.FailSocialAccount(ctx, l.channel, reason(err)); err != nil {
			return nil, err
		}
	}
	refused := advert.Outcome{State: advert.ActionRefused, Failure: failureOf(answer)}
	if _, err := s.store.SettleAction(ctx, action.AccountID, action.ID, refused); err != nil {
		return nil, err
	}
	return nil, answer
}

// unknown leaves an action without an outcome for whoever asks next. The error that it returns hides what the network's
// error was. A failure of the network is no answer to the request and must not free its Idempotency-Key.
func (s *Service) unknown(ctx context.Context, action *advert.Action, err error) error {
	failure := &advert.Failure{
		Code: codeUnavailable, Message: fmt.Sprintf("%s did not say what became of it.", action.Platform), OpenUntil: s.sent(action, err),
	}
	if yield := s.store.YieldAction(ctx, action.AccountID, action.ID, unknownPause, failure); yield != nil {
		err = errors.Join(err, yield)
	}
	return core.NewUnknownError("action "+action.ID+" has no known outcome yet", err)
}

// undecided is an error on the way to finding out what became of an action. It says nothing about the action itself.
type undecided struct{ cause error }

func (e *undecided) Error() string { return "find out: " + e.cause.Error() }

// codeUnavailable is the code for what was not done because the network, or this service, was not able to.
const codeUnavailable core.Code = "api_error"

// verdict returns the answer to a write that certainly did not take place, or nil if that is not certain.
func verdict(platform advert.Platform, err error) *core.Error {
	var open *undecided
	switch {
	case errors.As(err, &open):
		return nil
	case errors.Is(err, ErrIndeterminate):
		return nil
	case errors.Is(err, errNotAsked):
		return &core.Error{Code: codeUnavailable, Message: fmt.Sprintf("There was no time left to ask %s. Nothing was changed: send the request again.", platform)}
	case errors.Is(err, ErrUnavailable):
		return &core.Error{Code: codeUnavailable, Message: fmt.Sprintf("%s is out of order. Nothing was changed: send the request again later.", platform)}
	}
	return refusal(platform, "object", err)
}

// failureOf returns an answer in the form that an action keeps.
func failureOf(e *core.Error) *advert.Failure {
	return &advert.Failure{Code: e.Code, Param: e.Param, Message: e.Message, Fields: e.Fields}
}

// found asks the network what was made with an action's token. If the network cannot tell, or does not answer, the error
// is undecided.
func (l *line) found(ctx context.Context, action *advert.Action) (Created, bool, error) {
	if r := l.Caps().Reconcile; r == ReconcileNone || r == ReconcileRepeat {
		return Created{}, false, &undecided{fmt.Errorf("%s cannot tell what it made: %w", action.Platform, ErrIndeterminate)}
	}
	created, found, err := l.Find(ctx, l.conn, action.AdAccountID, action.ID)
	if err != nil {
		return Created{}, false, &undecided{err}
	}
	return created, found, nil
}
