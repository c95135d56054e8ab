package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// change lets fn change the campaigns that the ids belong to, or add some, in a transaction of the sandbox's own. It
// stores the things that fn returns, and what changes about delivery. fn may be called again.
func (d *Driver) change(ctx context.Context, c ads.Conn, account *advert.Account, ids []string, fn func(s *state, last int64) ([]*thing, error)) error {
	var refused error
	err := d.store.ChangeSandbox(ctx, c.Account, c.Channel, ids, func(last int64, found advert.SandboxCampaigns) (advert.SandboxChange, error) {
		s, err := d.stateOf(account, found, window{}, since(found.Segments, core.TimeOf(c.Now())))
		if err != nil {
			return advert.SandboxChange{}, err
		}
		var changed []*thing
		if changed, refused = fn(s, last); refused != nil {
			return advert.SandboxChange{}, refused
		}
		entities, err := rows(changed, s.now)
		return advert.SandboxChange{Entities: entities, Segments: s.deliveries(open(found.Segments))}, err
	})
	if refused != nil {
		return refused
	}
	return unanswered(err)
}

// unanswered returns the error of a write that the database did not confirm: nobody knows whether it took place.
func unanswered(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sandbox: %w: %w", ads.ErrIndeterminate, core.NewUnknownError("write", err))
}

// since returns now, or the beginning of the latest segment if that is later, because the clock of another replica may
// be ahead.
func since(segments []advert.SandboxSegment, now core.Time) core.Time {
	for _, s := range segments {
		now = max(now, s.FromAt)
	}
	return now
}

// deliveries returns the segments that begin now in all campaigns of the state.
func (s *state) deliveries(open map[string]advert.SandboxSegment) []advert.SandboxSegment {
	var begun []advert.SandboxSegment
	for _, campaign := range s.campaigns {
		begun = append(begun, deliveries(campaign.owners(), open, s.now)...)
	}
	return begun
}

// SetStatus implements ads.Network.
func (d *Driver) SetStatus(ctx context.Context, c ads.Conn, refs []ads.Ref, to advert.Configured) ([]ads.ItemResult, error) {
	fault, err := d.enter(ctx, c, true)
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	account, err := d.account(c, refs[0].AdAccount)
	if err != nil {
		return nil, err
	}
	failed := make([]error, len(refs)) // decided once, although the change may be made again
	for i := range refs {
		failed[i] = fault.part(i)
	}
	results := make([]ads.ItemResult, len(refs))
	if err := d.change(ctx, c, &account, idsOf(refs), func(s *state, _ int64) ([]*thing, error) {
		var changed []*thing
		for i, ref := range refs {
			t, err := s.switchable(d, ref)
			if err = firstOf(failed[i], err); err != nil {
				results[i] = ads.ItemResult{Ref: ref, Err: err}
				continue
			}
			results[i] = s.switchStatus(t, ref, to)
			changed = append(changed, t)
		}
		return changed, nil
	}); err != nil {
		return nil, err
	}
	if err := fault.lost(ctx); err != nil {
		for i := range results {
			results[i] = ads.ItemResult{Ref: refs[i], Err: err}
		}
	}
	return results, nil
}

func idsOf(refs []ads.Ref) []string {
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	return ids
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// find returns the thing that a reference names, or ads.ErrNotFound if there is none or it was deleted.
func (s *state) find(ref ads.Ref) (*thing, error) {
	t, ok := s.byID[ref.ID]
	if !ok || t.Kind != ref.Level || t.AdAccountID != s.account.PlatformID || t.isDeleted() {
		return nil, fmt.Errorf("%s %s: %w", ref.Level, ref.ID, ads.ErrNotFound)
	}
	return t, nil
}

// switchable returns the thing that a reference names, or ads.ErrUnsupported if the network has no switch at its level.
func (s *state) switchable(d *Driver, ref ads.Ref) (*thing, error) {
	if !slices.Contains(d.Caps().PauseLevels, ref.Level) {
		return nil, fmt.Errorf("a switch of an %s: %w", ref.Level, ads.ErrUnsupported)
	}
	return s.find(ref)
}

// switchStatus switches a thing on or off, and returns how it and the ads below it are afterwards.
func (s *state) switchStatus(t *thing, ref ads.Ref, to advert.Configured) ads.ItemResult {
	before := map[string]advert.Status{}
	for _, ad := range t.ads() {
		before[ad.ID] = s.status(ad)
	}
	t.Off = to == advert.ConfiguredPaused
	result := ads.ItemResult{Ref: ref, State: s.batch(t)}
	for _, ad := range t.ads() {
		switch after := s.status(ad); {
		case ad.isDeleted():
		case after != before[ad.ID]:
			result.Updated++
		default:
			result.Skipped++
			if !slices.Contains(result.Reasons, string(after)) {
				result.Reasons = append(result.Reasons, string(after))
			}
		}
	}
	return result
}

// Update implements ads.Network.
func (d *Driver) Update(ctx context.Context, c ads.Conn, ref ads.Ref, patch ads.Patch) (ads.Entity, error) {
	var entity ads.Entity
	err := d.edit(ctx, c, ref, func(s *state, t *thing) error {
		if err := s.patch(t, patch, d.Caps(), d.options.ReviewDelay); err != nil {
			return err
		}
		entity = s.entity(t)
		return nil
	})
	return entity, err
}

// edit lets fn change the thing that a reference names.
func (d *Driver) edit(ctx context.Context, c ads.Conn, ref ads.Ref, fn func(*state, *thing) error) error {
	fault, err := d.enter(ctx, c, true)
	if err != nil {
		return err
	}
	account, err := d.account(c, ref.AdAccount)
	if err != nil {
		return err
	}
	if err := d.change(ctx, c, &account, []string{ref.ID}, func(s *state, _ int64) ([]*thing, error) {
		t, err := s.find(ref)
		if err != nil {
			return nil, err
		}
		return []*thing{t}, fn(s, t)
	}); err != nil {
		return err
	}
	return fault.lost(ctx)
}

// patch changes the fields of a thing that a patch sets. The review of a new creative takes the delay.
func (s *state) patch(t *thing, p ads.Patch, caps ads.Caps, delay time.Duration) error {
	if p.Budget != nil {
		if err := s.rebudget(t, *p.Budget, caps); err != nil {
			return err
		}
	}
	if p.EndsAt != nil {
		if t.Budget == 0 {
			return refuse("end_date", "The schedule stands where the budget does.")
		}
		t.EndsAt = int64(*p.EndsAt)
	}
	if (p.BidStrategy != nil || p.BidAmount != nil || p.RoasFloor != nil) && len(caps.Bids) == 0 {
		return refuse("bid_strategy", "There are no bid strategies.")
	}
	set(&t.BidStrategy, p.BidStrategy)
	set(&t.BidAmount, p.BidAmount)
	set(&t.RoasFloor, p.RoasFloor)
	set(&t.Name, p.Name)
	t.Beneficiary, t.Payor = cmp.Or(p.DSABeneficiary, t.Beneficiary), cmp.Or(p.DSAPayor, t.Payor)
	if p.Creative != nil {
		if err := checkCreative(caps, t.Goal, *p.Creative, p.Media, s.now); err != nil {
			return err
		}
		t.show(*p.Creative, s.now.Add(delay))
		t.CreativeToken = p.Token
	}
	if p.Configured != nil {
		if !slices.Contains(caps.PauseLevels, t.Kind) {
			return refuse("status", "There is no switch at this level.")
		}
		t.Off = *p.Configured == advert.ConfiguredPaused
	}
	if p.Targeting != nil {
		if err := s.checkTargeting(t, p.Targeting, caps); err != nil {
			return err
		}
		t.Targeting, t.Words = advert.NewObject(p.Targeting), p.PlatformTargeting
	}
	return nil
}

// checkTargeting refuses for an ad group what the network does not show to such people.
func (s *state) checkTargeting(t *thing, to *ads.Targeting, caps ads.Caps) error {
	isIn := caps.Targeting.DSA && ads.InEU(to.Countries)
	switch {
	case caps.LeavesOut(to, t.Categories):
		return refuse("targeting", "An ad of a special category must not leave people out.")
	case isIn && cmp.Or(t.Beneficiary, s.account.DefaultBeneficiary) == "":
		return refuse("dsa_beneficiary", "An ad in the EU says who profits from it.")
	case isIn && cmp.Or(t.Payor, s.account.DefaultPayor) == "":
		return refuse("dsa_payor", "An ad in the EU says who pays for it.")
	}
	return checkPlaces(caps, to)
}

// rebudget changes the amount of a budget. Its type and its owner cannot be changed: that is refused.
func (s *state) rebudget(t *thing, b ads.Budget, caps ads.Caps) error {
	switch {
	case t.Budget == 0:
		return refuse("budget", "The budget stands at another level.")
	case t.BudgetType != b.Type:
		return refuse("budget.type", "The type of a budget cannot be changed.")
	}
	t.Budget = b.Amount
	return checkBudget(caps, b, s.account.Currency)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Delete implements ads.Network.
func (d *Driver) Delete(ctx context.Context, c ads.Conn, ref ads.Ref) (ads.Deleted, error) {
	var deleted ads.Deleted
	err := d.edit(ctx, c, ref, func(s *state, t *thing) error {
		deleted = ads.Deleted{}
		t.each(func(below *thing) {
			switch {
			case below.isDeleted():
			case below.Kind == advert.LevelGroup:
				deleted.AdGroups++
			case below.Kind == advert.LevelAd:
				deleted.Ads++
			}
		})
		t.DeletedAt = int64(s.now)
		return nil
	})
	return deleted, err
}
