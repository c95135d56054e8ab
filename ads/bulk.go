package ads

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
