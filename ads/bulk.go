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

// maxBulk is how many campaigns one request may switch.
const maxBulk = 50

// Bulk names campaigns to switch on or off. Items is nil if the list was not sent.
type Bulk struct {
	Items  []BulkItem
	DryRun bool
}

// BulkItem names a campaign by platform id. Platform is needed only if two networks have the id.
type BulkItem struct{ ID, Platform string }

// BulkOutcome says whether an item was switched.
type BulkOutcome string

// An item is skipped if there is nothing to do: it is as wanted already, or was named before.
const (
	BulkUpdated BulkOutcome = "updated"
	BulkSkipped BulkOutcome = "skipped"
	BulkFailed  BulkOutcome = "failed"
)

// BulkResult is the result of all items, in the order of the request. With DryRun, Plan says what would be done.
type BulkResult struct {
	Status  advert.Configured
	Updated int
	Skipped int
	Failed  int
	Results []BulkItemResult
	Plan    *DryRun
}

// BulkItemResult is the result of one item. Updated and Skipped count the ads below it.
type BulkItemResult struct {
	Index    int
	ID       string
	Platform advert.Platform // empty if it is not known
	Outcome  BulkOutcome
	Status   advert.Status // of delivery; empty if it is not known
	Updated  int
	Skipped  int
	Reason   string // why it was skipped: duplicate | unchanged
	Message  string
	Error    *ItemError // why it failed
}

// ItemError says why an item failed. Retryable means that the same item may succeed later.
type ItemError struct {
	Code      core.Code
	Message   string
	Param     string
	Retryable bool
}

// BulkPauseCampaigns switches campaigns off. If one of them cannot be switched, the others are all the same.
func (s *Service) BulkPauseCampaigns(ctx context.Context, by Actor, in Bulk) (*BulkResult, error) {
	return s.bulk(ctx, by, advert.OpPauseCampaign, advert.ConfiguredPaused, in)
}

// BulkResumeCampaigns switches campaigns on, as far as the account's limits allow what all of them together may spend.
// If one of them cannot be switched, the others are all the same.
func (s *Service) BulkResumeCampaigns(ctx context.Context, by Actor, in Bulk) (*BulkResult, error) {
	return s.bulk(ctx, by, advert.OpResumeCampaign, advert.ConfiguredActive, in)
}

// bulk does the work of both: it finds the campaigns, and then plans the request or asks the networks.
func (s *Service) bulk(ctx context.Context, by Actor, op advert.Op, to advert.Configured, in Bulk) (*BulkResult, error) {
	switch {
	case in.Items == nil:
		return nil, parameterMissing("campaigns", "campaigns is required: an array of the ids of campaigns.")
	case len(in.Items) == 0:
		return nil, core.Invalid("campaigns", "Send at least one campaign.")
	case len(in.Items) > maxBulk:
		return nil, core.Invalid("campaigns", fmt.Sprintf("Send at most %d campaigns at a time.", maxBulk))
	}
	if _, err := s.store.ActivatedChannels(ctx, by.Account); err != nil {
		return nil, err
	}
	b := &bulk{by: by, op: op, to: to, result: &BulkResult{Status: to, Results: make([]BulkItemResult, len(in.Items))}}
	for i, item := range in.Items {
		if err := s.resolve(ctx, b, i, item); err != nil {
			return nil, err
		}
	}
	if in.DryRun {
		return s.planBulk(ctx, b)
	}
	if err := s.switchAll(ctx, b); err != nil {
		return nil, err
	}
	return b.total(), nil
}

// bulk is a request to switch several campaigns while it is worked on.
type bulk struct {
	by     Actor
	op     advert.Op
	to     advert.Configured
	result *BulkResult
	work   []*bulkItem // what a network is to be asked about
}

// bulkItem is one campaign that is to be switched.
type bulkItem struct {
	*BulkItemResult
	campaign *advert.Campaign
	line     *line
	action   *advert.Action
	resumed  bool // the network may have been asked before
	outcome  advert.Outcome
	fault    error
}

// total counts the outcomes and returns the result. A campaign that was named twice gets the same status both times: the
// one that it has now.
func (b *bulk) total() *BulkResult {
	type campaign struct {
		platform advert.Platform
		id       string
	}
	now := map[campaign]advert.Status{}
	for i := range b.result.Results {
		r := &b.result.Results[i]
		if r.Reason == "duplicate" {
			r.Status = now[campaign{r.Platform, r.ID}]
		} else if r.Outcome != BulkFailed {
			now[campaign{r.Platform, r.ID}] = r.Status
		}
		switch r.Outcome {
		case BulkUpdated:
			b.result.Updated++
		case BulkSkipped:
			b.result.Skipped++
		default:
			b.result.Failed++
		}
	}
	return b.result
}

// resolve finds the campaign of an item and adds what is to be done with it to the work. An item that cannot be switched
// gets its error; only an error that is no answer to anybody is returned.
func (s *Service) resolve(ctx context.Context, b *bulk, index int, item BulkItem) error {
	r := &b.result.Results[index]
	*r = BulkItemResult{Index: index, ID: item.ID}
	if p := advert.Platform(item.Platform); p.IsKnown() { // an invented one is not told back
		r.Platform = p
	}
	work, err := s.bulkItem(ctx, b, r, item)
	if err != nil {
		return r.fail(err)
	}
	if work != nil {
		b.work = append(b.work, work)
	}
	return nil
}

// bulkItem returns what is to be done with an item. If that is nothing, it is nil and the item is marked as skipped.
func (s *Service) bulkItem(ctx context.Context, b *bulk, r *BulkItemResult, item BulkItem) (*bulkItem, error) {
	if err := (required{{"id", item.ID}}).err(); err != nil {
		return nil, err
	}
	platform, err := bodyPlatform(item.Platform)
	if err != nil {
		return nil, err
	}
	c, err := s.store.GetCampaign(ctx, b.by.Account, platform, item.ID)
	if err != nil {
		return nil, at("id", err)
	}
	if c.DeletedAt != nil || c.AdAccount == nil {
		return nil, core.Missing("campaign", "id", item.ID)
	}
	now := s.store.Now()
	r.Platform, r.Status = c.Platform, c.StatusAt(now)
	switch {
	case b.has(c, r.Index):
		r.Outcome, r.Reason = BulkSkipped, "duplicate"
		return nil, nil
	case c.StatusAt(now).IsTerminal():
		return nil, over("campaign", c.StatusAt(now))
	}
	line, err := s.activated(ctx, b.by.Account, c.ChannelID)
	if err != nil {
		return nil, err
	}
	stands, err := s.stands(ctx, campaignSubject(c), advert.LevelCampaign, b.to)
	if err != nil || stands {
		r.Outcome, r.Reason = BulkSkipped, "unchanged"
		return nil, err
	}
	return &bulkItem{BulkItemResult: r, campaign: c, line: line}, nil
}

// has reports whether an earlier item of the request named the same campaign and did not fail.
func (b *bulk) has(c *advert.Campaign, index int) bool {
	return slices.ContainsFunc(b.result.Results[:index], func(r BulkItemResult) bool {
		return r.ID == c.PlatformID && r.Platform == c.Platform && r.Outcome != BulkFailed
	})
}

// over returns the error for a switch of something whose state is final.
func over(object string, status advert.Status) error {
	return core.Invalid("status", fmt.Sprintf("The %s is %s, so it cannot be paused or resumed.", object, status))
}

// fail stores an error as the outcome of an item. If it is not a *core.Error, it is no answer to the caller, and fail
// returns it.
func (r *BulkItemResult) fail(err error) error {
	var answer *core.Error
	if !errors.As(err, &answer) {
		return err
	}
	r.Outcome = BulkFailed
	r.Error = &ItemError{Code: answer.Code, Message: answer.Message, Param: answer.Param, Retryable: answer.Code == core.CodeInProgress}
	return nil
}

// change returns what switching a campaign changes about what may be spent: nothing if it is switched off.
func (b *bulk) change(c *advert.Campaign) advert.Change {
	if b.to == advert.ConfiguredPaused {
		return advert.Change{}
	}
	return advert.Change{Level: advert.LevelCampaign, PlatformID: c.PlatformID, Platform: c.Platform, Resume: true, Param: "campaigns"}
}

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
			Index: w.Index, AdAccount: w.campaign.AdAccount, TargetID: w.campaign.PlatformID, Change: b.change(w.campaign),
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
	asked := s.store.Now()
	results, err := line.SetStatus(ctx, line.conn, refs, to)
	if err == nil && len(results) != len(refs) {
		err = fmt.Errorf("%d results for %d campaigns: %w", len(results), len(refs), ErrIndeterminate)
	}
	var doubtful []*ItemResult
	for i, w := range group {
		if err == nil && isDoubtful(w.campaign.ConfiguredStatus, to) {
			doubtful = append(doubtful, &results[i])
		}
	}
	if len(doubtful) > 0 {
		asked = s.recheck(ctx, line, group[0].campaign.AdAccount, doubtful, asked)
	}
	for i, w := range group {
		if w.fault = err; err != nil {
			continue
		}
		w.outcome, w.fault = switched(results[i], to), results[i].Err
		w.outcome.State = advert.ActionDone
		if isDoubtful(w.campaign.ConfiguredStatus, to) {
			w.outcome.Asked = asked
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
		w.action = &settled[i]
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
