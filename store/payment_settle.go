package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// SettlePayment stores what the provider said about a payment, and what follows from it. A checkout whose payment succeeds gets its order and its
// invoice, both paid. One whose payment fails or is canceled is open again, and what was held for it is free. An invoice whose payment succeeds is
// paid, with its order. The subscription that it bills, if there is one, learns of a success and of a failure. A payment that has its outcome keeps
// it.
func (s *Store) SettlePayment(ctx context.Context, begun *payment.Payment, result payment.ChargeResult) (*PaymentProgress, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PaymentProgress, error) {
		if begun.Purpose == payment.PurposeInvoice {
			return s.settleInvoicePayment(ctx, u, begun, result)
		}
		c, err := s.Checkout.LockWithSecret(ctx, u, begun.AccountID, *begun.CheckoutID)
		if err != nil {
			return nil, err
		}
		p, err := s.Payment.Lock(ctx, u, begun.AccountID, begun.ID)
		if err != nil {
			return nil, err
		}
		if p.Status == result.Status || !payment.Lifecycle.Allows(p.Status, result.Status) {
			return &PaymentProgress{Checkout: c, Payment: p}, nil
		}
		settled := &PaymentProgress{Checkout: c, Payment: p}
		items, err := s.Lines.OfCheckoutIn(ctx, u, c.AccountID, c.ID)
		if err != nil {
			return nil, err
		}
		guards, waited := p.Guards.V, p.Status == payment.StatusRequiresAction
		if err := s.settleCheckoutPayment(ctx, u, c, items, p, result); err != nil {
			return settled, err
		}
		if !p.Status.IsFinal() {
			if err := s.Payment.HoldForAll(ctx, u, p, items); err != nil {
				return settled, err
			}
			settled.HoldsTooMuch, err = s.Payment.HoldsTooMuch(ctx, u, c.Purchase(items), p)
			return settled, err
		}
		settled.PausedUntil, err = s.Payment.SettleGuards(ctx, u, p, guards, items, waited)
		return settled, err
	})
}

// GetPaymentProgress returns a payment with its checkout or invoice, or CodeMissing.
func (s *Store) GetPaymentProgress(ctx context.Context, account, id string) (*PaymentProgress, error) {
	p, err := s.Payment.Get(ctx, s.db, account, id)
	if err != nil {
		return nil, err
	}
	if p.Purpose == payment.PurposeInvoice {
		invoice, err := s.Invoice.Get(ctx, account, *p.InvoiceID)
		return &PaymentProgress{Invoice: invoice, Payment: p}, err
	}
	c, err := s.Checkout.Named(ctx, s.db, account, *p.CheckoutID, "")
	return &PaymentProgress{Checkout: c, Payment: p}, err
}

// HoldIsOver reports whether the buyer's time is over for an action that their payment requires, by the account's clock. It ends after the time that
// the seller gives buyers, and at the latest when the checkout expires. If it and others hold more of something than is left, it ends after
// payment.ScarceHold already. One that holds something alone has all the time. It is false for a payment that requires no action.
func (s *Store) HoldIsOver(ctx context.Context, begun *PaymentProgress) (bool, error) {
	p := begun.Payment
	if p.Status != payment.StatusRequiresAction {
		return false, nil
	}
	now, err := db.BusinessNow(ctx, s.db, p.AccountID)
	if err != nil {
		return false, err
	}
	if begun.Checkout != nil && begun.Checkout.ExpiresAt <= now {
		return true, nil
	}
	hold, err := s.Payment.HoldTime(ctx, s.db, p.AccountID)
	if err != nil || p.CreatedAt.Add(hold) <= now {
		return err == nil, err
	}
	if begun.Checkout == nil || now < p.CreatedAt.Add(payment.ScarceHold) {
		return false, nil
	}
	items, err := s.Lines.OfCheckout(ctx, p.AccountID, begun.Checkout.ID)
	if err != nil {
		return false, err
	}
	return s.Payment.HoldsTooMuch(ctx, s.db, begun.Checkout.Purchase(items), p)
}

// settleCheckoutPayment gives a locked payment of a checkout its next state, and changes the checkout to match. After a success it makes the
// order. After a failure the checkout is open again, and the use of its link and discount, its trials and its stock are given back. Payment
// and checkout are locked and stored here.
func (s *Store) settleCheckoutPayment(ctx context.Context, u *db.Unit, c *checkout.Checkout, items []lineitem.Item, p *payment.Payment, result payment.ChargeResult) error {
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return err
	}
	result.NextActionURL = cmp.Or(result.NextActionURL, c.URL)
	p.RecordResult(result, now)
	switch result.Status {
	case payment.StatusSucceeded:
		return s.complete(ctx, u, c, items, p, nil)
	case payment.StatusRequiresAction:
		c.NextAction = core.JSONOf(&checkout.NextAction{Type: "redirect", URL: result.NextActionURL})
	case payment.StatusPending: // that is what it is already
	case payment.StatusFailed, payment.StatusCanceled:
		c.Status, c.NextAction, c.LastPaymentError = checkout.StatusOpen, core.JSON[*checkout.NextAction]{}, p.Failure
		if result.Status == payment.StatusCanceled {
			c.ForgiveTry(s.Now())
		}
		if err := s.Checkout.ReleaseLink(ctx, u, c); err != nil {
			return err
		}
		if err := s.Discount.Release(ctx, u, c.AccountID, c.ID); err != nil {
			return err
		}
		if err := s.Checkout.ReleaseTrials(ctx, u, c, items); err != nil {
			return err
		}
		if err := s.Lines.Release(ctx, u, c.AccountID, items); err != nil {
			return err
		}
	default: // stored, the checkout would wait for ever
		return fmt.Errorf("payment %s: status %q is unknown", p.ID, result.Status)
	}
	if err := u.Update(ctx, payment.Columns, p); err != nil {
		return err
	}
	c.UpdatedAt = now
	return u.Update(ctx, checkout.Columns, c)
}

// settleInvoicePayment gives the payment of an invoice its next state. After a success the invoice and its order are paid, and their
// subscription, if there is one, learns what became of the payment. A payment that cannot go to that state is returned as it
// is.
func (s *Store) settleInvoicePayment(ctx context.Context, u *db.Unit, begun *payment.Payment, result payment.ChargeResult) (*PaymentProgress, error) {
	sub, err := s.lockBilled(ctx, u, begun.AccountID, *begun.InvoiceID)
	if err != nil {
		return nil, err
	}
	p, err := s.Payment.Lock(ctx, u, begun.AccountID, begun.ID)
	if err != nil {
		return nil, err
	}
	b, err := s.Invoice.LockBill(ctx, u, p.AccountID, *p.InvoiceID)
	if err != nil {
		return nil, err
	}
	settled, guards := &PaymentProgress{Invoice: b.Invoice, Payment: p}, p.Guards.V
	if p.Status == result.Status || !payment.Lifecycle.Allows(p.Status, result.Status) {
		return settled, nil
	}
	now, err := db.BusinessNow(ctx, u, p.AccountID)
	if err != nil {
		return nil, err
	}
	p.RecordResult(result, now)
	if err := u.Update(ctx, payment.Columns, p); err != nil {
		return nil, err
	}
	switch p.Status {
	case payment.StatusSucceeded:
		if err = s.switchPaid(ctx, u, sub, b); err == nil {
			err = s.payOrder(ctx, u, b, p)
		}
	case payment.StatusFailed, payment.StatusCanceled:
		b.Invoice.AttemptCount++
		b.Invoice.UpdatedAt = now
		err = u.Update(ctx, invoice.Columns, b.Invoice)
	case payment.StatusPending, payment.StatusRequiresAction:
	}
	if err == nil && sub != nil {
		err = s.afterInvoicePayment(ctx, u, sub, b, p.Status, now)
	}
	if err == nil && p.Status.IsFinal() {
		_, err = s.Payment.SettleGuards(ctx, u, p, guards, nil, false)
	}
	return settled, err
}

// lockBilled locks the subscription that an invoice bills, and returns nil if there is none. It comes first, because
// subscriptions are locked before every other row.
func (s *Store) lockBilled(ctx context.Context, u *db.Unit, account, ref string) (*subscription.Subscription, error) {
	invoice, err := s.Invoice.GetIn(ctx, u, account, ref)
	if err != nil || invoice.SubscriptionID == nil {
		return nil, err
	}
	return s.Subscription.Lock(ctx, u, account, *invoice.SubscriptionID)
}
