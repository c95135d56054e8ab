package sandbox

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

var _ ads.Drifting = (*Driver)(nil)

// Edit is what somebody changes about one thing in the ad manager. A field that is nil is left as it is.
type Edit struct {
	Name       *string
	Configured *advert.Configured
	Budget     *advert.Amount // above 0, of what has one
	EndsAt     *core.Time     // of what has a budget
	Rejection  *string        // the review changes its mind about an ad; "" approves it
	Delete     bool
}

// Manage does what a person does in the network's ad manager, without this program: the mirror does not know of it until
// it is synchronised. It is subject to no fault and no limit.
func (d *Driver) Manage(ctx context.Context, c ads.Conn, ref ads.Ref, e Edit) error {
	return d.manage(ctx, c, ref, func(t *thing, now core.Time) []*thing {
		set(&t.Name, e.Name)
		set(&t.Rejection, e.Rejection)
		if e.Configured != nil {
			t.Off = *e.Configured == advert.ConfiguredPaused
		}
		if t.Budget > 0 {
			set(&t.Budget, e.Budget)
			set(&t.EndsAt, (*int64)(e.EndsAt))
		}
		if e.Delete {
			t.DeletedAt = int64(now)
		}
		return []*thing{t}
	})
}

// Drift implements ads.Drifting.
func (d *Driver) Drift(ctx context.Context, c ads.Conn, campaign ads.Ref, kind ads.Drift) error {
	return d.manage(ctx, c, campaign, func(t *thing, now core.Time) []*thing {
		switch kind {
		case ads.DriftRename:
			t.Name = "Renamed at " + now.Time().UTC().Format(time.RFC3339)
		case ads.DriftPause, ads.DriftResume:
			t.Off = kind == ads.DriftPause
		case ads.DriftBudget:
			return t.doubled()
		case ads.DriftDelete:
			t.DeletedAt = int64(now)
		}
		return []*thing{t}
	})
}

// doubled doubles the budgets of a campaign and of what is in it, and returns the things that have one.
func (t *thing) doubled() (changed []*thing) {
	t.each(func(t *thing) {
		if t.Budget > 0 && !t.isDeleted() {
			t.Budget = t.Budget.Add(t.Budget)
			changed = append(changed, t)
		}
	})
	return changed
}

// manage lets fn change one thing and what is below it, and stores the things that fn returns.
func (d *Driver) manage(ctx context.Context, c ads.Conn, ref ads.Ref, fn func(t *thing, now core.Time) []*thing) error {
	if err := d.connect(ctx, c); err != nil {
		return err
	}
	account, err := d.account(c, ref.AdAccount)
	if err != nil {
		return err
	}
	return d.change(ctx, c, &account, []string{ref.ID}, func(s *state, _ int64) ([]*thing, error) {
		t, err := s.find(ref)
		if err != nil {
			return nil, err
		}
		return fn(t, s.now), nil
	})
}
