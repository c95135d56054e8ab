package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/subscription"
)

// readRenewal reads a subscription that renews soon, and what it costs then. The customer is not told if it does not.
func (s *Store) readRenewal(ctx context.Context, l *Letter, c *LetterContent) error {
	sub, now, err := s.readTimed(ctx, l, c)
	switch {
	case err != nil:
	case sub.Status != subscription.StatusActive:
		c.Void = fmt.Sprintf("The subscription is %s now.", sub.Status)
	case sub.CurrentPeriodEnd.String() != l.Period:
		c.Void = "The period ends at another time now."
	case sub.CurrentPeriodEnd <= now:
		c.Void = "The period is over."
	case sub.PauseAtPeriodEnd:
		c.Void = "The subscription will be paused when the period is over."
	default:
		if c.Method, err = s.Subscription.Method(ctx, sub); err == nil {
			err = s.readNext(ctx, l, c)
		}
	}
	return err
}

// readNext reads what the next period of a subscription costs. The customer is not told if there is none.
func (s *Store) readNext(ctx context.Context, l *Letter, c *LetterContent) (err error) {
	c.Renewal, err = s.Subscription.PreviewRenewal(ctx, l.AccountID, c.Subscription.ID)
	if refused, ok := errors.AsType[*core.Error](err); ok && refused.Code == core.CodeInvalid {
		c.Void, err = refused.Message, nil
	}
	return err
}

// readPlan reads a subscription whose plan changed or will, and what its next period costs.
func (s *Store) readPlan(ctx context.Context, l *Letter, c *LetterContent) error {
	err := s.readSubscription(ctx, l, c, l.ObjectID)
	if err == nil && c.Subscription.HasEnded() {
		c.Void = "The subscription has ended."
	}
	if err == nil && c.Void == "" {
		err = s.readNewer(ctx, l, c, "The plan changed again since, of which there is another letter.")
	}
	if err != nil || c.Void != "" {
		return err
	}
	err = s.readNext(ctx, l, c)
	c.Void = "" // the plan that changed may be that of the last period
	return err
}

// readCard reads a subscription whose card expires soon. The customer is not told if it is not charged to that card any more, or not at all.
func (s *Store) readCard(ctx context.Context, l *Letter, c *LetterContent) error {
	sub, now, err := s.readTimed(ctx, l, c)
	if err != nil {
		return err
	}
	c.Method, err = s.Subscription.Method(ctx, sub)
	switch {
	case err != nil:
	case c.Method == nil || c.Method.Card.Period() != l.Period:
		c.Void = "The subscription is charged to another card now, or to none."
	case c.Method.Card.Expiry() <= now:
		c.Void = "The card has expired."
	default:
		err = s.readNext(ctx, l, c)
	}
	return err
}

// readReminder reads an invoice that is not paid. The customer is not told if it need not be paid any more, or is due on another day. They are not
// told either if the next reminder tells the same better: of those that waited together one is sent. What the seller asked for again says that its
// day is over.
func (s *Store) readReminder(ctx context.Context, l *Letter, c *LetterContent) (err error) {
	if c.Invoice, err = s.Invoice.Get(ctx, l.AccountID, l.ObjectID); err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, s.db, l.AccountID)
	if err != nil {
		return err
	}
	step := l.Period[strings.LastIndexByte(l.Period, '.')+1:]
	due := strings.TrimSuffix(l.Period, "."+step)
	c.Recipient = core.Deref(c.Invoice.CustomerEmail)
	switch {
	case c.Invoice.Status != invoice.StatusOpen && c.Invoice.Status != invoice.StatusPastDue:
		c.Void = fmt.Sprintf("The invoice is %s now.", c.Invoice.Status)
	case c.Invoice.DueAt == nil || c.Invoice.DueAt.String() != due:
		c.Void = "The invoice is due on another day now."
	case c.Recipient == "":
		c.Void = noInvoiceAddress
	default:
		isOver := step == reminderIsBefore && *c.Invoice.DueAt <= now || step == reminderIsDue && c.Invoice.DueAt.Add(reminderAfter) <= now
		c.IsLate = isOver || step == reminderIsAfter
		if isOver && l.Resends == 0 {
			c.Void = "Its day is over, and that of the next reminder has come."
		}
	}
	return nil
}
