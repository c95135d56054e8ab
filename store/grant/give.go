package grant

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Giving is what somebody is to have.
type Giving struct {
	Account   string
	Customer  string
	Product   string
	Variant   *string
	Source    Source
	Item      string // what of the source; each gives one grant
	Quantity  int64
	PaidUntil *core.Time // the end of the period that a subscription has paid for
	PaysNone  bool       // nothing was paid for it: what was paid for what it comes in the place of, or for itself, is as long for it
	ExpiresAt *core.Time
	Licensing *Licensing // what its product and its price variant ask for now of licence keys; nil if that is to be looked up

	InsteadOf string // the item of the same source in whose place it comes, also after a plan that gave nothing; empty for none
}

// GiveNew gives what sources have never given before, all of one account, in one statement that nobody waits for. The grants come in the order of the givings.
func (s *Store) GiveNew(ctx context.Context, u *db.Unit, givings []Giving) ([]Grant, error) {
	if len(givings) == 0 {
		return nil, nil
	}
	now, err := db.BusinessNow(ctx, u, givings[0].Account)
	if err != nil {
		return nil, err
	}
	grants := make([]Grant, len(givings))
	for i, in := range givings {
		grants[i] = Grant{
			AccountID: in.Account, ID: core.NewID(core.KindGrant), CustomerID: in.Customer, ProductID: in.Product, PriceVariantID: in.Variant,
			Quantity: in.Quantity, SourceType: in.Source.Type, SourceID: in.Source.ID, ItemID: in.Item, Status: StatusActive,
			PaidUntil: in.PaidUntil, ExpiresAt: in.ExpiresAt, CreatedAt: now, UpdatedAt: now,
		}
		if in.Source.Type == SourceTypeManual {
			grants[i].SourceID = grants[i].ID
		}
	}
	if err := db.InsertAll(ctx, u, grantColumns, grants); err != nil {
		return nil, err
	}
	for i := range grants {
		if asked := givings[i].Licensing; asked != nil {
			err = s.issueLicenseAs(ctx, u, &grants[i], asked)
		} else {
			err = s.issueLicense(ctx, u, &grants[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return grants, nil
}

// Give gives what a source may have given before. Then it is the same grant, with the variant, the quantity and the paid period of now. One that
// was revoked with its plan or its subscription is active again, unless a refund that stands took it away. What comes in the place of another
// item is had as that one was, and the other one ends. It is suspended or revoked if that was, so that no change of plan undoes a refund or the
// seller's word.
func (s *Store) Give(ctx context.Context, u *db.Unit, in Giving) (*Grant, error) {
	given, err := s.lockSource(ctx, u, in.Account, in.Source)
	if err != nil {
		return nil, err
	}
	g, former := itemOf(given, in.Item), itemOf(given, in.InsteadOf)
	if in.PaysNone && former != nil && former.PaidUntil != nil && *former.PaidUntil > *in.PaidUntil {
		in.PaidUntil = former.PaidUntil
	}
	if g == nil {
		in.Licensing = nil
		made, err := s.GiveNew(ctx, u, []Giving{in})
		if err != nil {
			return nil, err
		}
		g = &made[0]
	} else if err := s.giveAgain(ctx, u, g, in); err != nil {
		return nil, err
	}
	if former == nil || former == g {
		return g, nil
	}
	status, reason := former.Status, core.Deref(former.Reason)
	if reason == ReasonPlanChange { // a plan that gives nothing came between
		status, reason = former.again()
	}
	if g.Status != status || core.Deref(g.Reason) != reason || g.Refunded != former.Refunded {
		g.Refunded = former.Refunded
		if err := s.enter(ctx, u, g, status, reason, former.ByHand); err != nil {
			return nil, err
		}
	}
	return g, s.enter(ctx, u, former, StatusRevoked, ReasonPlanChange, false)
}

// giveAgain gives a locked grant the terms of now.
func (s *Store) giveAgain(ctx context.Context, u *db.Unit, g *Grant, in Giving) error {
	sameTerms := core.Deref(g.PriceVariantID) == core.Deref(in.Variant) && g.Quantity == in.Quantity
	g.PriceVariantID, g.Quantity, g.PaidUntil = in.Variant, in.Quantity, in.PaidUntil
	if !sameTerms {
		if err := s.planLicense(ctx, u, g); err != nil {
			return err
		}
	}
	if g.Status == StatusRevoked && (*g.Reason == ReasonPlanChange || *g.Reason == ReasonSubscriptionEnded) {
		status, reason := g.again()
		return s.enter(ctx, u, g, status, reason, false)
	}
	return s.save(ctx, u, g)
}

// again is the state in which a grant comes back that ended with its plan or its subscription. A refund that still stands takes it away.
func (g *Grant) again() (Status, Reason) {
	if g.Refunded {
		return StatusRevoked, ReasonRefund
	}
	return StatusActive, ""
}

// itemOf returns the grant of an item, nil if there is none.
func itemOf(given []Grant, item string) *Grant {
	for i := range given {
		if given[i].ItemID == item {
			return &given[i]
		}
	}
	return nil
}

// Extend notes until when the source has paid: then what a refund of a former period had revoked is active again. Nil is for all times, and
// leaves what is revoked.
func (s *Store) Extend(ctx context.Context, u *db.Unit, account string, from Source, until *core.Time) error {
	return s.each(ctx, u, account, from, func(g *Grant) error {
		g.PaidUntil = until
		g.Refunded = g.Refunded && until == nil
		if until != nil && g.Status == StatusRevoked && *g.Reason == ReasonRefund {
			return s.enter(ctx, u, g, StatusActive, "", g.ByHand)
		}
		return s.save(ctx, u, g)
	})
}

// Cover notes until when a source gives what it does though nobody pays for that. It gives nothing back that was taken away.
func (s *Store) Cover(ctx context.Context, u *db.Unit, account string, from Source, until core.Time) error {
	return s.each(ctx, u, account, from, func(g *Grant) error {
		g.PaidUntil = &until
		return s.save(ctx, u, g)
	})
}

// Suspend suspends what of the source is active.
func (s *Store) Suspend(ctx context.Context, u *db.Unit, account string, from Source, reason Reason) error {
	return s.each(ctx, u, account, from, func(g *Grant) error {
		if g.Status != StatusActive {
			return nil
		}
		return s.enter(ctx, u, g, StatusSuspended, reason, g.ByHand)
	})
}

// Resume makes active again what of the source is suspended.
func (s *Store) Resume(ctx context.Context, u *db.Unit, account string, from Source) error {
	return s.each(ctx, u, account, from, func(g *Grant) error {
		if g.Status != StatusSuspended {
			return nil
		}
		return s.enter(ctx, u, g, StatusActive, "", g.ByHand)
	})
}

// Revoke ends all that the source gave. What is revoked already stays so with its own reason, unless that was a refund, which may
// still fail: then the new reason counts. That it was refunded is kept beside the reason.
func (s *Store) Revoke(ctx context.Context, u *db.Unit, account string, from Source, reason Reason) error {
	return s.each(ctx, u, account, from, func(g *Grant) error { return s.revoke(ctx, u, g, reason) })
}

// RevokeItem does what Revoke does, for one item of the source.
func (s *Store) RevokeItem(ctx context.Context, u *db.Unit, account string, from Source, item string, reason Reason) error {
	return s.each(ctx, u, account, from, func(g *Grant) error {
		if g.ItemID != item {
			return nil
		}
		return s.revoke(ctx, u, g, reason)
	})
}

func (s *Store) revoke(ctx context.Context, u *db.Unit, g *Grant, reason Reason) error {
	wasRefunded := g.Refunded
	g.Refunded = wasRefunded || reason == ReasonRefund
	if g.Status == StatusRevoked && (*g.Reason != ReasonRefund || reason == ReasonRefund) {
		if g.Refunded == wasRefunded {
			return nil
		}
		return s.save(ctx, u, g)
	}
	return s.enter(ctx, u, g, StatusRevoked, reason, g.ByHand && reason == ReasonRefund)
}

// Reinstate takes back what a refund of the source had revoked, because it has failed. Suspended is called once the grants are locked, and
// says why they are suspended now instead, if they are.
func (s *Store) Reinstate(ctx context.Context, u *db.Unit, account string, from Source, suspended func() (Reason, error)) error {
	return s.each(ctx, u, account, from, func(g *Grant) error {
		if !g.Refunded {
			return nil
		}
		g.Refunded = false
		if g.Status != StatusRevoked || *g.Reason != ReasonRefund {
			return s.save(ctx, u, g)
		}
		suspended, err := suspended()
		if err != nil {
			return err
		}
		if suspended != "" {
			return s.enter(ctx, u, g, StatusSuspended, suspended, g.ByHand)
		}
		return s.enter(ctx, u, g, StatusActive, "", g.ByHand)
	})
}

// Move gives all grants of a customer to another one, as part of merging the two.
func (s *Store) Move(ctx context.Context, u *db.Unit, account, from, to string) error {
	return s.eachOf(ctx, u, account, from, func(g *Grant) error {
		g.CustomerID = to
		return s.save(ctx, u, g)
	})
}

// Forget revokes all grants of a customer who is deleted.
func (s *Store) Forget(ctx context.Context, u *db.Unit, account, customer string) error {
	return s.eachOf(ctx, u, account, customer, func(g *Grant) error {
		if g.Status == StatusRevoked && *g.Reason == ReasonCustomerDeleted {
			return nil
		}
		return s.enter(ctx, u, g, StatusRevoked, ReasonCustomerDeleted, false)
	})
}

// enter gives a locked grant its next state, and stores it. Reason is empty for an active one.
func (s *Store) enter(ctx context.Context, u *db.Unit, g *Grant, to Status, reason Reason, byHand bool) error {
	if err := lifecycle.Check("grant", g.Status, to); err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, u, g.AccountID)
	if err != nil {
		return err
	}
	wasRevoked := g.Status == StatusRevoked
	g.Status, g.ByHand, g.Reason, g.SuspendedAt, g.RevokedAt = to, byHand, nil, nil, nil
	switch to {
	case StatusSuspended:
		g.Reason, g.SuspendedAt = &reason, &now
	case StatusRevoked:
		g.Reason, g.RevokedAt = &reason, &now
		err = s.endLicense(ctx, u, g, now)
	case StatusActive, StatusExpired:
	}
	if wasRevoked && to != StatusRevoked && !g.Keyless {
		err = s.reviveLicense(ctx, u, g, now)
	}
	if err == nil && wasRevoked != (to == StatusRevoked) {
		err = s.pauseWait(ctx, u, g)
	}
	if err != nil {
		return fmt.Errorf("have the licence key follow %s: %w", g.ID, err)
	}
	return s.save(ctx, u, g)
}

// save stores a locked grant.
func (s *Store) save(ctx context.Context, u *db.Unit, g *Grant) error {
	var err error
	if g.UpdatedAt, err = db.BusinessNow(ctx, u, g.AccountID); err != nil {
		return err
	}
	return u.Update(ctx, grantColumns, g)
}

// lockSource locks the grants of a source, and returns them in the order of their ids. Asked for the bare id, SQLite without statistics would go through all
// grants of the account in their order.
func (s *Store) lockSource(ctx context.Context, u *db.Unit, account string, from Source) ([]Grant, error) {
	found, err := db.Select[Grant](ctx, u.Locked(), grantColumns.SelectSQL+` WHERE account_id = ? AND source_id = ? ORDER BY id || ''`, account, from.ID)
	if err != nil {
		return nil, fmt.Errorf("lock grants of %s: %w", from.ID, err)
	}
	return found, nil
}

// each locks the grants of a source and does something with each.
func (s *Store) each(ctx context.Context, u *db.Unit, account string, from Source, do func(*Grant) error) error {
	found, err := s.lockSource(ctx, u, account, from)
	if err != nil {
		return err
	}
	return all(found, do)
}

// eachOf locks the grants of a customer and does something with each.
func (s *Store) eachOf(ctx context.Context, u *db.Unit, account, customer string, do func(*Grant) error) error {
	found, err := db.Select[Grant](ctx, u.Locked(), grantColumns.SelectSQL+` WHERE account_id = ? AND customer_id = ? ORDER BY id`, account, customer)
	if err != nil {
		return fmt.Errorf("lock grants of a customer: %w", err)
	}
	return all(found, do)
}

func all(grants []Grant, do func(*Grant) error) error {
	for i := range grants {
		if err := do(&grants[i]); err != nil {
			return err
		}
	}
	return nil
}
