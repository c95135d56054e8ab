package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// readFailure reads an invoice that could not be charged. The customer is not told if it is settled, or was tried again since.
func (s *Store) readFailure(ctx context.Context, l *Letter, c *LetterContent) (err error) {
	if c.Invoice, err = s.Invoice.Get(ctx, l.AccountID, l.ObjectID); err != nil {
		return err
	}
	if err := s.readSubscription(ctx, l, c, *c.Invoice.SubscriptionID); err != nil {
		return err
	}
	sub := c.Subscription
	switch {
	case c.Invoice.Status != invoice.StatusPastDue:
		c.Void = fmt.Sprintf("The invoice is %s now.", c.Invoice.Status)
	case l.Period == lastBill:
		c.Payment, err = s.Payment.LastOfInvoice(ctx, l.AccountID, c.Invoice.ID)
	case sub.Status != subscription.StatusPastDue || core.Deref(sub.LatestInvoiceID) != c.Invoice.ID || sub.Failure() != l.Period || sub.NextAttemptAt == nil:
		c.Void = "The payment was tried again since."
	default:
		c.Payment, err = s.Payment.LastOfInvoice(ctx, l.AccountID, c.Invoice.ID)
	}
	return err
}

// readInvoice reads an invoice that was asked for. A void one is not sent, unless its reader asked for a new address of its page.
func (s *Store) readInvoice(ctx context.Context, l *Letter, c *LetterContent) (err error) {
	if c.Invoice, err = s.Invoice.Get(ctx, l.AccountID, l.ObjectID); err != nil {
		return err
	}
	c.Recipient = core.Deref(c.Invoice.CustomerEmail)
	switch {
	case c.Invoice.Status == invoice.StatusVoid && !strings.HasPrefix(l.Period, askedOnPage):
		c.Void = "The invoice is void now."
	case c.Recipient == "":
		c.Void = noInvoiceAddress
	default:
		var billed *order.Order
		if billed, err = s.Order.Get(ctx, l.AccountID, *c.Invoice.OrderID); err == nil {
			c.checkout, err = s.orderCheckout(ctx, billed)
		}
	}
	return err
}

// readTrial reads a subscription whose trial is over soon, and what it costs then. The customer is not told if it will not be charged then.
func (s *Store) readTrial(ctx context.Context, l *Letter, c *LetterContent) error {
	sub, now, err := s.readTimed(ctx, l, c)
	switch {
	case err != nil:
	case sub.Status != subscription.StatusTrialing:
		c.Void = fmt.Sprintf("The subscription is %s now.", sub.Status)
	case sub.TrialEnd.String() != l.Period:
		c.Void = "The trial was extended since."
	case *sub.TrialEnd <= now:
		c.Void = "The trial is over."
	case sub.PauseAtPeriodEnd:
		c.Void = "The subscription will be paused when the trial is over."
	default:
		err = s.readNext(ctx, l, c)
	}
	return err
}

// readEnd reads a subscription that has ended, or ends with its period.
func (s *Store) readEnd(ctx context.Context, l *Letter, c *LetterContent) error {
	if err := s.readSubscription(ctx, l, c, l.ObjectID); err != nil {
		return err
	}
	if l.Kind != tenant.LetterSubscriptionCanceled {
		return nil
	}
	if c.Subscription.CancelAt() == nil {
		c.Void = whyNotEnding
		return nil
	}
	err := s.readNewer(ctx, l, c, whyEndingAnew)
	if err == nil {
		c.LastBill, err = s.Subscription.LastBillAmount(ctx, l.AccountID, l.ObjectID)
	}
	return err
}

// readNewer finds out whether a letter of the same kind about the same object was written since. Then why says why this one is not sent.
func (s *Store) readNewer(ctx context.Context, l *Letter, c *LetterContent, why string) error {
	// Compared as rows, because another index than that of causes begins with the kind, and PostgreSQL would as well read all letters of it.
	newer, err := db.Get[string](ctx, s.db, `SELECT id FROM letters
		WHERE account_id = ? AND (object_id, kind, period) > (?, ?, ?) AND (object_id, kind) <= (?, ?) LIMIT 1`,
		l.AccountID, l.ObjectID, l.Kind, l.Period, l.ObjectID, l.Kind)
	if newer != nil {
		c.Void = why
	}
	return err
}

// readTimed reads the subscription that a letter is about, and the account's time.
func (s *Store) readTimed(ctx context.Context, l *Letter, c *LetterContent) (*subscription.Subscription, core.Time, error) {
	if err := s.readSubscription(ctx, l, c, l.ObjectID); err != nil {
		return nil, 0, err
	}
	now, err := db.BusinessNow(ctx, s.db, l.AccountID)
	return c.Subscription, now, err
}

func (s *Store) readSubscription(ctx context.Context, l *Letter, c *LetterContent, id string) (err error) {
	if c.Subscription, err = s.Subscription.Get(ctx, l.AccountID, id); err == nil {
		c.isVerified, c.checkout = c.Subscription.CustomerVerified, c.Subscription.CheckoutID
	}
	return err
}

// readAccess reads what a customer was given, and what that opens.
func (s *Store) readAccess(ctx context.Context, l *Letter, c *LetterContent) (err error) {
	if c.Grant, err = s.Grant.GetGrant(ctx, l.AccountID, l.ObjectID); err != nil {
		return err
	}
	if status := c.Grant.StatusNow(); status != grant.StatusActive {
		c.Void = fmt.Sprintf("The grant is %s now.", status)
		return nil
	}
	offers, err := s.Catalog.OffersByID(ctx, l.AccountID, []string{c.Grant.ProductID})
	if err != nil {
		return err
	}
	if offer := offers[c.Grant.ProductID]; offer != nil {
		c.Product = offer.Name
	}
	if c.checkout, err = s.grantCheckout(ctx, c.Grant); err != nil {
		return err
	}
	c.Deliveries, err = s.letterDeliveries(ctx, l.AccountID, []string{c.Grant.ID})
	return err
}

// readRefund reads a refund and its order. It goes to the address that the order was made with.
func (s *Store) readRefund(ctx context.Context, l *Letter, c *LetterContent) (err error) {
	if c.Refund, err = s.GetRefund(ctx, l.AccountID, l.ObjectID); err != nil {
		return err
	}
	if c.Order, err = s.Order.Get(ctx, l.AccountID, c.Refund.OrderID); err != nil {
		return err
	}
	c.isVerified = c.Order.CustomerVerified
	switch {
	case c.Refund.Status != RefundStatusSucceeded:
		c.Void = fmt.Sprintf("The refund is %s now.", c.Refund.Status)
	case c.Order.CustomerEmail == nil:
		c.Void = noAddress
	default:
		c.Recipient = *c.Order.CustomerEmail
		c.checkout, err = s.orderCheckout(ctx, c.Order)
	}
	return err
}
