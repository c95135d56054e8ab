package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// Letters that are written ahead wait for their day. Whoever sends one looks then whether its cause is still there.

const (
	renewalNotice    = 14 * core.Day // before the end of a period of a year or more
	cardNotice       = 30 * core.Day // before a card expires
	reminderBefore   = 3 * core.Day
	reminderAfter    = 7 * core.Day
	reminderIsBefore = "before"
	reminderIsDue    = "due"
	reminderIsAfter  = "after"
)

// Of a letter that was written before.
const (
	keepLetter = `DO NOTHING`

	// sendSkipped has it sent after all, if it was skipped.
	sendSkipped = `DO UPDATE SET status = excluded.status, due_at = excluded.due_at, next_attempt_at = excluded.next_attempt_at, recipient = NULL,
		attempts = 0, last_error = NULL, updated_at = excluded.updated_at WHERE letters.status = 'skipped'`
)

// writeDated has a letter sent from due on, or at once if that is over, unless it was written before.
func (s *Store) writeDated(ctx context.Context, u *db.Unit, l Letter, due, now core.Time) error {
	return s.writeOnce(ctx, u, l, due, now, keepLetter)
}

// writeOnce is writeDated, and says what becomes of a letter that was written before.
func (s *Store) writeOnce(ctx context.Context, u *db.Unit, l Letter, due, now core.Time, before string) error {
	l.NextAttemptAt = new(s.Now())
	if due > now {
		l.DueAt, l.NextAttemptAt = &due, nil
	}
	l.ID, l.Status, l.CreatedAt, l.UpdatedAt = core.NewID(core.KindLetter), LetterStatusQueued, now, now
	_, err := u.Exec(ctx, letterColumns.InsertSQL+` ON CONFLICT (account_id, object_id, kind, period) `+before, letterColumns.Values(&l)...)
	if err != nil {
		return fmt.Errorf("write a letter for a day: %w", err)
	}
	return nil
}

// writePeriod has the customer of a subscription told what the period that just began brings. They are told that it renews after a year or more, and
// that its card expires.
func (s *Store) writePeriod(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
	if due := sub.CurrentPeriodEnd.Add(-renewalNotice); sub.IsYearly() && sub.Status != subscription.StatusTrialing && due > now {
		err := s.writeDated(ctx, u, Letter{
			AccountID: sub.AccountID, Kind: tenant.LetterRenewalUpcoming, CustomerID: sub.CustomerID, ObjectID: sub.ID, Period: sub.CurrentPeriodEnd.String(),
		}, due, now)
		if err != nil {
			return err
		}
	}
	return s.writeCard(ctx, u, sub, now)
}

// writeCard has the customer of a subscription told before its card expires, if that is to be in its period. They are told of each card once. A letter
// that was skipped, since another card was chosen meanwhile, is sent after all.
func (s *Store) writeCard(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
	method, err := s.Subscription.MethodIn(ctx, u, sub)
	if err != nil || method == nil {
		return err
	}
	expiry := method.Card.Expiry()
	if due := expiry.Add(-cardNotice); expiry > now && due < sub.CurrentPeriodEnd {
		return s.writeOnce(ctx, u, Letter{
			AccountID: sub.AccountID, Kind: tenant.LetterCardExpiring, CustomerID: sub.CustomerID, ObjectID: sub.ID, Period: method.Card.Period(),
		}, due, now, sendSkipped)
	}
	return nil
}

// cardsAtOnce is how many subscriptions of a customer are looked at when the cards change that the customer has. Those of more are looked at when their
// next periods begin.
const cardsAtOnce = 100

// writeCards does what writeCard does for the subscriptions of a locked customer. It comes after another card is their default, one was removed, or
// another customer was merged into them. What has no card of its own is charged to the default.
func (s *Store) writeCards(ctx context.Context, u *db.Unit, c *customer.Customer, now core.Time) error {
	if c.DefaultPaymentMethodID == nil {
		return nil
	}
	found, err := s.Payment.MethodsByIDIn(ctx, u, c.AccountID, []string{*c.DefaultPaymentMethodID})
	if err != nil || found[*c.DefaultPaymentMethodID] == nil {
		return err
	}
	expiry := found[*c.DefaultPaymentMethodID].Card.V.Expiry()
	if expiry <= now {
		return nil
	}
	subs, err := s.Subscription.RunningPast(ctx, u, c, expiry.Add(-cardNotice), cardsAtOnce)
	if err != nil {
		return err
	}
	for i := range subs {
		if err := s.writeCard(ctx, u, &subs[i], now); err != nil {
			return err
		}
	}
	return nil
}

// writeReminders has the customer of a locked invoice, which the seller issued, reminded of it as long as it is not paid. Days that are over have no letter.
func (s *Store) writeReminders(ctx context.Context, u *db.Unit, i *invoice.Invoice, now core.Time) error {
	for step, due := range map[string]core.Time{
		reminderIsBefore: i.DueAt.Add(-reminderBefore), reminderIsDue: *i.DueAt, reminderIsAfter: i.DueAt.Add(reminderAfter),
	} {
		if due <= now {
			continue
		}
		err := s.writeDated(ctx, u, Letter{
			AccountID: i.AccountID, Kind: tenant.LetterInvoiceReminder, CustomerID: i.CustomerID, ObjectID: i.ID, Period: i.DueAt.String() + "." + step,
		}, due, now)
		if err != nil {
			return err
		}
	}
	return nil
}
