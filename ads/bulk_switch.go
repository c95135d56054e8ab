package ads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// bulkTime is how long a request goes on to begin calls, one ad account after the other. Together with the last call it
// takes less time than the leases of its actions.
const bulkTime = 25 * time.Second

// errNotAsked says that the time was up before the network could be asked.
var errNotAsked = errors.New("there was no time to ask the network")

// switchAll begins an action for each campaign, asks the network of each ad account once, and settles the actions. A
// campaign whose action was begun or settled by an earlier try of the request goes on from there.
func (s *Service) switchAll(ctx context.Context, b *bulk) error {
	if len(b.work) == 0 {
		return nil
	}
	until := s.store.Now().Add(bulkTime)
	begins := make([]advert.BeginAction, len(b.work))
	for i, w := range b.work {
		begins[i] = intent(b.by, b.op, advert.BeginAction{
			Index: w.Index, AdAccount: w.campaign.AdAccount, TargetID: w.campaign.PlatformID, Seen: seen(campaignSubject(w.campaign), b.to), Change: b.change(w.campaign),
			Plan:   advert.NewObject(switchPlan{Ref: w.ref(), To: b.to}),
			Before: advert.NewObject(switchPlan{Ref: w.ref(), To: w.campaign.ConfiguredStatus}),
		})
	}
	begun, err := s.store.BeginActions(ctx, b.by.Account, begins)
	if err != nil {
		return err
	}
	var open []*bulkItem
	for i, w := range b.work {
		switch w.action, w.resumed = begun[i].Action, begun[i].Resumed; {
		case begun[i].Err != nil:
			if err := w.fail(begun[i].Err); err != nil {
				return err
			}
		case w.action.IsFinal():
			w.show(s.store.Now())
		default:
			open = append(open, w)
		}
	}
	if err := s.switchOpen(ctx, open, b.to, until); err != nil {
		return err
	}
	return s.settleBulk(context.WithoutCancel(ctx), open)
}

// ref names the campaign for the driver.
func (w *bulkItem) ref() Ref {
	return Ref{AdAccount: w.campaign.AdAccountID, Level: advert.LevelCampaign, ID: w.campaign.PlatformID}
}

// switchOpen asks the networks about the open items, several ad accounts at once, and begins no call after `until`. If
// every one of them takes no requests at the moment, that is the answer to the request, because nothing was changed.
func (s *Service) switchOpen(ctx context.Context, open []*bulkItem, to advert.Configured, until core.Time) error {
	groups := map[reportPlace][]*bulkItem{}
	var order []reportPlace
	for _, w := range open {
		at := reportPlace{w.campaign.ChannelID, w.campaign.AdAccountID}
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], w)
	}
	limited := make([]*RateLimited, len(order))
	inParallel(len(order), maxReports, func(i int) {
		if group := groups[order[i]]; s.store.Now() > until {
			notAsked(group)
		} else {
			limited[i] = s.switchTogether(ctx, group, to)
		}
	})
	if len(order) == 0 || slices.Contains(limited, nil) {
		return nil
	}
	for _, w := range open {
		if _, err := s.conclude(context.WithoutCancel(ctx), w.line, w.action, advert.Outcome{}, w.fault); err == nil || core.OutcomeOf(err) != core.Refused {
			return fmt.Errorf("settle %s: %w", w.action.ID, err)
		}
	}
	longest := slices.MaxFunc(limited, func(a, b *RateLimited) int { return int(a.After - b.After) })
	return refusal(open[0].campaign.Platform, "campaign", longest)
}

// notAsked gives campaigns the error that there was no time for them. If an earlier try may have asked the network about
// one, its outcome is unknown.
func notAsked(group []*bulkItem) {
	for _, w := range group {
		if w.fault = errNotAsked; w.resumed {
			w.fault = fmt.Errorf("%w: %w", ErrIndeterminate, errNotAsked)
		}
	}
}

// switchTogether asks the network about the campaigns of one ad account. It returns the rate limit if that kept the
// network from doing anything at all, and otherwise nil.
func (s *Service) switchTogether(ctx context.Context, group []*bulkItem, to advert.Configured) *RateLimited {
	refs := make([]Ref, len(group))
	for i, w := range group {
		refs[i] = w.ref()
	}
	line := group[0].line
	results, err := line.SetStatus(ctx, line.conn, refs, to)
	if err == nil && len(results) != len(refs) {
		err = fmt.Errorf("%d results for %d campaigns: %w", len(results), len(refs), ErrIndeterminate)
	}
	var heard advert.Heard
	if err == nil {
		actions, answers := make([]*advert.Action, len(group)), make([]*ItemResult, len(group))
		for i, w := range group {
			actions[i], answers[i] = w.action, &results[i]
		}
		heard = s.confirmPause(ctx, line, group[0].campaign.AdAccount, to, actions, answers)
	}
	for i, w := range group {
		if w.fault = err; err == nil {
			w.outcome, w.fault = switched(results[i], to, heard), results[i].Err
			w.outcome.State = advert.ActionDone
		}
	}
	var limited *RateLimited
	errors.As(err, &limited)
	return limited
}

// settleBulk stores what became of the open actions. Those without a known outcome are left to the reconciler, which
// commits at once; the others commit together with the answer.
func (s *Service) settleBulk(ctx context.Context, open []*bulkItem) error {
	var known []*bulkItem
	var settlements []advert.Settlement
	for _, w := range open {
		if w.fault != nil {
			w.failed()
		}
		if w.fault != nil && verdict(w.campaign.Platform, w.fault) == nil {
			w.outcome.Failure.OpenUntil = s.sent(w.action, w.fault)
			if err := s.store.YieldAction(ctx, w.action.AccountID, w.action.ID, unknownPause, w.outcome.Failure); err != nil {
				return core.NewUnknownError("leave a campaign", err)
			}
			continue
		}
		known, settlements = append(known, w), append(settlements, advert.Settlement{ID: w.action.ID, Outcome: w.outcome})
	}
	for _, w := range known {
		if errors.Is(w.fault, ErrUnauthorized) {
			if err := s.store.FailSocialAccount(ctx, w.line.channel, reason(w.fault)); err != nil {
				return core.NewUnknownError("mark a channel", err)
			}
		}
	}
	if len(known) == 0 {
		return nil
	}
	settled, err := s.store.SettleActions(ctx, known[0].action.AccountID, settlements)
	if err != nil {
		return core.NewUnknownError("settle campaigns", err)
	}
	for i, w := range known {
		w.action = settled[i]
		if w.fault == nil {
			w.show(s.store.Now())
		}
	}
	return nil
}

// failed gives an item that was not switched its error, and its action the failure.
func (w *bulkItem) failed() {
	answer := verdict(w.campaign.Platform, w.fault)
	if answer == nil {
		answer = &core.Error{Code: codeUnavailable, Message: fmt.Sprintf("%s did not say whether it did it. It is looked into.", w.campaign.Platform)}
	}
	w.Outcome = BulkFailed
	w.Error = &ItemError{Code: answer.Code, Message: answer.Message, Param: answer.Param, Retryable: isTransient(w.fault)}
	w.outcome = advert.Outcome{State: advert.ActionRefused, Failure: failureOf(answer)}
}

// show fills in the result of an item from its action, which has its outcome.
func (w *bulkItem) show(now core.Time) {
	if w.action.State == advert.ActionRefused {
		failure := w.action.Failure.V
		w.Outcome, w.Error = BulkFailed, &ItemError{Code: failure.Code, Message: failure.Message, Param: failure.Param}
		return
	}
	var done switchResult
	_ = w.action.After.Decode(&done) // our own text
	w.Outcome, w.Updated, w.Skipped, w.Message = BulkUpdated, done.Updated, done.Skipped, done.Message
	w.Status = done.Status
	if w.campaign.EndsAt != nil && *w.campaign.EndsAt <= now {
		w.Status = advert.StatusCompleted
	}
}
