package sandbox

import (
	"context"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
)

// Edit is what somebody does to one thing in the ad manager. Nil is left alone.
type Edit struct {
	Name       *string
	Configured *store.AdConfigured
	Budget     *store.AdAmount // above 0, of what has one
	EndsAt     *store.Time     // of what has a budget
	Rejection  *string         // the review changes its mind about an ad; "" approves it
	Delete     bool
}

// Manage does what a person does in the network's ad manager, past this program: what the mirror does not know until it
// is synchronised. No fault and no limit applies.
func (d *Driver) Manage(ctx context.Context, c ads.Conn, ref ads.Ref, e Edit) error {
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
		set(&t.Name, e.Name)
		set(&t.Rejection, e.Rejection)
		if e.Configured != nil {
			t.Off = *e.Configured == store.AdConfiguredPaused
		}
		if t.Budget > 0 {
			set(&t.Budget, e.Budget)
			set(&t.EndsAt, (*int64)(e.EndsAt))
		}
		if e.Delete {
			t.DeletedAt = int64(s.now)
		}
		return []*thing{t}, nil
	})
}
