package ads

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
)

// planBulk returns what the request would do, and what could be spent in a day by all of it together. Nothing is
// written.
func (s *Service) planBulk(ctx context.Context, b *bulk) (*BulkResult, error) {
	plan := &DryRun{Operation: b.op}
	figures := map[string]*advert.Figures{}
	for _, w := range b.work {
		one, err := s.store.CheckSpend(ctx, b.by.Account, b.op, w.campaign.AdAccount, b.change(w.campaign))
		if err != nil {
			if err := w.fail(err); err != nil {
				return nil, err
			}
			continue
		}
		plan.Calls = append(plan.Calls, PlannedCall{Action: string(b.op), ID: w.campaign.PlatformID, Fields: map[string]string{
			"platform": string(w.campaign.Platform), "status": w.line.Caps().SwitchWord(b.to),
		}})
		w.Outcome = BulkUpdated
		if err := accumulate(figures, one); err != nil {
			if err := w.fail(err); err != nil {
				return nil, err
			}
			plan.Calls = plan.Calls[:len(plan.Calls)-1]
		}
	}
	for _, w := range b.work {
		if f := figures[w.campaign.AdAccount.Currency]; f != nil {
			plan.Figures = append(plan.Figures, *f)
			delete(figures, w.campaign.AdAccount.Currency)
		}
	}
	plan.Warnings = b.doubts()
	b.total().Plan = plan
	return b.result, nil
}

// doubts returns a sentence for each item that would not be switched, which says why.
func (b *bulk) doubts() []string {
	var doubts []string
	for _, r := range b.result.Results {
		switch {
		case r.Error != nil:
			doubts = append(doubts, fmt.Sprintf("%s would fail: %s", r.ID, r.Error.Message))
		case r.Reason == "unchanged":
			doubts = append(doubts, fmt.Sprintf("%s would be skipped: it is as wanted already.", r.ID))
		case r.Outcome == BulkSkipped:
			doubts = append(doubts, fmt.Sprintf("%s would be skipped: it was named before.", r.ID))
		}
	}
	return doubts
}

// accumulate adds one more campaign to the figures of its currency. If all of them together would then exceed the limit,
// it adds nothing and returns CodeSpendLimit.
func accumulate(figures map[string]*advert.Figures, one *advert.Figures) error {
	if one.Currency == "" {
		return nil // nothing is spent by it
	}
	sum := figures[one.Currency]
	if sum == nil {
		figures[one.Currency] = one
		return nil
	}
	total := sum.TotalAfter.Add(one.TotalAfter - one.TotalBefore)
	if err := sum.CheckTotal("campaigns", total); err != nil && total > sum.TotalAfter {
		return err
	}
	sum.TotalAfter = total
	return nil
}
